/// mc_checkout.h: what closing a pool needs of those who wait in it.
#ifndef MC_CHECKOUT_H
#define MC_CHECKOUT_H

#include "pool/mc_pool_internal.h"

/// With the pool locked: the connection that a check-out on `thread` nests in, or NULL.
mc_connection *mc_pool_held_by(mc_pool *pool, pthread_t thread, bool reader);

/// With the pool locked: whether somebody holds a connection, opens one or has not noticed yet that the wait is over.
bool mc_pool_is_in_use(const mc_pool *pool);

/// With the pool locked: ends every wait with MC_ERROR_CLOSED; those with a callback go to `callbacks`.
void mc_refuse_waiters(mc_pool *pool, mc_waiter_list *callbacks);

/// Without the lock: calls back those whose wait is over, and frees them.
void mc_call_back(mc_pool *pool, mc_waiter_list *callbacks);

#endif
