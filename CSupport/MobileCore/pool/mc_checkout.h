/// mc_checkout.h: functions shared by check-outs, waits, tickets and closing. "Locked" means: the caller holds the pool's lock.
#ifndef MC_CHECKOUT_H
#define MC_CHECKOUT_H

#include "pool/mc_pool_internal.h"

enum { MC_HANDOVER_NS = 1000 * 1000 * 1000 };

/// Locked: the connection that a check-out of this thread nests in, or NULL.
mc_connection *mc_pool_held_by(mc_pool *pool, bool reader);

/// Locked: whether a caller holds a connection, opens one or has not yet returned from a wait that is over.
bool mc_pool_is_in_use(const mc_pool *pool);

/// Locked: the reader that has been checked out longest; NULL: no reader is checked out.
mc_connection *mc_oldest_reader(const mc_pool *pool);

/// Locked: whether this thread waits for itself if it waits for a connection: it has used all of them last, and no other thread has used
/// one since.
bool mc_waits_for_itself(const mc_pool *pool, bool writer);

/// Locked: the connection in use that this thread has used last; NULL: there is none.
const mc_connection *mc_used_by_this_thread(const mc_pool *pool);

/// The time after which a thread that waits for itself is refused. Until then another thread may begin to use a connection.
int64_t mc_handover_ns(const mc_pool *pool);

/// The longest wait of a check-out, in nanoseconds; negative: without a limit.
int64_t mc_wait_ns(const mc_pool *pool, const mc_checkout *checkout);

/// Locked: assigns `connection` to `checkout`.
void mc_activate(mc_connection *connection, const mc_checkout *checkout);

/// Locked: inserts the waiter into the queue for its kind of connection, at its place.
void mc_waiter_enqueue(mc_pool *pool, mc_waiter *waiter);
void mc_copy_label(char *target, const char *label);

/// Locked: ends a wait, with a connection or with the waiter's failure. A thread wakes up, a callback moves to `callbacks`.
void mc_end_wait(mc_pool *pool, mc_waiter *waiter, mc_connection *granted, mc_waiter_list *callbacks);

/// Locked: notes that a waiter has returned from its wait.
void mc_has_left(mc_pool *pool);

/// Locked: ends every wait with MC_ERROR_CLOSED; those with a callback go to `callbacks`.
void mc_refuse_waiters(mc_pool *pool, mc_waiter_list *callbacks);

/// Not locked: calls back the waiters whose wait is over, and frees them.
void mc_call_back(mc_pool *pool, mc_waiter_list *callbacks);

/// The errors of a check-out. The last two need the lock; their messages describe the check-out that blocks this one.
mc_status mc_fail_closed(const mc_pool *pool, mc_error *error);
mc_status mc_fail_interrupted(const mc_checkout *checkout, mc_error *error);
mc_status mc_fail_waited(const mc_pool *pool, const mc_checkout *checkout, int64_t waited_ns, mc_error *error);
mc_status mc_fail_waits_for_itself(const mc_pool *pool, const mc_checkout *checkout, mc_error *error);

/// Not locked: sets the pool in which the ticket is used, or clears it. NULL is allowed.
mc_status mc_ticket_attach(mc_pool *pool, mc_ticket *ticket, const mc_checkout *checkout, mc_error *error);
void mc_ticket_detach(mc_ticket *ticket);

/// Locked: whether the ticket is that of the connection's check-out, or of one that nests in it.
bool mc_ticket_holds(const mc_connection *connection, const mc_ticket *ticket);

/// Locked: the ticket of a check-out, which may be NULL, interrupts the connection from now on, like those of the check-outs around it.
void mc_ticket_push(mc_connection *connection, mc_ticket *ticket);

/// Locked: the innermost ticket of the connection, which has one, no longer interrupts it. The caller detaches it without the lock.
mc_ticket *mc_ticket_pop(mc_connection *connection);

#endif
