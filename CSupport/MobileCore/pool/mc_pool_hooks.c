/// mc_pool_hooks.c: calls the hooks of the folders above the pool.
#include "pool/mc_pool_hooks.h"

#include "pool/mc_pool_internal.h"

mc_status mc_pool_hooks_make(mc_pool *pool, const mc_pool_hooks *const *hooks, size_t count, mc_error *error)
{
    mc_status status = MC_OK;
    pool->hooks = hooks;
    while (status == MC_OK && pool->hook_count < count) {
        const mc_pool_hooks *const table = hooks[pool->hook_count];
        if (table->pool_made != NULL)
            status = table->pool_made(pool, &pool->hook_states[pool->hook_count], error);
        pool->hook_count += status == MC_OK;
    }
    return status;
}

mc_status mc_pool_hooks_open(mc_connection *connection, mc_error *error)
{
    const mc_pool *const pool = connection->pool;
    mc_status status = MC_OK;
    for (size_t index = 0; status == MC_OK && index < pool->hook_count; index++) {
        if (pool->hooks[index]->connection_opened != NULL)
            status = pool->hooks[index]->connection_opened(connection, &connection->hook_states[index], error);
    }
    return status;
}

void mc_pool_hooks_close(mc_pool *pool)
{
    for (size_t index = 0; index < pool->hook_count; index++) {
        if (pool->hooks[index]->pool_closed != NULL)
            pool->hooks[index]->pool_closed(pool->hook_states[index]);
    }
}

void mc_pool_hooks_free(mc_pool *pool)
{
    for (size_t index = 0; index < pool->hook_count; index++) {
        if (pool->hooks[index]->pool_freed != NULL)
            pool->hooks[index]->pool_freed(pool->hook_states[index]);
    }
}

/// The element of `states` at the index of these hooks in the pool's list.
static void *find_state(const mc_pool *pool, void *const *states, const mc_pool_hooks *hooks)
{
    for (size_t index = 0; index < pool->hook_count; index++) {
        if (pool->hooks[index] == hooks)
            return states[index];
    }
    return NULL;
}

void *mc_pool_hook_state(const mc_pool *pool, const mc_pool_hooks *hooks)
{
    return find_state(pool, pool->hook_states, hooks);
}

void *mc_connection_hook_state(const mc_connection *connection, const mc_pool_hooks *hooks)
{
    return find_state(connection->pool, connection->hook_states, hooks);
}
