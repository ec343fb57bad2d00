/// mc_workers.c: threads that run jobs. They are detached: the last one to leave frees what they share.
///
/// While something is delayed one of the threads keeps the time. It is not idle: as soon as it takes a task another one has to keep the
/// time, and if there is none but for the limit, one is started. Only where the limit is reached and no thread is idle does the keeper take
/// what is to be run now.
#include "mc_workers.h"

#include <pthread.h>
#include <string.h>

#include "base/mc_memory.h"
#include "pool/mc_pool_internal.h"

typedef struct task {
    struct task *next;
    mc_job job, cancel;
    void *context;
    int64_t due_ns;  ///< of a delayed task
    uint64_t number;
} task;

struct mc_workers {
    pthread_mutex_t mutex;
    pthread_cond_t for_idle, for_keeper;
    task *first, *last;  ///< to be run now
    task *delayed;       ///< by the time they are due
    int limit, threads, queued;
    int idle;      ///< threads that wait for a task, or have just been started and will look for one
    bool is_kept;  ///< a thread keeps the time
    int64_t kept_until_ns;
    uint64_t last_number;
    bool is_released;
};

mc_status mc_workers_create(int limit, mc_workers **out, mc_error *error)
{
    *out = NULL;
    if (limit < 1)
        return mc_fail(error, MC_ERROR_MISUSE, "%d threads: use 1 or more", limit);
    mc_workers *workers = mc_allocate(sizeof *workers);
    if (workers == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for threads");
    memset(workers, 0, sizeof *workers);
    workers->limit = limit;
    if (pthread_mutex_init(&workers->mutex, NULL) != 0) {
        mc_free(workers);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for threads");
    }
    if (mc_condition_init(&workers->for_keeper) != 0)
        goto without_keeper;
    if (pthread_cond_init(&workers->for_idle, NULL) != 0)
        goto without_idle;
    *out = workers;
    return MC_OK;

without_idle:
    (void)pthread_cond_destroy(&workers->for_keeper);
without_keeper:
    (void)pthread_mutex_destroy(&workers->mutex);
    mc_free(workers);
    return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for threads");
}

static void free_workers(mc_workers *workers)
{
    (void)pthread_cond_destroy(&workers->for_idle);
    (void)pthread_cond_destroy(&workers->for_keeper);
    (void)pthread_mutex_destroy(&workers->mutex);
    mc_free(workers);
}

static void append(mc_workers *workers, task *added)
{
    added->next = NULL;
    if (workers->last != NULL)
        workers->last->next = added;
    else
        workers->first = added;
    workers->last = added;
    workers->queued++;
}

static task *take_first(mc_workers *workers)
{
    task *first = workers->first;
    if (first != NULL) {
        workers->first = first->next;
        if (workers->first == NULL)
            workers->last = NULL;
        workers->queued--;
    }
    return first;
}

static void *work(void *context);

/// Finds a thread for one task more: an idle one, each of which counts for one of the tasks that are queued already, or a new one. False
/// when nobody would ever run the task. With the lock.
static bool provide_thread(mc_workers *workers)
{
    pthread_t thread;
    if (workers->idle > workers->queued) {
        (void)pthread_cond_signal(&workers->for_idle);
        return true;
    }
    if (workers->threads < workers->limit && pthread_create(&thread, NULL, work, workers) == 0) {
        (void)pthread_detach(thread);
        workers->threads++;
        workers->idle++;
        return true;
    }
    (void)pthread_cond_signal(&workers->for_keeper);
    return workers->threads > 0;
}

/// Moves what is due to the queue.
static void move_due(mc_workers *workers)
{
    while (workers->delayed != NULL && workers->delayed->due_ns <= mc_monotonic_ns()) {
        task *due = workers->delayed;
        workers->delayed = due->next;
        (void)provide_thread(workers);
        append(workers, due);
    }
}

static void keep_time(mc_workers *workers)
{
    workers->is_kept = true;
    workers->idle--;
    workers->kept_until_ns = workers->delayed->due_ns;
    (void)mc_condition_wait_until(&workers->for_keeper, &workers->mutex, workers->kept_until_ns);
    workers->idle++;
    workers->is_kept = false;
}

/// The next task; NULL when the thread shall end. With the lock; the thread counts as idle until then.
static task *wait_for_task(mc_workers *workers)
{
    task *next;
    for (;;) {
        move_due(workers);
        next = take_first(workers);
        if (next != NULL || workers->is_released)
            break;
        if (workers->delayed != NULL && !workers->is_kept)
            keep_time(workers);
        else
            (void)pthread_cond_wait(&workers->for_idle, &workers->mutex);
    }
    workers->idle--;
    if (next != NULL && workers->delayed != NULL && !workers->is_kept)
        (void)provide_thread(workers);  // to keep the time meanwhile
    return next;
}

static void *work(void *context)
{
    mc_workers *workers = context;
    task *next;
    (void)pthread_mutex_lock(&workers->mutex);
    while ((next = wait_for_task(workers)) != NULL) {
        (void)pthread_mutex_unlock(&workers->mutex);
        next->job(next->context);
        mc_free(next);
        (void)pthread_mutex_lock(&workers->mutex);
        workers->idle++;
    }
    const bool is_last = --workers->threads == 0;
    (void)pthread_mutex_unlock(&workers->mutex);
    if (is_last)
        free_workers(workers);
    return NULL;
}

static mc_status fail_thread(mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "no thread can be started");
}

mc_status mc_workers_run(mc_workers *workers, mc_job job, void *context, mc_error *error)
{
    task *added = mc_allocate(sizeof *added);
    if (added == NULL)
        return fail_thread(error);
    *added = (task){.job = job, .context = context};
    (void)pthread_mutex_lock(&workers->mutex);
    const bool is_provided = provide_thread(workers);
    if (is_provided)
        append(workers, added);
    (void)pthread_mutex_unlock(&workers->mutex);
    if (is_provided)
        return MC_OK;
    mc_free(added);
    return fail_thread(error);
}

mc_status mc_workers_run_after(mc_workers *workers, int64_t delay_ns, mc_job job, mc_job cancel, void *context, uint64_t *number,
                               mc_error *error)
{
    task *added = mc_allocate(sizeof *added);
    const int64_t now = mc_monotonic_ns();
    if (added == NULL)
        return fail_thread(error);
    *added = (task){.job = job, .cancel = cancel, .context = context};
    added->due_ns = delay_ns < INT64_MAX - now ? now + delay_ns : INT64_MAX;
    (void)pthread_mutex_lock(&workers->mutex);
    const bool is_provided = workers->is_kept || provide_thread(workers);
    if (is_provided) {
        if (workers->is_kept && added->due_ns < workers->kept_until_ns)
            (void)pthread_cond_signal(&workers->for_keeper);
        *number = added->number = ++workers->last_number;
        task **link = &workers->delayed;
        while (*link != NULL && (*link)->due_ns <= added->due_ns)
            link = &(*link)->next;
        added->next = *link;
        *link = added;
    }
    (void)pthread_mutex_unlock(&workers->mutex);
    if (is_provided)
        return MC_OK;
    mc_free(added);
    return fail_thread(error);
}

bool mc_workers_cancel(mc_workers *workers, uint64_t number)
{
    task *taken = NULL;
    (void)pthread_mutex_lock(&workers->mutex);
    for (task **link = &workers->delayed; *link != NULL; link = &(*link)->next) {
        if ((*link)->number == number) {
            taken = *link;
            *link = taken->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&workers->mutex);
    if (taken == NULL)
        return false;
    taken->cancel(taken->context);
    mc_free(taken);
    return true;
}

void mc_workers_free(mc_workers *workers)
{
    if (workers == NULL)
        return;
    (void)pthread_mutex_lock(&workers->mutex);
    task *delayed = workers->delayed;
    workers->delayed = NULL;
    workers->is_released = true;
    const bool is_unused = workers->threads == 0;
    (void)pthread_cond_broadcast(&workers->for_idle);
    (void)pthread_cond_signal(&workers->for_keeper);
    (void)pthread_mutex_unlock(&workers->mutex);
    while (delayed != NULL) {
        task *next = delayed->next;
        delayed->cancel(delayed->context);
        mc_free(delayed);
        delayed = next;
    }
    if (is_unused)
        free_workers(workers);
}
