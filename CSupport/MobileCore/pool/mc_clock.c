/// mc_clock.c: the monotonic clock, and waits by it. Changes of the wall clock move no timeout.
#if !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L  // for the monotonic clock, which standard C does not have
#endif
#include <errno.h>
#include <time.h>

#include "pool/mc_pool_internal.h"

enum { NS_PER_SECOND = 1000000000 };

int64_t mc_monotonic_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

#if defined(__APPLE__)

// Darwin's condition variables support no other clock, but can wait for a duration.
int mc_condition_init(pthread_cond_t *condition)
{
    return pthread_cond_init(condition, NULL);
}

bool mc_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ns)
{
    const int64_t left = deadline_ns - mc_monotonic_ns();
    if (left <= 0)
        return false;
    const struct timespec span = {.tv_sec = left / NS_PER_SECOND, .tv_nsec = left % NS_PER_SECOND};
    return pthread_cond_timedwait_relative_np(condition, mutex, &span) != ETIMEDOUT;
}

#else

int mc_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int result = pthread_condattr_init(&attributes);
    if (result != 0)
        return result;
    result = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (result == 0)
        result = pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return result;
}

bool mc_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_SECOND), .tv_nsec = (long)(deadline_ns % NS_PER_SECOND)};
    return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT;
}

#endif
