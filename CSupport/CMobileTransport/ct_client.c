#define _GNU_SOURCE  // clock_gettime and sigtimedwait under -std=c17

#include "CMobileTransport.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "ct_sigpipe.h"

enum { BUFFER_SIZE = 128 * 1024, LONGEST_WAIT_MS = 60 * 1000 };

struct ct_client {
    CURLM *multi;  // owns the open connections
    CURL *easy;
    atomic_bool cancelled;
    char *trusted_pem;
    char *identity_pem;
    char *identity_password;
    char *proxy;
    char *user_agent;
};

/// One running request.
typedef struct exchange {
    const ct_request *request;
    int64_t began_ms;
    int64_t last_move_ms;  // time of the last byte moved, or of the last callback's return
    bool connected;        // until then the connect timeout applies, not the stall timeout
    bool refused_again;    // libcurl was about to send a request again that is sent once
    bool in_head;          // the status line has come, the empty line after the fields has not
    bool sink_refused;
    bool source_failed;
} exchange;

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ct_status fail(ct_error *error, ct_status code, int curl_code, const char *message)
{
    if (error != NULL) {
        error->code = code;
        error->curl_code = curl_code;
        (void)snprintf(error->message, sizeof error->message, "%s", message);
    }
    return code;
}

// libcurl must be initialized once per process before any other call; its own lock makes that safe only since 7.84.
static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_state = CURLE_FAILED_INIT;
static void initialize_curl(void)
{
    curl_state = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/// Copies a text that may be NULL. Returns false if there is no memory.
static bool copy_text(const char *text, char **out)
{
    *out = text == NULL ? NULL : strdup(text);
    return text == NULL || *out != NULL;
}

ct_status ct_client_create(const ct_options *options, ct_client **out, ct_error *error)
{
    *out = NULL;
    (void)pthread_once(&curl_once, initialize_curl);
    if (curl_state != CURLE_OK)
        return fail(error, CT_ERROR_OTHER, (int)curl_state, curl_easy_strerror(curl_state));

    ct_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return fail(error, CT_ERROR_NO_MEMORY, 0, "no memory for an HTTP client");
    atomic_init(&client->cancelled, false);
    client->multi = curl_multi_init();
    client->easy = curl_easy_init();
    const bool complete = client->multi != NULL && client->easy != NULL && copy_text(options->trusted_pem, &client->trusted_pem)
        && copy_text(options->identity_pem, &client->identity_pem) && copy_text(options->identity_password, &client->identity_password)
        && copy_text(options->proxy, &client->proxy) && copy_text(options->user_agent, &client->user_agent)
        && curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)options->maximum_connections) == CURLM_OK;
    if (!complete) {
        ct_client_free(client);
        return fail(error, CT_ERROR_NO_MEMORY, 0, "no memory for an HTTP client");
    }
    *out = client;
    return CT_OK;
}

void ct_client_free(ct_client *client)
{
    if (client == NULL)
        return;
    ct_sigpipe signals;
    ct_sigpipe_block(&signals);  // closing a TLS connection writes to it
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    ct_sigpipe_restore(&signals);
    free(client->trusted_pem);
    free(client->identity_pem);
    free(client->identity_password);
    free(client->proxy);
    free(client->user_agent);
    free(client);
}

void ct_client_cancel(ct_client *client)
{
    atomic_store(&client->cancelled, true);
    (void)curl_multi_wakeup(client->multi);
}

void ct_client_rearm(ct_client *client)
{
    atomic_store(&client->cancelled, false);
}

static size_t on_write(char *bytes, size_t size, size_t count, void *context)
{
    exchange *exchange = context;
    const size_t length = size * count;
    if (length > 0 && !exchange->request->write(exchange->request->context, (const uint8_t *)bytes, length)) {
        exchange->sink_refused = true;
        return length + 1;  // any value but `length` ends the transfer
    }
    exchange->last_move_ms = now_ms();
    return length;
}

static size_t on_read(char *buffer, size_t size, size_t count, void *context)
{
    exchange *exchange = context;
    const size_t capacity = size * count;
    const size_t filled = exchange->request->read(exchange->request->context, (uint8_t *)buffer, capacity);
    if (filled > capacity) {
        exchange->source_failed = true;
        return CURL_READFUNC_ABORT;
    }
    exchange->last_move_ms = now_ms();
    return filled;
}

/// libcurl only seeks to the beginning: it sends the body again over another connection, or after a challenge.
static int on_seek(void *context, curl_off_t offset, int origin)
{
    exchange *exchange = context;
    const ct_request *request = exchange->request;
    if (offset != 0 || origin != SEEK_SET || request->rewind == NULL)
        return CURL_SEEKFUNC_CANTSEEK;
    return request->rewind(request->context) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/// Runs when the connection is established, before the request is sent.
static int on_connected(void *context, char *remote, char *local, int remote_port, int local_port)
{
    (void)remote, (void)local, (void)remote_port, (void)local_port;
    exchange *exchange = context;
    if (exchange->connected && exchange->request->sent_once) {
        exchange->refused_again = true;
        return CURL_PREREQFUNC_ABORT;
    }
    exchange->connected = true;
    exchange->last_move_ms = now_ms();
    return CURL_PREREQFUNC_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Takes one line of the response's head: the status line, a field, or the empty line.
static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    exchange *exchange = context;
    const ct_request *request = exchange->request;
    const size_t length = size * count;
    exchange->last_move_ms = now_ms();
    if (length >= 5 && strncasecmp(line, "HTTP/", 5) == 0) {
        size_t at = 5;
        while (at < length && line[at] != ' ')
            at++;
        int status = 0;
        for (at++; at < length && line[at] >= '0' && line[at] <= '9' && status < 1000; at++)
            status = status * 10 + (line[at] - '0');
        exchange->in_head = true;
        request->begin(request->context, status);
        return length;
    }
    if (length > 0 && (line[0] == '\r' || line[0] == '\n'))
        exchange->in_head = false;
    const char *colon = memchr(line, ':', length);
    if (colon == NULL)
        return length;
    const char *value = colon + 1;
    const char *end = line + length;
    while (value < end && is_blank(*value))
        value++;
    while (end > value && is_blank(end[-1]))
        end--;
    request->field(request->context, line, (size_t)(colon - line), value, (size_t)(end - value));
    return length;
}

static struct curl_blob blob(char *text)
{
    return (struct curl_blob){.data = text, .len = strlen(text), .flags = CURL_BLOB_NOCOPY};
}

/// Trusts only these certificates, for servers or for a proxy.
static CURLcode set_trust(const ct_client *client, CURLoption certificates, CURLoption folder)
{
    struct curl_blob trusted = blob(client->trusted_pem);
    const CURLcode code = curl_easy_setopt(client->easy, certificates, &trusted);
    if (code != CURLE_OK)
        return code;
    // The blob replaces the system's certificate file; the certificates in the system's folder would still count.
    const CURLcode without = curl_easy_setopt(client->easy, folder, NULL);
    return without == CURLE_NOT_BUILT_IN ? CURLE_OK : without;
}

/// Sets the TLS versions, the trusted certificates and the client's identity.
static CURLcode set_tls(const ct_client *client)
{
    CURL *easy = client->easy;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (client->trusted_pem != NULL && code == CURLE_OK && (code = set_trust(client, CURLOPT_CAINFO_BLOB, CURLOPT_CAPATH)) == CURLE_OK)
        code = set_trust(client, CURLOPT_PROXY_CAINFO_BLOB, CURLOPT_PROXY_CAPATH);
    if (client->identity_pem != NULL && code == CURLE_OK) {
        struct curl_blob identity = blob(client->identity_pem);
        if ((code = curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM")) == CURLE_OK
            && (code = curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &identity)) == CURLE_OK)
            code = curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &identity);
        if (client->identity_password != NULL && code == CURLE_OK)
            code = curl_easy_setopt(easy, CURLOPT_KEYPASSWD, client->identity_password);
    }
    return code;
}

#define SET(option, value)                                                                                                                 \
    do {                                                                                                                                   \
        const CURLcode set_code = curl_easy_setopt(easy, option, value);                                                                   \
        if (set_code != CURLE_OK)                                                                                                          \
            return set_code;                                                                                                               \
    } while (0)

/// Sets the options that send the body. Every long body is sent as an upload, every short one as a form, regardless of the method.
static CURLcode set_body(CURL *easy, exchange *exchange)
{
    const ct_request *request = exchange->request;
    if (strcmp(request->method, "HEAD") == 0) {
        SET(CURLOPT_NOBODY, 1L);
        return CURLE_OK;
    }
    if (request->short_body != NULL) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
        SET(CURLOPT_POSTFIELDS, request->short_body);
    } else if (request->read != NULL) {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)(request->length < 0 ? -1 : request->length));
        SET(CURLOPT_READFUNCTION, on_read);
        SET(CURLOPT_READDATA, exchange);
        SET(CURLOPT_SEEKFUNCTION, on_seek);
        SET(CURLOPT_SEEKDATA, exchange);
    }
    SET(CURLOPT_CUSTOMREQUEST, request->method);
    return CURLE_OK;
}

/// Sets all options of one request; `headers` must live as long as the request.
static CURLcode set_request(ct_client *client, exchange *exchange, struct curl_slist *headers, char *message)
{
    CURL *easy = client->easy;
    const ct_request *request = exchange->request;
    SET(CURLOPT_ERRORBUFFER, message);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    // One request at a time per client: HTTP/2 would bring no gain here, but failure modes of its own.
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_PROXY, client->proxy == NULL ? "" : client->proxy);
    if (client->user_agent != NULL)
        SET(CURLOPT_USERAGENT, client->user_agent);
    SET(CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
    SET(CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_SIZE);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_PREREQFUNCTION, on_connected);
    SET(CURLOPT_PREREQDATA, exchange);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, exchange);
    SET(CURLOPT_WRITEFUNCTION, on_write);
    SET(CURLOPT_WRITEDATA, exchange);
    if (request->connect_milliseconds > 0)
        SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_milliseconds);
    const CURLcode code = set_body(easy, exchange);
    return code == CURLE_OK ? set_tls(client) : code;
}

static ct_status status_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK: return CT_OK;
    case CURLE_OUT_OF_MEMORY: return CT_ERROR_NO_MEMORY;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT: return CT_ERROR_REQUEST;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return CT_ERROR_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: return CT_ERROR_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT: return CT_ERROR_TLS;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_WEIRD_SERVER_REPLY: return CT_ERROR_INTERRUPTED;
    default: return CT_ERROR_OTHER;
    }
}

/// Returns the milliseconds until the next limit. If they are zero or less, the limit that `*limit` names is exceeded.
static int64_t time_left(const exchange *exchange, const char **limit)
{
    const ct_request *request = exchange->request;
    const int64_t now = now_ms();
    int64_t left = LONGEST_WAIT_MS;
    *limit = "";
    if (request->stall_milliseconds > 0 && exchange->connected && exchange->last_move_ms + request->stall_milliseconds - now < left) {
        left = exchange->last_move_ms + request->stall_milliseconds - now;
        *limit = "nothing came from the network for the time allowed";
    }
    if (request->total_milliseconds > 0 && exchange->began_ms + request->total_milliseconds - now < left) {
        left = exchange->began_ms + request->total_milliseconds - now;
        *limit = "the request took longer than the time allowed";
    }
    return left;
}

/// Moves bytes until the transfer is over.
static ct_status run(ct_client *client, exchange *exchange, CURLcode *result, ct_error *error)
{
    for (;;) {
        int running = 0;
        const CURLMcode moved = curl_multi_perform(client->multi, &running);
        if (moved != CURLM_OK)
            return fail(error, CT_ERROR_OTHER, (int)moved, curl_multi_strerror(moved));
        if (running == 0)
            break;
        if (atomic_load(&client->cancelled))
            return fail(error, CT_ERROR_CANCELLED, 0, "the request was cancelled");
        const char *limit = "";
        const int64_t left = time_left(exchange, &limit);
        if (left <= 0)
            return fail(error, CT_ERROR_TIMEOUT, 0, limit);
        const CURLMcode polled = curl_multi_poll(client->multi, NULL, 0, (int)left, NULL);
        if (polled != CURLM_OK)
            return fail(error, CT_ERROR_OTHER, (int)polled, curl_multi_strerror(polled));
    }
    int left = 0;
    const CURLMsg *message = curl_multi_info_read(client->multi, &left);
    *result = message != NULL && message->msg == CURLMSG_DONE ? message->data.result : CURLE_FAILED_INIT;
    return CT_OK;
}

static void summarize(CURL *easy, const exchange *exchange, ct_summary *summary)
{
    curl_off_t sent = 0;
    curl_off_t received = 0;
    long connects = 1;
    (void)curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    (void)curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    (void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
    *summary = (ct_summary){.sent = sent, .received = received, .reused = connects == 0, .connected = exchange->connected};
}

/// Builds the list of header lines for libcurl.
static ct_status header_list(const ct_request *request, struct curl_slist **out, ct_error *error)
{
    struct curl_slist *list = NULL;
    bool has_type = request->short_body == NULL;
    for (size_t i = 0; i < request->header_count; i++)
        has_type = has_type || strncasecmp(request->header_lines[i], "Content-Type:", strlen("Content-Type:")) == 0;
    // libcurl gives a form without a type one of its own, unless an empty line keeps it from that.
    const size_t count = request->header_count + (has_type ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        struct curl_slist *longer = curl_slist_append(list, i < request->header_count ? request->header_lines[i] : "Content-Type:");
        if (longer == NULL) {
            curl_slist_free_all(list);
            return fail(error, CT_ERROR_NO_MEMORY, 0, "no memory for header fields");
        }
        list = longer;
    }
    *out = list;
    return CT_OK;
}

ct_status ct_client_perform(ct_client *client, const ct_request *request, ct_summary *summary, ct_error *error)
{
    *summary = (ct_summary){0};
    struct curl_slist *headers = NULL;
    if (header_list(request, &headers, error) != CT_OK)
        return CT_ERROR_NO_MEMORY;

    ct_sigpipe signals;
    ct_sigpipe_block(&signals);
    char message[CURL_ERROR_SIZE] = "";
    exchange exchange = {.request = request, .began_ms = now_ms()};
    CURLcode code = set_request(client, &exchange, headers, message);
    ct_status status = CT_OK;
    if (code == CURLE_OK && curl_multi_add_handle(client->multi, client->easy) == CURLM_OK) {
        status = run(client, &exchange, &code, error);
        summarize(client->easy, &exchange, summary);
        // A transfer removed before its end loses its connection; a finished one leaves it open for the next request.
        (void)curl_multi_remove_handle(client->multi, client->easy);
    } else if (code == CURLE_OK) {
        status = fail(error, CT_ERROR_NO_MEMORY, 0, "no memory for a request");
    }
    if (status == CT_OK && exchange.sink_refused)
        status = fail(error, CT_ERROR_SINK, 0, "the receiver refused the response's body");
    else if (status == CT_OK && exchange.source_failed)
        status = fail(error, CT_ERROR_SOURCE, 0, "the source of the request's body failed");
    else if (status == CT_OK && exchange.refused_again)
        status =
            fail(error, CT_ERROR_INTERRUPTED, (int)code, "the kept connection was cut before the response; the request is not sent again");
    else if (status == CT_OK && code != CURLE_OK)
        status = fail(error, status_of(code), (int)code, message[0] != '\0' ? message : curl_easy_strerror(code));
    else if (status == CT_OK && exchange.in_head)  // libcurl takes the cut for the end of an empty body
        status = fail(error, CT_ERROR_INTERRUPTED, 0, "the connection was cut in the response's header");
    curl_easy_reset(client->easy);
    ct_sigpipe_restore(&signals);
    curl_slist_free_all(headers);
    return status;
}
