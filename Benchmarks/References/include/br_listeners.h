#ifndef BR_LISTENERS_H
#define BR_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connections that wait for server-sent events, with libcurl and epoll: many of them in one thread. */
typedef struct br_listeners br_listeners;

/* Makes a group without connections. `field` is a header field of every request, as "Name: value", `certificate` the path of the
   certificates that vouch for the server, or NULL for plain HTTP. Returns NULL when out of memory or file descriptors; the caller frees the
   result with br_listeners_close. */
br_listeners *br_listeners_new(const char *field, const char *certificate);

/* Opens `count` more connections to `address`, each with its number at the end of the address, and waits until each has received its first
   event of news. Returns false with a message if one of them fails, or after `seconds`. */
bool br_listeners_open(br_listeners *listeners, const char *address, int32_t count, int32_t seconds, char *message, size_t message_size);

/* Waits until `count` events of news have arrived since the last call, or since the last connection was opened.
   Returns their number; fewer than `count` after `seconds`, or when a connection has ended. */
int32_t br_listeners_wait(br_listeners *listeners, int32_t count, int32_t seconds);

/* Closes all connections. */
void br_listeners_close(br_listeners *listeners);

#endif
