/// mc_checkout.h: what checking out, waiting, tickets and closing share. "Locked" means: the caller holds the pool's lock.
#ifndef MC_CHECKOUT_H
#define MC_CHECKOUT_H

#include "pool/mc_pool_internal.h"

/// Locked: the connection that a check-out on `thread` nests in, or NULL.
mc_connection *mc_pool_held_by(mc_pool *pool, pthread_t thread, bool reader);

/// Locked: whether somebody holds a connection, opens one or has not noticed yet that the wait is over.
bool mc_pool_is_in_use(const mc_pool *pool);

/// Locked: the reader that has been out longest; NULL: none is out.
mc_connection *mc_oldest_reader(const mc_pool *pool);

/// How long a check-out waits: nanoseconds from 0 on; negative: as long as it takes.
int64_t mc_wait_ns(const mc_pool *pool, const mc_checkout *checkout);

/// Locked: `connection` belongs to `checkout` from now on.
void mc_activate(mc_connection *connection, const mc_checkout *checkout);

/// Locked: puts the waiter in the line for what it asks for, at the place that it is due.
void mc_waiter_enqueue(mc_pool *pool, mc_waiter *waiter);
void mc_copy_label(char *target, const char *label);

/// Locked: ends a wait, with a connection or with the waiter's failure. A thread wakes up, a callback moves to `callbacks`.
void mc_end_wait(mc_pool *pool, mc_waiter *waiter, mc_connection *granted, mc_waiter_list *callbacks);

/// Locked: who waited has noticed that the wait is over.
void mc_has_left(mc_pool *pool);

/// Locked: ends every wait with MC_ERROR_CLOSED; those with a callback go to `callbacks`.
void mc_refuse_waiters(mc_pool *pool, mc_waiter_list *callbacks);

/// Not locked: calls back those whose wait is over, and frees them.
void mc_call_back(mc_pool *pool, mc_waiter_list *callbacks);

/// Why a check-out fails; the last one, locked, says who is in the way.
mc_status mc_fail_closed(const mc_pool *pool, mc_error *error);
mc_status mc_fail_interrupted(const mc_checkout *checkout, mc_error *error);
mc_status mc_fail_waited(const mc_pool *pool, const mc_checkout *checkout, int64_t waited_ns, mc_error *error);

/// Not locked: notes which pool the ticket is used in, or no pool any more. NULL is allowed.
mc_status mc_ticket_attach(mc_pool *pool, mc_ticket *ticket, const mc_checkout *checkout, mc_error *error);
void mc_ticket_detach(mc_ticket *ticket);

#endif
