#define _GNU_SOURCE  // strdup

#include "br_listeners.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* The connections that are opened at a time: a server accepts a limited number of new ones. */
#define OPENING 64

typedef struct listener {
    struct br_listeners *group;
    CURL *curl;
    struct listener *next;
    /* The number of characters of `news_line` that have just arrived. */
    size_t matched;
    bool is_open;
} listener;

struct br_listeners {
    CURLM *multi;
    struct curl_slist *headers;
    char *certificate;
    listener *first;
    int epoll;
    int32_t opened, ended, news;
};

static const char news_line[] = "event: news\n";

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    listener *one = context;
    size_t length = size * count, news_length = sizeof news_line - 1;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == news_line[one->matched])
            one->matched++;
        else
            one->matched = bytes[i] == news_line[0] ? 1 : 0;
        if (one->matched < news_length)
            continue;
        one->matched = 0;
        one->group->news++;
        if (!one->is_open)
            one->group->opened++;
        one->is_open = true;
    }
    return length;
}

static int watch_socket(CURL *curl, curl_socket_t socket, int what, void *context, void *known)
{
    br_listeners *group = context;
    (void)curl;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(group->epoll, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    struct epoll_event event = {.events = ((what & CURL_POLL_IN) ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) ? EPOLLOUT : 0u)};
    event.data.fd = socket;
    if (epoll_ctl(group->epoll, known != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0)
        return -1;
    curl_multi_assign(group->multi, socket, group);
    return 0;
}

br_listeners *br_listeners_new(const char *field, const char *certificate)
{
    br_listeners *group = calloc(1, sizeof *group);
    if (group == NULL)
        return NULL;
    group->epoll = epoll_create1(EPOLL_CLOEXEC);
    group->multi = curl_multi_init();
    group->headers = curl_slist_append(NULL, field);
    if (certificate != NULL)
        group->certificate = strdup(certificate);
    if (group->epoll < 0 || group->multi == NULL || group->headers == NULL || (certificate != NULL && group->certificate == NULL)) {
        br_listeners_close(group);
        return NULL;
    }
    curl_multi_setopt(group->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(group->multi, CURLMOPT_SOCKETDATA, group);
    curl_multi_setopt(group->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    return group;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Handles the events of sockets, or waits for them for at most 10 ms. */
static void advance(br_listeners *group)
{
    struct epoll_event events[256];
    int running = 0, count = epoll_wait(group->epoll, events, 256, 10);
    for (int i = 0; i < count; i++) {
        int what = ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) ? CURL_CSELECT_IN : 0)
            | ((events[i].events & EPOLLOUT) ? CURL_CSELECT_OUT : 0);
        curl_multi_socket_action(group->multi, events[i].data.fd, what, &running);
    }
    if (count <= 0)
        curl_multi_socket_action(group->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(group->multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE)
            group->ended++;
    }
}

static bool add(br_listeners *group, const char *address)
{
    listener *one = calloc(1, sizeof *one);
    if (one == NULL || (one->curl = curl_easy_init()) == NULL) {
        free(one);
        return false;
    }
    one->group = group;
    one->next = group->first;
    group->first = one;
    curl_easy_setopt(one->curl, CURLOPT_HTTPHEADER, group->headers);
    curl_easy_setopt(one->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(one->curl, CURLOPT_WRITEDATA, one);
    curl_easy_setopt(one->curl, CURLOPT_BUFFERSIZE, 1024L);
    curl_easy_setopt(one->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(one->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(one->curl, CURLOPT_FAILONERROR, 1L);
    if (group->certificate != NULL)
        curl_easy_setopt(one->curl, CURLOPT_CAINFO, group->certificate);
    return curl_easy_setopt(one->curl, CURLOPT_URL, address) == CURLE_OK && curl_multi_add_handle(group->multi, one->curl) == CURLM_OK;
}

bool br_listeners_open(br_listeners *group, const char *address, int32_t count, int32_t seconds, char *message, size_t message_size)
{
    double end = now() + seconds;
    int32_t before = group->opened, added = 0;
    while (group->opened - before < count) {
        int running = 0;
        for (; added < count && added - (group->opened - before) < OPENING; added++) {
            char numbered[512];
            snprintf(numbered, sizeof numbered, "%s%d", address, (int)(before + added));
            if (!add(group, numbered)) {
                snprintf(message, message_size, "out of memory");
                return false;
            }
            curl_multi_socket_action(group->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        advance(group);
        if (group->ended > 0 || now() > end) {
            snprintf(message, message_size, "%d of %d connections listen, %d have ended", (int)(group->opened - before), (int)count,
                     (int)group->ended);
            return false;
        }
    }
    group->news = 0;
    return true;
}

int32_t br_listeners_wait(br_listeners *group, int32_t count, int32_t seconds)
{
    double end = now() + seconds;
    while (group->news < count && group->ended == 0 && now() < end)
        advance(group);
    int32_t news = group->news;
    group->news = 0;
    return news;
}

void br_listeners_close(br_listeners *group)
{
    if (group == NULL)
        return;
    for (listener *one = group->first, *next; one != NULL; one = next) {
        next = one->next;
        if (group->multi != NULL)
            curl_multi_remove_handle(group->multi, one->curl);
        curl_easy_cleanup(one->curl);
        free(one);
    }
    if (group->multi != NULL)
        curl_multi_cleanup(group->multi);
    curl_slist_free_all(group->headers);
    if (group->epoll >= 0)
        close(group->epoll);
    free(group->certificate);
    free(group);
}
