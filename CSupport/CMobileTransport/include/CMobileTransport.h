/// CMobileTransport.h: HTTP requests over libcurl, with bodies streamed both ways.
///
/// Order of calls: create, then any number of perform, then free. A client keeps its connections open between requests.
/// Threads:        one at a time per client, except `ct_client_cancel`, which any thread may call while the client exists.
/// Memory:         two buffers of 128 KB per client, whatever the bodies' length.
/// Callbacks:      run during `ct_client_perform`, on its thread; while one runs, nothing is sent or received, so the slower end
///                 sets the pace.
/// Signals:        none are raised or installed; SIGPIPE stays blocked during `ct_client_perform`.
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

/// What became of a request. A response of any HTTP status is CT_OK.
typedef enum ct_status {
    CT_OK = 0,
    CT_ERROR_NO_MEMORY = 1,    ///< an allocation failed
    CT_ERROR_REQUEST = 2,      ///< the URL, the proxy or an option makes no sense
    CT_ERROR_CONNECT = 3,      ///< the host has no address, or nothing listens there
    CT_ERROR_TLS = 4,          ///< no trust: certificate, host name, or no common protocol version
    CT_ERROR_TIMEOUT = 5,      ///< connecting, waiting or the whole request took too long
    CT_ERROR_INTERRUPTED = 6,  ///< the connection was cut before the response was complete
    CT_ERROR_CANCELLED = 7,    ///< `ct_client_cancel` was called
    CT_ERROR_SINK = 8,         ///< the sink returned false
    CT_ERROR_SOURCE = 9,       ///< the source returned CT_SOURCE_FAILED
    CT_ERROR_OTHER = 10        ///< anything else; the message says what
} ct_status;

/// What went wrong. Plain data, filled completely whenever a function returns another status than CT_OK.
typedef struct ct_error {
    ct_status code;
    int curl_code;      ///< libcurl's code; 0 if the failure is not libcurl's
    char message[256];  ///< UTF-8, one line, NUL-terminated
} ct_error;

/// Settings of a client. Texts are copied; NULL where nothing is set.
typedef struct ct_options {
    const char *CT_NULLABLE trusted_pem;        ///< certificates to trust instead of the system's, PEM
    const char *CT_NULLABLE identity_pem;       ///< client certificate and private key, PEM
    const char *CT_NULLABLE identity_password;  ///< of the private key
    const char *CT_NULLABLE proxy;              ///< URL of a proxy; NULL: none, whatever the environment says
    const char *CT_NULLABLE user_agent;
    uint32_t maximum_connections;  ///< kept open between requests, 1...
} ct_options;

/// Takes the response's body. Returns false to end the request with CT_ERROR_SINK.
typedef bool (*ct_write)(void *CT_NULLABLE context, const uint8_t *CT_NONNULL bytes, size_t length);

/// Takes the status when a response begins. A second call means that the first response was only an interim one.
typedef void (*ct_begin)(void *CT_NULLABLE context, int status);

/// Takes one header field; neither text is NUL-terminated.
typedef void (*ct_field)(void *CT_NULLABLE context, const char *CT_NONNULL name, size_t name_length, const char *CT_NONNULL value,
                         size_t value_length);

/// Fills `buffer` with at most `capacity` bytes of the request's body. Returns how many, 0 at the end, or CT_SOURCE_FAILED.
typedef size_t (*ct_read)(void *CT_NULLABLE context, uint8_t *CT_NONNULL buffer, size_t capacity);

/// Begins the request's body again. Returns false if that is not possible.
typedef bool (*ct_rewind)(void *CT_NULLABLE context);

/// What a source returns to end the request with CT_ERROR_SOURCE.
#define CT_SOURCE_FAILED SIZE_MAX

/// One request. Everything is borrowed for the time of the call.
typedef struct ct_request {
    const char *CT_NONNULL method;                           ///< in upper case
    const char *CT_NONNULL url;                              ///< http or https
    const char *CT_NONNULL const *CT_NULLABLE header_lines;  ///< `Name: value`
    size_t header_count;
    void *CT_NULLABLE context;     ///< first argument of all callbacks
    ct_read CT_NULLABLE read;      ///< NULL: no body
    ct_rewind CT_NULLABLE rewind;  ///< NULL: the body can be sent only once
    int64_t length;                ///< bytes of the body; negative: unknown, sent in HTTP chunks
    ct_begin CT_NONNULL begin;
    ct_field CT_NONNULL field;
    ct_write CT_NONNULL write;
    int64_t connect_milliseconds;  ///< for name look-up, connection and TLS together; 0: libcurl's default (300 s)
    int64_t stall_milliseconds;    ///< nothing moves for so long; 0: no limit. The time callbacks take does not count
    int64_t total_milliseconds;    ///< for the whole request; 0: no limit
} ct_request;

/// Figures of a finished request.
typedef struct ct_summary {
    int64_t sent;      ///< bytes of the request's body that went out
    int64_t received;  ///< bytes of the response's body that came in
    bool reused;       ///< the request went over a connection that was open already
} ct_summary;

typedef struct ct_client ct_client;

/// Makes a client. On success `*out` is the caller's, who gives it to `ct_client_free`; on failure it is NULL.
/// Fails with CT_ERROR_NO_MEMORY, CT_ERROR_OTHER.
ct_status ct_client_create(const ct_options *CT_NONNULL options, ct_client *CT_NULLABLE *CT_NONNULL out, ct_error *CT_NULLABLE error);

/// Closes the connections and frees the client. NULL is allowed.
void ct_client_free(ct_client *CT_NULLABLE client);

/// Does one request and waits for the end of its response.
/// `summary` is filled in every case.
/// Fails with every status but CT_OK; the response may have begun by then.
ct_status ct_client_perform(ct_client *CT_NONNULL client, const ct_request *CT_NONNULL request, ct_summary *CT_NONNULL summary,
                            ct_error *CT_NULLABLE error);

/// Ends the running request, or the next one, with CT_ERROR_CANCELLED; until `ct_client_rearm`. Does not wait for it.
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
