/// mc_ticket.c: tickets, which interrupt a wait or the work on a connection.
#include "pool/mc_checkout.h"

#include "base/mc_memory.h"

mc_status mc_ticket_attach(mc_pool *pool, mc_ticket *ticket, const mc_checkout *checkout, mc_error *error)
{
    mc_status status = MC_OK;
    if (ticket == NULL)
        return MC_OK;
    (void)pthread_mutex_lock(&ticket->mutex);
    if (ticket->pool != NULL) {
        status = mc_fail(error, MC_ERROR_MISUSE, "the ticket of this check-out is in use by another one");
    } else if (atomic_load(&ticket->interrupted)) {
        status = mc_fail_interrupted(checkout, error);
    } else {
        ticket->pool = pool;
        ticket->is_used = true;
    }
    (void)pthread_mutex_unlock(&ticket->mutex);
    return status;
}

void mc_ticket_detach(mc_ticket *ticket)
{
    if (ticket == NULL)
        return;
    (void)pthread_mutex_lock(&ticket->mutex);
    ticket->pool = NULL;
    ticket->expired_ns = -1;
    (void)pthread_mutex_unlock(&ticket->mutex);
}

mc_status mc_ticket_create(mc_ticket **out, mc_error *error)
{
    *out = NULL;
    mc_ticket *ticket = mc_allocate(sizeof *ticket);
    if (ticket == NULL || pthread_mutex_init(&ticket->mutex, NULL) != 0) {
        mc_free(ticket);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a ticket");
    }
    atomic_init(&ticket->interrupted, false);
    ticket->pool = NULL;
    ticket->is_used = false;
    ticket->outer = NULL;
    ticket->depth = 0;
    ticket->expired_ns = -1;
    *out = ticket;
    return MC_OK;
}

void mc_ticket_push(mc_connection *connection, mc_ticket *ticket)
{
    if (ticket == NULL)
        return;
    ticket->outer = connection->ticket;
    ticket->depth = connection->depth;
    connection->ticket = ticket;
    if (atomic_load(&ticket->interrupted))
        atomic_store(&connection->interrupted, true);
}

mc_ticket *mc_ticket_pop(mc_connection *connection)
{
    mc_ticket *const ticket = connection->ticket;
    bool interrupted = false;
    connection->ticket = ticket->outer;
    ticket->outer = NULL;
    for (mc_ticket *outer = connection->ticket; outer != NULL; outer = outer->outer)
        interrupted = interrupted || atomic_load(&outer->interrupted);
    atomic_store(&connection->interrupted, interrupted);
    return ticket;
}

void mc_ticket_free(mc_ticket *ticket)
{
    if (ticket == NULL)
        return;
    (void)pthread_mutex_destroy(&ticket->mutex);
    mc_free(ticket);
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

bool mc_ticket_holds(const mc_connection *connection, const mc_ticket *ticket)
{
    const mc_ticket *held = connection != NULL && connection->is_active ? connection->ticket : NULL;
    while (held != NULL && held != ticket)
        held = held->outer;
    return held != NULL;
}

/// Whether a connection was granted for the ticket.
static bool is_granted(const mc_pool *pool, const mc_ticket *ticket)
{
    bool found = mc_ticket_holds(pool->writer, ticket);
    for (const mc_connection *reader = pool->active_readers; reader != NULL && !found; reader = reader->next)
        found = mc_ticket_holds(reader, ticket);
    return found;
}

static void interrupt_connection(mc_connection *connection, const mc_ticket *ticket)
{
    if (!mc_ticket_holds(connection, ticket))
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
            (void)mc_fail_interrupted(waiter->checkout, &waiter->failure);
            mc_end_wait(pool, waiter, NULL, &callbacks);
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
            (void)mc_fail_waited(pool, waiter->checkout, waited_ns, &waiter->failure);
            mc_end_wait(pool, waiter, NULL, &callbacks);
        } else if (!is_granted(pool, ticket)) {
            ticket->expired_ns = waited_ns;
        }
        (void)pthread_mutex_unlock(&pool->mutex);
    } else if (!ticket->is_used) {
        // The thread that is about to wait may be the slower one.
        ticket->expired_ns = waited_ns;
    }
    (void)pthread_mutex_unlock(&ticket->mutex);
    if (pool != NULL)
        mc_call_back(pool, &callbacks);
}
