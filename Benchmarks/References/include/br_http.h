#ifndef BR_HTTP_H
#define BR_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests with libcurl alone, over one connection that stays open. */
typedef struct br_http br_http;

/* Prepares POST requests of `body`, which must live as long as the result. Returns NULL and a message on failure; the caller frees the
   result with br_http_close. */
br_http *br_http_open(const char *address, const void *body, size_t body_size, char *message, size_t message_size);

/* Adds a header field, as "Name: value". Returns false when out of memory. */
bool br_http_add_header(br_http *client, const char *field);

/* Keeps the bodies of all later answers, `capacity` bytes at most: an answer beyond them does not count. Called once. Returns false when
 * out of memory. */
bool br_http_keep(br_http *client, size_t capacity);

/* Returns the kept bodies, one after the other; they live as long as the client. */
const char *br_http_bodies(const br_http *client, size_t *size);

/* Sends `count` requests, one after the other. Returns the number of answers with status 200. */
int32_t br_http_send(br_http *client, int32_t count);

void br_http_close(br_http *client);

#endif
