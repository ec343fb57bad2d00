/// mc_checkout.c: assigns connections to callers.
///
/// A returned connection goes to the first waiter for its kind, so no later caller takes it: there are either idle connections or
/// waiters, never both.
#include <inttypes.h>
#include <string.h>

#include "pool/mc_checkout.h"

#include "base/mc_memory.h"
#include "base/mc_options.h"

/// The result of a check-out's search, without a wait.
typedef enum mc_finding { FOUND_NONE, FOUND_CONNECTION, FOUND_ROOM_FOR_READER, FOUND_FAILURE } mc_finding;

/// With the pool locked: no connection is free, and the caller waits for one unless its time is over already.
static mc_finding find_none(const mc_pool *pool, const mc_checkout *checkout, mc_error *error)
{
    if (checkout->ticket == NULL || checkout->ticket->expired_ns < 0)
        return FOUND_NONE;
    (void)mc_fail_waited(pool, checkout, checkout->ticket->expired_ns, error);
    return FOUND_FAILURE;
}

/// With the pool locked.
static mc_finding find(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *error)
{
    if (pool->is_closing) {
        (void)mc_fail_closed(pool, error);
        return FOUND_FAILURE;
    }
    if (checkout->ticket != NULL && atomic_load(&checkout->ticket->interrupted)) {
        (void)mc_fail_interrupted(checkout, error);
        return FOUND_FAILURE;
    }
    if (checkout->writer) {
        if (pool->writer == NULL) {
            (void)mc_fail(error, MC_ERROR_READ_ONLY, "the database \"%s\" is open for reading only", pool->path);
            return FOUND_FAILURE;
        }
        if (pool->writer->is_active)
            return find_none(pool, checkout, error);
        *out = pool->writer;
        return FOUND_CONNECTION;
    }
    if (pool->idle_readers != NULL) {
        *out = pool->idle_readers;
        pool->idle_readers = (*out)->next;
        return FOUND_CONNECTION;
    }
    if (pool->readers_open + pool->readers_opening < pool->options.readers) {
        pool->readers_opening++;
        return FOUND_ROOM_FOR_READER;
    }
    return find_none(pool, checkout, error);
}

/// Opens the reader for which `find` has reserved a place. If that fails and no other reader exists, all waits for a reader fail as well.
static mc_status open_reader(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *failure)
{
    mc_waiter_list callbacks = {NULL, NULL};
    const mc_status status = mc_connection_open(pool, false, out, failure);
    (void)pthread_mutex_lock(&pool->mutex);
    pool->readers_opening--;
    if (status == MC_OK) {
        pool->readers_open++;
        mc_activate(*out, checkout);
    } else {
        while (pool->readers_open + pool->readers_opening == 0 && pool->for_reader.first != NULL) {
            pool->for_reader.first->failure = *failure;
            mc_end_wait(pool, pool->for_reader.first, NULL, &callbacks);
        }
        if (pool->is_closing && !mc_pool_is_in_use(pool))
            (void)pthread_cond_broadcast(&pool->drained);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_call_back(pool, &callbacks);
    return status;
}

static mc_status check_options(const mc_checkout *checkout, mc_error *error)
{
    const mc_status status = MC_OPTIONS_CHECK(mc_checkout, checkout, error);
    if (status != MC_OK || checkout->timeout_ns >= MC_WAIT_NEVER)
        return status;
    return mc_fail(error, MC_ERROR_MISUSE, "check-out with a timeout of %" PRId64 " ns: use 1 or more, or one of MC_WAIT_...",
                   checkout->timeout_ns);
}

/// With the pool locked: waits as a thread. On failure the error is in `waiter->failure`.
static void wait_in_line(mc_pool *pool, mc_waiter *waiter, int64_t started_ns)
{
    const mc_checkout *const checkout = waiter->checkout;
    const int64_t timeout = mc_wait_ns(pool, checkout);
    const int64_t deadline = timeout >= 0 && timeout < INT64_MAX - started_ns ? started_ns + timeout : INT64_MAX;
    int64_t wake = started_ns + mc_handover_ns(pool);
    mc_waiter_enqueue(pool, waiter);
    while (!waiter->is_done) {
        if (wake > deadline)
            wake = deadline;
        if (wake == INT64_MAX) {
            (void)pthread_cond_wait(&waiter->wake, &pool->mutex);
        } else if (!mc_condition_wait_until(&waiter->wake, &pool->mutex, wake) && !waiter->is_done) {
            if (wake == deadline)
                (void)mc_fail_waited(pool, checkout, mc_monotonic_ns() - started_ns, &waiter->failure);
            else if (mc_waits_for_itself(pool, checkout->writer))
                (void)mc_fail_waits_for_itself(pool, checkout, &waiter->failure);
            if (waiter->failure.code != MC_OK)
                mc_end_wait(pool, waiter, NULL, NULL);
            wake = INT64_MAX;
        }
    }
    mc_has_left(pool);
}

/// Waits for a connection; the pool is locked at the call and unlocked afterwards.
static mc_status wait_for_connection(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *failure)
{
    mc_waiter waiter = {.checkout = checkout};
    if (mc_condition_init(&waiter.wake) != 0) {
        (void)pthread_mutex_unlock(&pool->mutex);
        return mc_fail(failure, MC_ERROR_NO_MEMORY, "no memory to wait for a connection");
    }
    wait_in_line(pool, &waiter, mc_monotonic_ns());
    (void)pthread_mutex_unlock(&pool->mutex);
    (void)pthread_cond_destroy(&waiter.wake);
    *out = waiter.granted;
    if (waiter.granted != NULL)
        return MC_OK;
    *failure = waiter.failure;
    return waiter.failure.code;
}

/// With the pool locked: makes check-outs of this thread nest in the connection from now on.
static void tie_to_thread(mc_connection *connection)
{
    connection->owner = mc_thread_number();
    atomic_store_explicit(&connection->user, mc_thread_number(), memory_order_relaxed);
}

/// Nests a check-out in the connection that this thread holds. The pool is locked at the call and unlocked afterwards.
static mc_status nest(mc_pool *pool, mc_connection *held, const mc_checkout *checkout, mc_error *error)
{
    mc_ticket *const ticket = checkout->ticket;
    if (ticket != NULL && !mc_ticket_holds(held, ticket)) {
        (void)pthread_mutex_unlock(&pool->mutex);  // the ticket's lock comes before the pool's
        const mc_status status = mc_ticket_attach(pool, ticket, checkout, error);
        if (status != MC_OK)
            return status;
        (void)pthread_mutex_lock(&pool->mutex);
        held->depth++;
        mc_ticket_push(held, ticket);
    } else {
        held->depth++;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return MC_OK;
}

mc_status mc_pool_checkout(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *error)
{
    mc_error failure;
    *out = NULL;
    mc_status status = check_options(checkout, error);
    if (status != MC_OK)
        return status;
    (void)pthread_mutex_lock(&pool->mutex);
    mc_connection *const held = checkout->loose ? NULL : mc_pool_held_by(pool, !checkout->writer);
    if (held != NULL) {
        status = nest(pool, held, checkout, error);
        *out = status == MC_OK ? held : NULL;
        return status;
    }
    if (checkout->ticket != NULL) {
        (void)pthread_mutex_unlock(&pool->mutex);
        status = mc_ticket_attach(pool, checkout->ticket, checkout, error);
        if (status != MC_OK)
            return status;
        (void)pthread_mutex_lock(&pool->mutex);
    }
    const mc_finding finding = find(pool, checkout, out, &failure);
    if (finding == FOUND_CONNECTION) {
        mc_activate(*out, checkout);
        atomic_store_explicit(&(*out)->user, mc_thread_number(), memory_order_relaxed);
        if (!checkout->loose)
            tie_to_thread(*out);
        (void)pthread_mutex_unlock(&pool->mutex);
        return MC_OK;
    }
    if (finding == FOUND_NONE) {
        status = wait_for_connection(pool, checkout, out, &failure);
    } else {
        (void)pthread_mutex_unlock(&pool->mutex);
        status = finding == FOUND_ROOM_FOR_READER ? open_reader(pool, checkout, out, &failure) : failure.code;
    }
    if (status != MC_OK) {
        *out = NULL;
        mc_ticket_detach(checkout->ticket);
        if (error != NULL)
            *error = failure;
    } else {
        atomic_store_explicit(&(*out)->user, mc_thread_number(), memory_order_relaxed);
        if (!checkout->loose)
            mc_connection_adopt(*out);
    }
    return status;
}

static mc_waiter *create_callback_waiter(const mc_checkout *checkout, mc_granted granted, void *context)
{
    mc_waiter *waiter = mc_allocate(sizeof *waiter);
    if (waiter == NULL)
        return NULL;
    memset(waiter, 0, sizeof *waiter);
    mc_copy_label(waiter->own_label, checkout->label);
    waiter->own_checkout = *checkout;
    waiter->own_checkout.label = waiter->own_label;
    waiter->checkout = &waiter->own_checkout;
    waiter->callback = granted;
    waiter->context = context;
    return waiter;
}

void mc_pool_checkout_later(mc_pool *pool, const mc_checkout *checkout, mc_granted granted, void *context)
{
    mc_error failure = {.code = MC_OK};
    mc_connection *connection = NULL;
    mc_status status = check_options(checkout, &failure);
    if (status == MC_OK)
        status = mc_ticket_attach(pool, checkout->ticket, checkout, &failure);
    if (status != MC_OK) {
        granted(context, NULL, &failure);
        return;
    }
    mc_waiter *waiter = create_callback_waiter(checkout, granted, context);
    (void)pthread_mutex_lock(&pool->mutex);
    const mc_finding finding = find(pool, checkout, &connection, &failure);
    if (finding == FOUND_CONNECTION)
        mc_activate(connection, checkout);
    if (finding == FOUND_NONE && waiter != NULL) {
        mc_waiter_enqueue(pool, waiter);
        waiter = NULL;  // its queue owns it until its callback
        (void)pthread_mutex_unlock(&pool->mutex);
        return;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_free(waiter);
    if (finding == FOUND_NONE)
        (void)mc_fail(&failure, MC_ERROR_NO_MEMORY, "no memory to wait for a connection");
    else if (finding == FOUND_ROOM_FOR_READER)
        (void)open_reader(pool, checkout, &connection, &failure);
    if (connection == NULL)
        mc_ticket_detach(checkout->ticket);
    granted(context, connection, connection == NULL ? &failure : NULL);
}

void mc_connection_adopt(mc_connection *connection)
{
    mc_pool *pool = connection->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    tie_to_thread(connection);
    (void)pthread_mutex_unlock(&pool->mutex);
}

/// Prepares the connection for the next holder: no statement in use, no transaction, all changes reported.
static void settle(mc_connection *connection)
{
    mc_statement_return_all(connection);
    if (connection->is_writer)
        mc_connection_rollback(connection);
    else if (sqlite3_get_autocommit(connection->db) == 0)
        mc_ignore(mc_connection_commit(connection, NULL));  // a reader has no changes, and a failed COMMIT rolls back
    connection->has_transaction = false;
    mc_changes_tell(connection);
}

/// Ends one check-out. Returns whether it was the outermost one.
static bool leave(mc_pool *pool, mc_connection *connection)
{
    mc_ticket *ended = NULL;
    // Only the thread that a connection is tied to nests in it, so that thread needs no lock to read the depth and the innermost ticket.
    const bool is_tied = connection->owner == mc_thread_number();
    if (is_tied && (connection->depth == 1 || connection->ticket == NULL))
        return --connection->depth == 0;
    (void)pthread_mutex_lock(&pool->mutex);
    const bool is_outermost = --connection->depth == 0;
    if (!is_outermost && connection->ticket != NULL && connection->ticket->depth > connection->depth)
        ended = mc_ticket_pop(connection);
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_ticket_detach(ended);
    return is_outermost;
}

void mc_pool_return(mc_pool *pool, mc_connection *connection)
{
    mc_waiter_list callbacks = {NULL, NULL};
    if (!leave(pool, connection))
        return;
    mc_ticket *ticket = connection->ticket;
    mc_ticket_detach(ticket);  // from here on no ticket interrupts it
    settle(connection);

    (void)pthread_mutex_lock(&pool->mutex);
    mc_connection_note_return(connection);
    connection->is_active = false;
    connection->owner = 0;
    connection->ticket = NULL;
    if (!connection->is_writer) {
        mc_connection **link = &pool->active_readers;
        while (*link != connection)
            link = &(*link)->next;
        *link = connection->next;
    }
    mc_waiter *first = connection->is_writer ? pool->for_writer.first : pool->for_reader.first;
    if (first != NULL) {
        mc_end_wait(pool, first, connection, &callbacks);
    } else if (!connection->is_writer) {
        connection->next = pool->idle_readers;
        pool->idle_readers = connection;
    }
    if (pool->is_closing && !mc_pool_is_in_use(pool))
        (void)pthread_cond_broadcast(&pool->drained);
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_call_back(pool, &callbacks);
}
