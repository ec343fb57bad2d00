/// ct_sigpipe.h: blocks SIGPIPE in a thread during calls of libcurl, which requires it of programs with several threads.
#ifndef CT_SIGPIPE_H
#define CT_SIGPIPE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/// The state to restore.
typedef struct ct_sigpipe {
    sigset_t previous;
    bool was_pending;  ///< a signal of another part of the program: it must survive
} ct_sigpipe;

static inline void ct_sigpipe_block(ct_sigpipe *state)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &state->previous);
    // A signal that a thread does not block is never pending for it.
    state->was_pending = false;
    if (sigismember(&state->previous, SIGPIPE) == 1) {
        sigset_t pending;
        sigemptyset(&pending);
        sigpending(&pending);
        state->was_pending = sigismember(&pending, SIGPIPE) == 1;
    }
}

static inline void ct_sigpipe_restore(const ct_sigpipe *state)
{
#if !defined(__APPLE__)  // there libcurl sets SO_NOSIGPIPE, and sigtimedwait does not exist
    if (!state->was_pending) {
        const struct timespec at_once = {0, 0};
        sigset_t pipe_only;
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        while (sigtimedwait(&pipe_only, NULL, &at_once) == SIGPIPE) {
        }
    }
#endif
    pthread_sigmask(SIG_SETMASK, &state->previous, NULL);
}

#endif
