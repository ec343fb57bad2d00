/// mc_waiters.c: the queues for the connections, and the end of a wait.
///
/// A waiter is done when it has a connection or a failure. The thread that assigns either removes it from its queue, under the pool's lock.
#include <string.h>

#include "base/mc_memory.h"
#include "pool/mc_checkout.h"

/// Appends a waiter to the queue.
static void waiter_append(mc_waiter_list *list, mc_waiter *waiter)
{
    waiter->since_ns = mc_monotonic_ns();
    waiter->next = NULL;
    waiter->previous = list->last;
    if (list->last != NULL)
        list->last->next = waiter;
    else
        list->first = waiter;
    list->last = waiter;
}

static void waiter_remove(mc_waiter_list *list, mc_waiter *waiter)
{
    if (waiter->previous != NULL)
        waiter->previous->next = waiter->next;
    else
        list->first = waiter->next;
    if (waiter->next != NULL)
        waiter->next->previous = waiter->previous;
    else
        list->last = waiter->previous;
    waiter->previous = waiter->next = NULL;
}

/// The queue for the requested kind of connection.
static mc_waiter_list *waiters_for(mc_pool *pool, const mc_checkout *checkout)
{
    return checkout->writer ? &pool->for_writer : &pool->for_reader;
}

void mc_waiter_enqueue(mc_pool *pool, mc_waiter *waiter)
{
    mc_waiter_list *list = waiters_for(pool, waiter->checkout);
    waiter_append(list, waiter);
    if (waiter->checkout->writer || waiter->checkout->is_long)
        return;
    // A short read overtakes the long ones at the end of the queue. Each of them is overtaken a limited number of times.
    mc_waiter *ahead = waiter->previous;
    while (ahead != NULL && ahead->checkout->is_long && ahead->overtaken < MC_OVERTAKEN_MAXIMUM) {
        ahead->overtaken++;
        ahead = ahead->previous;
    }
    if (ahead == waiter->previous)
        return;
    waiter_remove(list, waiter);
    mc_waiter *behind = ahead != NULL ? ahead->next : list->first;
    waiter->previous = ahead;
    waiter->next = behind;
    behind->previous = waiter;
    *(ahead != NULL ? &ahead->next : &list->first) = waiter;
}

void mc_copy_label(char *target, const char *label)
{
    size_t length = label != NULL ? strlen(label) : 0;
    if (length >= MC_LABEL_SIZE) {
        length = MC_LABEL_SIZE - 1;
        while (length > 0 && ((unsigned char)label[length] & 0xC0) == 0x80)  // not within a character
            length--;
    }
    if (length > 0)
        memcpy(target, label, length);
    target[length] = '\0';
}

unsigned long long mc_thread_number(void)
{
    // The one state that the pools of a process share: numbers are given once only.
    static atomic_ullong last;
    static _Thread_local unsigned long long number;
    if (number == 0)
        number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return number;
}

mc_connection *mc_pool_held_by(mc_pool *pool, bool reader)
{
    mc_connection *writer = pool->writer;
    const unsigned long long thread = mc_thread_number();
    if (writer != NULL && writer->is_active && writer->owner == thread)
        return writer;
    for (mc_connection *held = reader ? pool->active_readers : NULL; held != NULL; held = held->next) {
        if (held->owner == thread)
            return held;
    }
    return NULL;
}

static bool is_used_here(const mc_connection *connection)
{
    return connection->is_active && atomic_load_explicit(&connection->user, memory_order_relaxed) == mc_thread_number();
}

bool mc_waits_for_itself(const mc_pool *pool, bool writer)
{
    if (writer)
        return pool->writer != NULL && is_used_here(pool->writer);
    const mc_connection *reader = pool->active_readers;
    if (reader == NULL || pool->idle_readers != NULL || pool->readers_opening > 0)
        return false;
    while (reader != NULL && is_used_here(reader))
        reader = reader->next;
    return reader == NULL;
}

const mc_connection *mc_used_by_this_thread(const mc_pool *pool)
{
    if (pool->writer != NULL && is_used_here(pool->writer))
        return pool->writer;
    const mc_connection *reader = pool->active_readers;
    while (reader != NULL && !is_used_here(reader))
        reader = reader->next;
    return reader;
}

int64_t mc_handover_ns(const mc_pool *pool)
{
    const int64_t busy = pool->options.busy_timeout_ns;
    return busy >= 0 && busy < MC_HANDOVER_NS ? busy : MC_HANDOVER_NS;
}

mc_connection *mc_oldest_reader(const mc_pool *pool)
{
    mc_connection *reader = pool->active_readers;
    while (reader != NULL && reader->next != NULL)  // the newest is at the front
        reader = reader->next;
    return reader;
}

bool mc_pool_is_in_use(const mc_pool *pool)
{
    return (pool->writer != NULL && pool->writer->is_active) || pool->active_readers != NULL || pool->readers_opening > 0
        || pool->leaving > 0;
}

int64_t mc_wait_ns(const mc_pool *pool, const mc_checkout *checkout)
{
    switch (checkout->timeout_ns) {
    case MC_WAIT_DEFAULT: return pool->options.busy_timeout_ns;
    case MC_WAIT_NEVER: return 0;
    default: return checkout->timeout_ns;
    }
}

/// With the pool locked: assigns `connection` to `checkout`.
void mc_activate(mc_connection *connection, const mc_checkout *checkout)
{
    mc_pool *pool = connection->pool;
    connection->is_active = true;
    connection->owner = 0;
    atomic_store_explicit(&connection->user, 0, memory_order_relaxed);
    connection->depth = 1;
    connection->has_dropped_values = false;
    connection->is_warned_of = false;
    connection->counted.checkouts++;
    connection->active_since_ns = mc_monotonic_ns();
    pool->statistics.checkouts++;
    const int64_t timeout = mc_wait_ns(pool, checkout);
    connection->busy_limit_ns = timeout >= 0 ? timeout : pool->options.busy_timeout_ns;
    atomic_store(&connection->interrupted, false);
    connection->ticket = NULL;
    mc_ticket_push(connection, checkout->ticket);
    mc_copy_label(connection->label, checkout->label);
    mc_connection_follow_trace(connection);
    if (!connection->is_writer) {
        connection->next = pool->active_readers;
        pool->active_readers = connection;
    } else {
        mc_changes_begin(connection);
    }
}

/// With the pool locked: ends a wait. A thread wakes up, a callback moves to `callbacks`.
void mc_end_wait(mc_pool *pool, mc_waiter *waiter, mc_connection *granted, mc_waiter_list *callbacks)
{
    waiter_remove(waiters_for(pool, waiter->checkout), waiter);
    if (granted != NULL)
        mc_activate(granted, waiter->checkout);
    waiter->granted = granted;
    waiter->has_failed = granted == NULL;
    waiter->is_done = true;
    pool->statistics.waits++;
    const int64_t waited = mc_monotonic_ns() - waiter->since_ns;
    pool->statistics.waited_ns += waited;
    if (waited > pool->statistics.longest_wait_ns)
        pool->statistics.longest_wait_ns = waited;
    pool->leaving++;
    if (waiter->callback != NULL)
        waiter_append(callbacks, waiter);
    else
        (void)pthread_cond_signal(&waiter->wake);
}

/// With the pool locked: notes that a waiter has returned from its wait.
void mc_has_left(mc_pool *pool)
{
    pool->leaving--;
    if (pool->is_closing && !mc_pool_is_in_use(pool))
        (void)pthread_cond_broadcast(&pool->drained);
}

mc_status mc_fail_closed(const mc_pool *pool, mc_error *error)
{
    return mc_fail(error, MC_ERROR_CLOSED, "the database \"%s\" is closed", pool->path);
}

mc_status mc_fail_interrupted(const mc_checkout *checkout, mc_error *error)
{
    return mc_fail(error, MC_ERROR_INTERRUPTED, "the wait for a %s connection was interrupted", checkout->writer ? "write" : "read");
}

/// With the pool locked: the message describes the check-out that blocks this one.
mc_status mc_fail_waited(const mc_pool *pool, const mc_checkout *checkout, int64_t waited_ns, mc_error *error)
{
    const int64_t now = mc_monotonic_ns();
    const double waited = (double)waited_ns / 1e9;
    if (checkout->writer) {
        const mc_connection *holder = pool->writer;
        return mc_fail(error, MC_ERROR_TIMEOUT,
                       "no write connection within %.1f s: \"%s\" has held it for %.1f s; raise the timeout or write in batches", waited,
                       holder->label[0] != '\0' ? holder->label : "a write without a label", (double)(now - holder->active_since_ns) / 1e9);
    }
    const mc_connection *oldest = mc_oldest_reader(pool);
    const int64_t longest = oldest != NULL ? now - oldest->active_since_ns : 0;
    return mc_fail(
        error, MC_ERROR_TIMEOUT,
        "no read connection within %.1f s: all %d are in use, the longest for %.1f s; raise the timeout or the maximum connections", waited,
        pool->options.readers, (double)longest / 1e9);
}

mc_status mc_fail_waits_for_itself(const mc_pool *pool, const mc_checkout *checkout, mc_error *error)
{
    const mc_connection *const held = checkout->writer ? pool->writer : mc_oldest_reader(pool);
    if (checkout->writer)
        return mc_fail(error, MC_ERROR_MISUSE, "this thread holds the write connection itself, as \"%s\": end that work first",
                       held->label[0] != '\0' ? held->label : "a write without a label");
    return mc_fail(error, MC_ERROR_MISUSE,
                   "this thread holds all %d read connections itself, one as \"%s\": end one of these reads first, or raise the maximum "
                   "connections",
                   pool->readers_open, held->label[0] != '\0' ? held->label : "a read without a label");
}

void mc_refuse_waiters(mc_pool *pool, mc_waiter_list *callbacks)
{
    mc_waiter_list *lists[] = {&pool->for_writer, &pool->for_reader};
    for (size_t i = 0; i < 2; i++) {
        while (lists[i]->first != NULL) {
            mc_waiter *waiter = lists[i]->first;
            (void)mc_fail_closed(pool, &waiter->failure);
            mc_end_wait(pool, waiter, NULL, callbacks);
        }
    }
}

void mc_call_back(mc_pool *pool, mc_waiter_list *callbacks)
{
    while (callbacks->first != NULL) {
        mc_waiter *waiter = callbacks->first;
        waiter_remove(callbacks, waiter);
        if (waiter->has_failed)
            mc_ticket_detach(waiter->checkout->ticket);
        waiter->callback(waiter->context, waiter->granted, waiter->has_failed ? &waiter->failure : NULL);
        mc_free(waiter);
        (void)pthread_mutex_lock(&pool->mutex);
        mc_has_left(pool);
        (void)pthread_mutex_unlock(&pool->mutex);
    }
}
