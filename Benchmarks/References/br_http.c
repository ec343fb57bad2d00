#include "br_http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

struct br_http {
    CURL *curl;
    struct curl_slist *headers;
};

static size_t skip(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

br_http *br_http_open(const char *address, const void *body, size_t body_size, char *message, size_t message_size)
{
    br_http *client = calloc(1, sizeof *client);
    if (client != NULL) client->curl = curl_easy_init();
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
    if (headers == NULL) return false;
    client->headers = headers;
    return curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

int32_t br_http_send(br_http *client, int32_t count)
{
    int32_t answers = 0;
    for (int32_t i = 0; i < count; i++) {
        long status = 0;
        if (curl_easy_perform(client->curl) != CURLE_OK) break;
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
        if (status == 200) answers++;
    }
    return answers;
}

void br_http_close(br_http *client)
{
    if (client == NULL) return;
    if (client->curl != NULL) curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->headers);
    free(client);
}
