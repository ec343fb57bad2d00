/// CMobileTransport.h: HTTP requests over libcurl, with bodies streamed both ways.
///
/// Order of calls: create, then any number of perform, then free. A client keeps its connections open between requests.
/// Threads:        one at a time per client, except `ct_client_cancel`, which any thread may call while the client exists.
/// Memory:         two buffers of 128 KB per client, regardless of the bodies' length.
/// Callbacks:      run during `ct_client_perform`, on its thread; while one runs, nothing is sent or received, so the slower end
///                 sets the pace.
/// Signals:        no signal is raised and no handler installed; SIGPIPE stays blocked during `ct_client_perform`.
#ifndef CMOBILE_TRANSPORT_H
#define CMOBILE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define CT_NULLABLE _Nullable
#define CT_NONNULL _Nonnull
#else
#define CT_NULLABLE
#define CT_NONNULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a request. A response of any HTTP status is CT_OK.
typedef enum ct_status {
    CT_OK = 0,
    CT_ERROR_NO_MEMORY = 1,    ///< an allocation failed
    CT_ERROR_REQUEST = 2,      ///< the URL, the proxy or an option is invalid
    CT_ERROR_CONNECT = 3,      ///< the host has no address, or no server listens there
    CT_ERROR_TLS = 4,          ///< certificate or host name not trusted, or no common protocol version
    CT_ERROR_TIMEOUT = 5,      ///< connecting, waiting or the whole request took too long
    CT_ERROR_INTERRUPTED = 6,  ///< the connection was cut before the response was complete
    CT_ERROR_CANCELLED = 7,    ///< `ct_client_cancel` was called
    CT_ERROR_SINK = 8,         ///< the sink returned false
    CT_ERROR_SOURCE = 9,       ///< the source returned CT_SOURCE_FAILED
    CT_ERROR_OTHER = 10        ///< any other error; the message describes it
} ct_status;

/// The cause of a failure. Plain data, filled completely whenever a function returns a status other than CT_OK.
typedef struct ct_error {
    ct_status code;
    int curl_code;      ///< libcurl's code; 0 if the failure is not libcurl's
    char message[256];  ///< UTF-8, one line, NUL-terminated
} ct_error;

/// Settings of a client. Texts are copied; NULL means that a setting is absent.
typedef struct ct_options {
    const char *CT_NULLABLE trusted_pem;        ///< certificates to trust instead of the system's, PEM
    const char *CT_NULLABLE identity_pem;       ///< client certificate and private key, PEM
    const char *CT_NULLABLE identity_password;  ///< of the private key
    const char *CT_NULLABLE proxy;              ///< URL of a proxy; NULL: no proxy, regardless of the environment
    const char *CT_NULLABLE user_agent;
    uint32_t maximum_connections;  ///< connections kept open between requests, at least 1
} ct_options;

/// Takes the response's body. Returns false to end the request with CT_ERROR_SINK.
typedef bool (*ct_write)(void *CT_NULLABLE context, const uint8_t *CT_NONNULL bytes, size_t length);

/// Takes the status when a response begins. A second call means that the first response was only an interim one.
typedef void (*ct_begin)(void *CT_NULLABLE context, int status);

/// Takes one header field; neither text is NUL-terminated.
typedef void (*ct_field)(void *CT_NULLABLE context, const char *CT_NONNULL name, size_t name_length, const char *CT_NONNULL value,
                         size_t value_length);

/// Fills `buffer` with at most `capacity` bytes of the request's body. Returns their number, 0 at the end, or CT_SOURCE_FAILED.
typedef size_t (*ct_read)(void *CT_NULLABLE context, uint8_t *CT_NONNULL buffer, size_t capacity);

/// Begins the request's body again. Returns false if that is not possible.
typedef bool (*ct_rewind)(void *CT_NULLABLE context);

/// The value that a source returns to end the request with CT_ERROR_SOURCE.
#define CT_SOURCE_FAILED SIZE_MAX

/// One request. All pointers are borrowed for the duration of the call.
typedef struct ct_request {
    const char *CT_NONNULL method;                           ///< in upper case
    const char *CT_NONNULL url;                              ///< http or https
    const char *CT_NONNULL const *CT_NULLABLE header_lines;  ///< `Name: value`
    size_t header_count;
    void *CT_NULLABLE context;     ///< first argument of all callbacks
    ct_read CT_NULLABLE read;      ///< NULL: no body
    ct_rewind CT_NULLABLE rewind;  ///< NULL: the body can be sent only once
    int64_t length;                ///< bytes of the body; negative: unknown, sent in HTTP chunks
    /// A short body, which leaves with the head and is not announced; NULL: none, or one that `read` gives. It has `length` bytes.
    const void *CT_NULLABLE short_body;
    bool sent_once;  ///< not sent again over another connection when a kept one breaks: the server may have it
    ct_begin CT_NONNULL begin;
    ct_field CT_NONNULL field;
    ct_write CT_NONNULL write;
    int64_t connect_milliseconds;  ///< for name look-up, connection and TLS together; 0: libcurl's default (300 s)
    int64_t stall_milliseconds;    ///< longest time without traffic; 0: no limit. Time spent in callbacks does not count
    int64_t total_milliseconds;    ///< for the whole request; 0: no limit
} ct_request;

/// Figures of a finished request.
typedef struct ct_summary {
    int64_t sent;      ///< bytes of the request's body that were sent
    int64_t received;  ///< bytes of the response's body that arrived
    bool reused;       ///< the request used a connection that was already open
    bool connected;    ///< a connection was established; if not, the request has not been sent
} ct_summary;

typedef struct ct_client ct_client;

/// Creates a client. On success `*out` belongs to the caller, who frees it with `ct_client_free`; on failure it is NULL.
/// Fails with CT_ERROR_NO_MEMORY, CT_ERROR_OTHER.
ct_status ct_client_create(const ct_options *CT_NONNULL options, ct_client *CT_NULLABLE *CT_NONNULL out, ct_error *CT_NULLABLE error);

/// Closes the connections and frees the client. NULL is allowed.
void ct_client_free(ct_client *CT_NULLABLE client);

/// Performs one request and waits for the end of its response.
/// `summary` is filled in every case.
/// May fail with any status but CT_OK; the response may have begun by then.
ct_status ct_client_perform(ct_client *CT_NONNULL client, const ct_request *CT_NONNULL request, ct_summary *CT_NONNULL summary,
                            ct_error *CT_NULLABLE error);

/// Cancels the running request and all later ones with CT_ERROR_CANCELLED, until `ct_client_rearm`. Does not wait for their end.
void ct_client_cancel(ct_client *CT_NONNULL client);

/// Forgets a cancellation.
void ct_client_rearm(ct_client *CT_NONNULL client);

/// CT_SOURCE_FAILED, for Swift.
static inline size_t ct_source_failed(void)
{
    return CT_SOURCE_FAILED;
}

#ifdef __cplusplus
}
#endif
#endif
