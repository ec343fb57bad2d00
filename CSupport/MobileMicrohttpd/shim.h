/// shim.h: libmicrohttpd for Swift. Swift can neither call variadic functions nor read macros with casts; these few inline functions
/// and constants replace them. No state, no logic.
#ifndef MOBILE_MICROHTTPD_H
#define MOBILE_MICROHTTPD_H

#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

/// Settings of a daemon.
struct mhs_options {
    MHD_socket listener;               ///< bound and listening; it stays the caller's: the daemon uses a descriptor of its own
    unsigned int maximum_connections;  ///< further ones are reset
    unsigned int idle_seconds;         ///< a connection without traffic for this time is closed
    size_t connection_memory;          ///< bytes of buffers per connection
    const char *certificate;           ///< PEM, the server's own first; NULL: no TLS
    const char *private_key;           ///< PEM; used with `certificate` only
    MHD_AccessHandlerCallback handler;
    void *context;  ///< first argument of both callbacks
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connected;  ///< `context` is its first argument as well
};

/// TLS versions that both ends may speak: GnuTLS by default would accept TLS 1.0.
#define MHS_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/// Creates the daemon: one epoll set for all connections, without a thread of its own. The caller's loop waits on `mhs_epoll_descriptor`
/// and calls `MHD_run`. Why no thread of the library: then every call of the library comes from one thread. With its thread,
/// `MHD_quiesce_daemon` from another one may abort the process (0.9.75: it removes the listening socket from the set while the loop does
/// the same). Returns NULL on failure, for example with a damaged certificate, or on a system without epoll.
///
/// The daemon gets a duplicate of the listening socket, and closes it when it stops. Why a duplicate: the library closes the socket that it is given if
/// the certificate is damaged, and does not if there is no memory; a caller that closed it once more could close a file that another thread has opened
/// meanwhile under the same number. After a failure the duplicate is therefore not closed here: at worst one descriptor is lost.
///
/// The loop's thread blocks SIGPIPE (`mhs_block_sigpipe`), and the library gets notice of it: otherwise it would send files by copies in pieces of
/// a connection's buffer, since sendfile(2) cannot suppress the signal.
static inline struct MHD_Daemon *mhs_start(const struct mhs_options *options)
{
    const unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->private_key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)MHS_TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    const int has_tls = options->certificate != NULL;
    const int own = fcntl(options->listener, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return NULL;
    return MHD_start_daemon(has_tls ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, options->handler, options->context,
                            MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_CONNECTION_LIMIT, options->maximum_connections,
                            MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            options->connection_memory, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024, MHD_OPTION_NOTIFY_COMPLETED,
                            options->completed, options->context, MHD_OPTION_NOTIFY_CONNECTION, options->connected, options->context,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY, has_tls ? tls : plain, MHD_OPTION_END);
}

/// Blocks SIGPIPE in the calling thread, as the library does in its own ones: a client that has gone must not end the process.
static inline void mhs_block_sigpipe(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

/// The descriptor that is readable when one of the connections, or the listening socket, has an event.
static inline int mhs_epoll_descriptor(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

/// The milliseconds after which `MHD_run` must be called without an event; -1 for any time.
static inline int64_t mhs_timeout(struct MHD_Daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG milliseconds = 0;
    if (MHD_get_timeout(daemon, &milliseconds) == MHD_NO)
        return -1;
    return milliseconds > (MHD_UNSIGNED_LONG_LONG)INT32_MAX ? (int64_t)INT32_MAX : (int64_t)milliseconds;
}

/// The address of the other end; NULL if it has none. Lives as long as the connection.
static inline const struct sockaddr *mhs_remote_address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/// The connection's socket, which the library closes.
static inline int mhs_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int)info->connect_fd;
}

/// Prepares a socket for small events at long intervals: the system buffers few bytes for a client that does not read, sends each event at
/// once, and gives up when a client does not confirm bytes for half a minute. Systems without one of these options ignore it.
static inline void mhs_expect_slow_events(int descriptor, int send_buffer)
{
    const int yes = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
#ifdef TCP_USER_TIMEOUT
    const unsigned int milliseconds = 30000;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#endif
}

/// Closes a connection after this number of seconds without traffic, regardless of the daemon's own limit.
static inline void mhs_set_timeout(struct MHD_Connection *connection, unsigned int seconds)
{
    (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The library marks its enumerations differently from release to release, and Swift imports them accordingly; functions hide that.
static inline enum MHD_Result mhs_yes(void)
{
    return MHD_YES;
}
static inline enum MHD_Result mhs_no(void)
{
    return MHD_NO;
}

/// Returns whether a connection begins; otherwise it ends.
static inline bool mhs_is_start(enum MHD_ConnectionNotificationCode code)
{
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Calls `each` for every header field, or every parameter of the query.
static inline void mhs_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context)
{
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, each, context);
}
static inline void mhs_each_parameter(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context)
{
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, each, context);
}

/// Creates a response with a copy of `length` bytes. Returns NULL if there is no memory.
static inline struct MHD_Response *mhs_response_of_bytes(const void *bytes, size_t length)
{
    return MHD_create_response_from_buffer(length, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
}

/// Creates a response with a part of an open file, which the system sends without a copy where the connection has no TLS. The response has
/// a descriptor of its own. Returns NULL if there is no memory, or no descriptor.
static inline struct MHD_Response *mhs_response_of_file(int file, uint64_t offset, uint64_t length)
{
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return NULL;
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(length, own, offset);
    if (response == NULL)
        (void)close(own);
    return response;
}

/// A response's length when it is not known beforehand.
static inline uint64_t mhs_unknown_length(void)
{
    return MHD_SIZE_UNKNOWN;
}

/// Values that a content reader returns at the end, and to cut the connection.
static inline ssize_t mhs_end_of_stream(void)
{
    return MHD_CONTENT_READER_END_OF_STREAM;
}
static inline ssize_t mhs_end_with_error(void)
{
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

#endif
