/// mc_workers.h: a few threads for work that blocks, so that a caller's threads need not.
///
/// They are started when there is work for them, up to a limit, and belong to nobody else: work here can wait for work that
/// runs on any shared pool of threads without either of them starving the other.
///
/// Order of calls: create; any number of run and run_after; free. Jobs that are queued then still run; delayed ones
/// do not. Threads: every function may be called on any thread, also by a job.
#ifndef MC_WORKERS_H
#define MC_WORKERS_H

#include <stdbool.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_workers mc_workers;

/// What a job does; called once, on a thread of the workers.
typedef void (*mc_job)(void *MC_NULLABLE context);

/// On success `*out` goes to `mc_workers_free`; no thread runs yet. `limit`: threads at most, 1 or more.
/// Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_workers_create(int limit, mc_workers *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Runs `job` as soon as a thread is free, in the order of the calls. Fails with MC_ERROR_NO_MEMORY when there is neither a
/// thread nor the means to start one; the job then never runs.
MC_MUST_USE mc_status mc_workers_run(mc_workers *workers, mc_job job, void *MC_NULLABLE context, mc_error *MC_NULLABLE error);

/// Runs `job` when `delay_ns` have passed on the monotonic clock. `cancel` is called instead, on the thread of whoever
/// cancels or frees, when it shall not run any more. `*number` (never 0) is for `mc_workers_cancel`. Fails as run does.
MC_MUST_USE mc_status mc_workers_run_after(mc_workers *workers, int64_t delay_ns, mc_job job, mc_job cancel, void *MC_NULLABLE context,
                                           uint64_t *number, mc_error *MC_NULLABLE error);

/// Takes a delayed job back if it has not begun. Returns whether it did.
bool mc_workers_cancel(mc_workers *workers, uint64_t number);

/// Frees the workers: their threads end when the queue is empty, and are not waited for. NULL is allowed.
void mc_workers_free(mc_workers *MC_NULLABLE workers);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
