/// mc_pool_hooks.h: hooks by which the folders above the pool are notified of pools and connections. Internal to the core.
///
/// The pool knows no folder above it. Each folder that needs notifications has one constant table of hooks; opening/mc_pool_open.c
/// lists the tables and passes the list to every pool that it opens. So there is no registration at run time.
///
/// Order of calls: pool_made; connection_opened for each connection, the first one while the pool is opened; pool_closed; pool_freed.
///                 A pool that fails to open is freed without being closed. Each call visits the tables in the order of the list.
/// Threads:        connection_opened is called by the thread that opens the connection, for several connections at the same time.
///                 No lock is held.
/// Ownership:      the list and its tables are borrowed for the life of the pool. A state belongs to the folder that made it: the pool
///                 keeps the pointer, and never reads the state.
#ifndef MC_POOL_HOOKS_H
#define MC_POOL_HOOKS_H

#include <stddef.h>

#include "mc_pool.h"

/// The hooks of one folder; each may be NULL.
typedef struct mc_pool_hooks {
    /// Makes the folder's state of a pool, before its first connection is opened: `*state`, which is NULL at the call. If it fails, the
    /// pool is not opened, and `pool_freed` is not called for this table.
    mc_status (*pool_made)(mc_pool *pool, void **state, mc_error *error);
    /// Makes the folder's state of a connection, whose options are in force: `*state`, which is NULL at the call. SQLite's connection owns
    /// it, as it owns the data of a function. If it fails, the connection is closed.
    mc_status (*connection_opened)(mc_connection *connection, void **state, mc_error *error);
    /// Called once, after the last connection was closed. Check-outs already fail; other calls for the pool are still possible.
    void (*pool_closed)(void *state);
    /// Frees the state. The pool is no longer in use.
    void (*pool_freed)(void *state);
} mc_pool_hooks;

/// The maximum number of tables in a list.
enum { MC_POOL_HOOKS_MAXIMUM = 4 };

/// Opens a pool as `mc_pool_open` does, with `count` tables, MC_POOL_HOOKS_MAXIMUM at most.
mc_status mc_pool_open_with_hooks(const char *path, const mc_pool_options *options, const mc_pool_hooks *const *hooks, size_t count,
                                  mc_pool **out, mc_error *error);

/// The state of the folder with these hooks, for a pool and for a connection. NULL without a state.
void *mc_pool_hook_state(const mc_pool *pool, const mc_pool_hooks *hooks);
void *mc_connection_hook_state(const mc_connection *connection, const mc_pool_hooks *hooks);

#endif
