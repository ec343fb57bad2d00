#include "br_http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct br_http {
    CURL *curl;
    struct curl_slist *headers;
    /* The bodies of the answers, one after the other; NULL without br_http_keep. */
    char *bodies;
    size_t bodies_size, bodies_capacity;
};

static size_t skip(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
    br_http *client = context;
    const size_t length = size * count;
    if (length > client->bodies_capacity - client->bodies_size)
        return 0;
    memcpy(client->bodies + client->bodies_size, bytes, length);
    client->bodies_size += length;
    return length;
}

br_http *br_http_open(const char *address, const void *body, size_t body_size, char *message, size_t message_size)
{
    br_http *client = calloc(1, sizeof *client);
    if (client != NULL)
        client->curl = curl_easy_init();
    if (client == NULL || client->curl == NULL || curl_easy_setopt(client->curl, CURLOPT_URL, address) != CURLE_OK) {
        snprintf(message, message_size, "out of memory");
        br_http_close(client);
        return NULL;
    }
    curl_easy_setopt(client->curl, CURLOPT_POST, 1L);
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_size);
    curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, skip);
    curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(client->curl, CURLOPT_TIMEOUT, 60L);
    return client;
}

bool br_http_add_header(br_http *client, const char *field)
{
    struct curl_slist *headers = curl_slist_append(client->headers, field);
    if (headers == NULL)
        return false;
    client->headers = headers;
    return curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

bool br_http_keep(br_http *client, size_t capacity)
{
    if (client->bodies == NULL)
        client->bodies = malloc(capacity > 0 ? capacity : 1);
    if (client->bodies == NULL)
        return false;
    client->bodies_capacity = capacity;
    /* The pages are touched here, not while the time runs. */
    memset(client->bodies, 0, capacity);
    return curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, keep) == CURLE_OK
        && curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, client) == CURLE_OK;
}

const char *br_http_bodies(const br_http *client, size_t *size)
{
    *size = client->bodies_size;
    return client->bodies;
}

int32_t br_http_send(br_http *client, int32_t count)
{
    int32_t answers = 0;
    for (int32_t i = 0; i < count; i++) {
        long status = 0;
        if (curl_easy_perform(client->curl) != CURLE_OK)
            break;
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
        if (status == 200)
            answers++;
    }
    return answers;
}

void br_http_close(br_http *client)
{
    if (client == NULL)
        return;
    if (client->curl != NULL)
        curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->headers);
    free(client->bodies);
    free(client);
}
