/// mc_checkout.c: who gets which connection, and when.
///
/// A connection that comes back is handed to the first who waits for its kind, so nobody overtakes: there are either idle
/// connections or waiters, never both. A waiter is done once it has a connection or a failure; only the thread that does
/// this, holding the pool's lock, takes it out of its list.
#include <inttypes.h>
#include <string.h>

#include "pool/mc_checkout.h"

static void list_append(mc_waiter_list *list, mc_waiter *waiter)
{
    waiter->next = NULL;
    waiter->previous = list->last;
    if (list->last != NULL)
        list->last->next = waiter;
    else
        list->first = waiter;
    list->last = waiter;
}

static void list_remove(mc_waiter_list *list, mc_waiter *waiter)
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

static mc_waiter_list *list_for(mc_pool *pool, const mc_checkout *checkout)
{
    return checkout->writer ? &pool->for_writer : &pool->for_reader;
}

static void copy_label(char *target, const char *label)
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

mc_connection *mc_pool_held_by(mc_pool *pool, pthread_t thread, bool reader)
{
    mc_connection *writer = pool->writer;
    if (writer != NULL && writer->is_active && writer->has_owner && pthread_equal(writer->owner, thread))
        return writer;
    for (mc_connection *held = reader ? pool->active_readers : NULL; held != NULL; held = held->next) {
        if (held->has_owner && pthread_equal(held->owner, thread))
            return held;
    }
    return NULL;
}

bool mc_pool_is_in_use(const mc_pool *pool)
{
    return (pool->writer != NULL && pool->writer->is_active) || pool->active_readers != NULL || pool->readers_opening > 0
        || pool->leaving > 0;
}

/// With the pool locked: `connection` belongs to `checkout` from now on.
static void activate(mc_connection *connection, const mc_checkout *checkout)
{
    mc_pool *pool = connection->pool;
    connection->is_active = true;
    connection->has_owner = false;
    connection->depth = 1;
    connection->has_dropped_values = false;
    connection->ticket = checkout->ticket;
    connection->active_since_ns = mc_monotonic_ns();
    connection->busy_limit_ns = checkout->timeout_ns >= 0 ? checkout->timeout_ns : pool->options.busy_timeout_ns;
    atomic_store(&connection->interrupted, checkout->ticket != NULL && atomic_load(&checkout->ticket->interrupted));
    copy_label(connection->label, checkout->label);
    if (!connection->is_writer) {
        connection->next = pool->active_readers;
        pool->active_readers = connection;
    }
}

/// With the pool locked: ends a wait. A thread wakes up, a callback moves to `callbacks`.
static void end_wait(mc_pool *pool, mc_waiter *waiter, mc_connection *granted, mc_waiter_list *callbacks)
{
    list_remove(list_for(pool, waiter->checkout), waiter);
    if (granted != NULL)
        activate(granted, waiter->checkout);
    waiter->granted = granted;
    waiter->has_failed = granted == NULL;
    waiter->is_done = true;
    pool->leaving++;
    if (waiter->callback != NULL)
        list_append(callbacks, waiter);
    else
        (void)pthread_cond_signal(&waiter->wake);
}

/// With the pool locked: somebody whose wait was over has noticed.
static void has_left(mc_pool *pool)
{
    pool->leaving--;
    if (pool->is_closing && !mc_pool_is_in_use(pool))
        (void)pthread_cond_broadcast(&pool->drained);
}

static mc_status fail_closed(const mc_pool *pool, mc_error *error)
{
    return mc_fail(error, MC_ERROR_CLOSED, "the database \"%s\" is closed", pool->path);
}

static mc_status fail_interrupted(const mc_checkout *checkout, mc_error *error)
{
    return mc_fail(error, MC_ERROR_INTERRUPTED, "the wait for a %s connection was interrupted", checkout->writer ? "write" : "read");
}

/// With the pool locked: says who is in the way.
static mc_status fail_timeout(const mc_pool *pool, const mc_checkout *checkout, int64_t waited_ns, mc_error *error)
{
    const int64_t now = mc_monotonic_ns();
    const double waited = (double)waited_ns / 1e9;
    if (checkout->writer) {
        const mc_connection *holder = pool->writer;
        return mc_fail(error, MC_ERROR_TIMEOUT,
                       "no write connection within %.1f s: \"%s\" has held it for %.1f s; raise the timeout or write in batches",
                       waited, holder->label[0] != '\0' ? holder->label : "a write without a label",
                       (double)(now - holder->active_since_ns) / 1e9);
    }
    int64_t longest = 0;
    for (const mc_connection *reader = pool->active_readers; reader != NULL; reader = reader->next) {
        if (now - reader->active_since_ns > longest)
            longest = now - reader->active_since_ns;
    }
    return mc_fail(error, MC_ERROR_TIMEOUT,
                   "no read connection within %.1f s: all %d are in use, the longest for %.1f s; raise the timeout or the maximum connections",
                   waited, pool->options.readers, (double)longest / 1e9);
}

void mc_refuse_waiters(mc_pool *pool, mc_waiter_list *callbacks)
{
    mc_waiter_list *lists[] = {&pool->for_writer, &pool->for_reader};
    for (size_t i = 0; i < 2; i++) {
        while (lists[i]->first != NULL) {
            mc_waiter *waiter = lists[i]->first;
            (void)fail_closed(pool, &waiter->failure);
            end_wait(pool, waiter, NULL, callbacks);
        }
    }
}

static mc_status attach_ticket(mc_pool *pool, mc_ticket *ticket, const mc_checkout *checkout, mc_error *error)
{
    mc_status status = MC_OK;
    if (ticket == NULL)
        return MC_OK;
    (void)pthread_mutex_lock(&ticket->mutex);
    if (ticket->pool != NULL)
        status = mc_fail(error, MC_ERROR_MISUSE, "the ticket of this check-out is in use by another one");
    else if (atomic_load(&ticket->interrupted))
        status = fail_interrupted(checkout, error);
    else
        ticket->pool = pool;
    (void)pthread_mutex_unlock(&ticket->mutex);
    return status;
}

static void detach_ticket(mc_ticket *ticket)
{
    if (ticket == NULL)
        return;
    (void)pthread_mutex_lock(&ticket->mutex);
    ticket->pool = NULL;
    (void)pthread_mutex_unlock(&ticket->mutex);
}

/// What a check-out finds without waiting.
typedef enum mc_finding { FOUND_NONE, FOUND_CONNECTION, FOUND_ROOM_FOR_READER, FOUND_FAILURE } mc_finding;

/// With the pool locked.
static mc_finding find(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *error)
{
    if (pool->is_closing) {
        (void)fail_closed(pool, error);
        return FOUND_FAILURE;
    }
    if (checkout->ticket != NULL && atomic_load(&checkout->ticket->interrupted)) {
        (void)fail_interrupted(checkout, error);
        return FOUND_FAILURE;
    }
    if (checkout->writer) {
        if (pool->writer == NULL) {
            (void)mc_fail(error, MC_ERROR_READ_ONLY, "the database \"%s\" is open for reading only", pool->path);
            return FOUND_FAILURE;
        }
        *out = pool->writer;
        return pool->writer->is_active ? FOUND_NONE : FOUND_CONNECTION;
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
    return FOUND_NONE;
}

/// Opens the reader that room was made for. When it fails and no other reader can ever come back, those who wait fail as well.
static mc_status open_reader(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *error)
{
    mc_error failure;
    mc_waiter_list callbacks = {NULL, NULL};
    const mc_status status = mc_connection_open(pool, false, out, &failure);
    (void)pthread_mutex_lock(&pool->mutex);
    pool->readers_opening--;
    if (status == MC_OK) {
        pool->readers_open++;
        activate(*out, checkout);
    } else {
        if (error != NULL)
            *error = failure;
        while (pool->readers_open + pool->readers_opening == 0 && pool->for_reader.first != NULL) {
            pool->for_reader.first->failure = failure;
            end_wait(pool, pool->for_reader.first, NULL, &callbacks);
        }
        if (pool->is_closing && !mc_pool_is_in_use(pool))
            (void)pthread_cond_broadcast(&pool->drained);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_call_back(pool, &callbacks);
    return status;
}

/// With the pool locked: waits as a thread. On failure `waiter->failure` says why.
static void wait_in_line(mc_pool *pool, mc_waiter *waiter, int64_t started_ns)
{
    const int64_t timeout = waiter->checkout->timeout_ns;
    const int64_t deadline = timeout < INT64_MAX - started_ns ? started_ns + timeout : INT64_MAX;
    list_append(list_for(pool, waiter->checkout), waiter);
    while (!waiter->is_done) {
        if (timeout < 0) {
            (void)pthread_cond_wait(&waiter->wake, &pool->mutex);
        } else if (!mc_condition_wait_until(&waiter->wake, &pool->mutex, deadline) && !waiter->is_done) {
            (void)fail_timeout(pool, waiter->checkout, mc_monotonic_ns() - started_ns, &waiter->failure);
            end_wait(pool, waiter, NULL, NULL);
        }
    }
    has_left(pool);
}

/// Waits for a connection; the pool is locked at the call and unlocked afterwards.
static mc_status wait_for_connection(mc_pool *pool, const mc_checkout *checkout, int64_t started_ns, mc_connection **out,
                                     mc_error *error)
{
    mc_waiter waiter = {.checkout = checkout};
    if (mc_condition_init(&waiter.wake) != 0) {
        (void)pthread_mutex_unlock(&pool->mutex);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to wait for a connection");
    }
    wait_in_line(pool, &waiter, started_ns);
    (void)pthread_mutex_unlock(&pool->mutex);
    (void)pthread_cond_destroy(&waiter.wake);
    *out = waiter.granted;
    if (waiter.granted != NULL)
        return MC_OK;
    if (error != NULL)
        *error = waiter.failure;
    return waiter.failure.code;
}

mc_status mc_pool_checkout(mc_pool *pool, const mc_checkout *checkout, mc_connection **out, mc_error *error)
{
    const int64_t started = mc_monotonic_ns();
    const pthread_t self = pthread_self();
    mc_error failure = {.code = MC_OK};
    *out = NULL;
    (void)pthread_mutex_lock(&pool->mutex);
    mc_connection *held = checkout->loose ? NULL : mc_pool_held_by(pool, self, !checkout->writer);
    if (held != NULL) {
        held->depth++;
        (void)pthread_mutex_unlock(&pool->mutex);
        *out = held;
        return MC_OK;
    }
    (void)pthread_mutex_unlock(&pool->mutex);

    mc_status status = attach_ticket(pool, checkout->ticket, checkout, error);
    if (status != MC_OK)
        return status;
    (void)pthread_mutex_lock(&pool->mutex);
    const mc_finding finding = find(pool, checkout, out, &failure);
    if (finding == FOUND_CONNECTION)
        activate(*out, checkout);
    if (finding == FOUND_NONE) {
        status = wait_for_connection(pool, checkout, started, out, &failure);
    } else {
        (void)pthread_mutex_unlock(&pool->mutex);
        if (finding == FOUND_ROOM_FOR_READER)
            status = open_reader(pool, checkout, out, &failure);
        else
            status = failure.code;
    }
    if (status != MC_OK) {
        *out = NULL;
        detach_ticket(checkout->ticket);
        if (error != NULL)
            *error = failure;
    } else if (!checkout->loose) {
        mc_connection_adopt(*out);
    }
    return status;
}

static mc_waiter *create_callback_waiter(const mc_checkout *checkout, mc_granted granted, void *context)
{
    mc_waiter *waiter = sqlite3_malloc64(sizeof *waiter);
    if (waiter == NULL)
        return NULL;
    memset(waiter, 0, sizeof *waiter);
    copy_label(waiter->own_label, checkout->label);
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
    mc_status status = attach_ticket(pool, checkout->ticket, checkout, &failure);
    if (status != MC_OK) {
        granted(context, NULL, &failure);
        return;
    }
    mc_waiter *waiter = create_callback_waiter(checkout, granted, context);
    (void)pthread_mutex_lock(&pool->mutex);
    const mc_finding finding = find(pool, checkout, &connection, &failure);
    if (finding == FOUND_CONNECTION)
        activate(connection, checkout);
    if (finding == FOUND_NONE && waiter != NULL) {
        list_append(list_for(pool, checkout), waiter);
        waiter = NULL;  // its line owns it until its callback
        (void)pthread_mutex_unlock(&pool->mutex);
        return;
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    sqlite3_free(waiter);
    if (finding == FOUND_NONE)
        (void)mc_fail(&failure, MC_ERROR_NO_MEMORY, "no memory to wait for a connection");
    else if (finding == FOUND_ROOM_FOR_READER && open_reader(pool, checkout, &connection, &failure) != MC_OK)
        connection = NULL;
    if (connection == NULL || finding == FOUND_FAILURE) {
        detach_ticket(checkout->ticket);
        connection = NULL;
    }
    granted(context, connection, connection == NULL ? &failure : NULL);
}

void mc_call_back(mc_pool *pool, mc_waiter_list *callbacks)
{
    while (callbacks->first != NULL) {
        mc_waiter *waiter = callbacks->first;
        list_remove(callbacks, waiter);
        if (waiter->has_failed)
            detach_ticket(waiter->checkout->ticket);
        waiter->callback(waiter->context, waiter->granted, waiter->has_failed ? &waiter->failure : NULL);
        sqlite3_free(waiter);
        (void)pthread_mutex_lock(&pool->mutex);
        has_left(pool);
        (void)pthread_mutex_unlock(&pool->mutex);
    }
}

void mc_connection_adopt(mc_connection *connection)
{
    mc_pool *pool = connection->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    connection->owner = pthread_self();
    connection->has_owner = true;
    (void)pthread_mutex_unlock(&pool->mutex);
}

/// Makes the connection what the next one expects: no statement in use, no transaction, not interrupted.
static void settle(mc_connection *connection)
{
    mc_statement_release_all(connection);
    if (connection->is_writer)
        mc_connection_rollback(connection);
    else if (sqlite3_get_autocommit(connection->db) == 0)
        (void)mc_connection_commit(connection, NULL);
}

void mc_pool_return(mc_pool *pool, mc_connection *connection)
{
    mc_waiter_list callbacks = {NULL, NULL};
    (void)pthread_mutex_lock(&pool->mutex);
    const bool is_outermost = --connection->depth == 0;
    (void)pthread_mutex_unlock(&pool->mutex);
    if (!is_outermost)
        return;
    mc_ticket *ticket = connection->ticket;
    detach_ticket(ticket);  // from here on nobody interrupts it
    settle(connection);

    (void)pthread_mutex_lock(&pool->mutex);
    connection->is_active = false;
    connection->has_owner = false;
    connection->ticket = NULL;
    if (!connection->is_writer) {
        mc_connection **link = &pool->active_readers;
        while (*link != connection)
            link = &(*link)->next;
        *link = connection->next;
    }
    mc_waiter *first = connection->is_writer ? pool->for_writer.first : pool->for_reader.first;
    if (first != NULL) {
        end_wait(pool, first, connection, &callbacks);
    } else if (!connection->is_writer) {
        connection->next = pool->idle_readers;
        pool->idle_readers = connection;
    }
    if (pool->is_closing && !mc_pool_is_in_use(pool))
        (void)pthread_cond_broadcast(&pool->drained);
    (void)pthread_mutex_unlock(&pool->mutex);
    mc_call_back(pool, &callbacks);
}

mc_status mc_ticket_create(mc_ticket **out, mc_error *error)
{
    *out = NULL;
    mc_ticket *ticket = sqlite3_malloc64(sizeof *ticket);
    if (ticket == NULL || pthread_mutex_init(&ticket->mutex, NULL) != 0) {
        sqlite3_free(ticket);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a ticket");
    }
    atomic_init(&ticket->interrupted, false);
    ticket->pool = NULL;
    *out = ticket;
    return MC_OK;
}

void mc_ticket_free(mc_ticket *ticket)
{
    if (ticket == NULL)
        return;
    (void)pthread_mutex_destroy(&ticket->mutex);
    sqlite3_free(ticket);
}

static mc_waiter *waiter_of(mc_pool *pool, const mc_ticket *ticket)
{
    mc_waiter *firsts[] = {pool->for_writer.first, pool->for_reader.first};
    for (size_t i = 0; i < 2; i++) {
        for (mc_waiter *waiter = firsts[i]; waiter != NULL; waiter = waiter->next) {
            if (waiter->checkout->ticket == ticket)
                return waiter;
        }
    }
    return NULL;
}

static void interrupt_connection(mc_connection *connection, const mc_ticket *ticket)
{
    if (connection == NULL || !connection->is_active || connection->ticket != ticket)
        return;
    atomic_store(&connection->interrupted, true);
    sqlite3_interrupt(connection->db);
}

void mc_ticket_interrupt(mc_ticket *ticket)
{
    mc_waiter_list callbacks = {NULL, NULL};
    (void)pthread_mutex_lock(&ticket->mutex);
    atomic_store(&ticket->interrupted, true);
    mc_pool *pool = ticket->pool;
    if (pool != NULL) {
        (void)pthread_mutex_lock(&pool->mutex);
        mc_waiter *waiter = waiter_of(pool, ticket);
        if (waiter != NULL) {
            (void)fail_interrupted(waiter->checkout, &waiter->failure);
            end_wait(pool, waiter, NULL, &callbacks);
        }
        interrupt_connection(pool->writer, ticket);
        for (mc_connection *reader = pool->active_readers; reader != NULL; reader = reader->next)
            interrupt_connection(reader, ticket);
        (void)pthread_mutex_unlock(&pool->mutex);
    }
    (void)pthread_mutex_unlock(&ticket->mutex);
    if (pool != NULL)
        mc_call_back(pool, &callbacks);
}

void mc_ticket_time_out(mc_ticket *ticket, int64_t waited_ns)
{
    mc_waiter_list callbacks = {NULL, NULL};
    (void)pthread_mutex_lock(&ticket->mutex);
    mc_pool *pool = ticket->pool;
    if (pool != NULL) {
        (void)pthread_mutex_lock(&pool->mutex);
        mc_waiter *waiter = waiter_of(pool, ticket);
        if (waiter != NULL) {
            (void)fail_timeout(pool, waiter->checkout, waited_ns, &waiter->failure);
            end_wait(pool, waiter, NULL, &callbacks);
        }
        (void)pthread_mutex_unlock(&pool->mutex);
    }
    (void)pthread_mutex_unlock(&ticket->mutex);
    if (pool != NULL)
        mc_call_back(pool, &callbacks);
}
