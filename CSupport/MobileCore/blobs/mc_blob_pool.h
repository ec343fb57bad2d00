/// mc_blob_pool.h: the state of large values in a pool: the values in use, and the lease. Internal.
#ifndef MC_BLOB_POOL_H
#define MC_BLOB_POOL_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pool/mc_pool_hooks.h"

/// A value in use; see mc_blob.h.
typedef struct mc_pin {
    int64_t value;
    int count;
    bool holds_lease;  ///< no row may refer to it yet
} mc_pin;

typedef struct mc_pins {
    pthread_mutex_t mutex;  ///< guards the others; taken under no other lock
    mc_pin *pins;
    size_t count, capacity;
} mc_pins;

/// The state of mc_blob_lease.c.
typedef struct mc_lease {
    pthread_mutex_t mutex;  ///< guards the others; taken under no other lock
    sqlite3 *db;            ///< made when first needed; NULL: not yet, or the pool is closed
    size_t holders;
    bool is_locked;  ///< shared
    bool is_alone;   ///< exclusively
} mc_lease;

typedef struct mc_blob_pool {
    mc_pins pins;
    mc_lease lease;
    _Atomic int64_t last_value;  ///< the greatest id that a value of this pool has got; the file forgets it if it was rolled back
} mc_blob_pool;

/// The hooks that make and free the state of each pool.
extern const mc_pool_hooks mc_blob_hooks;

/// The state of a pool, borrowed.
static inline mc_blob_pool *mc_blob_pool_of(const mc_pool *pool)
{
    return mc_pool_hook_state(pool, &mc_blob_hooks);
}

/// Whether a reader or a writer of this pool uses a value.
bool mc_blob_is_pinned(mc_pool *pool, int64_t value);

/// Pins a value that has no pin. Its last pin ends a lease, which the caller holds until then. Fails with MC_ERROR_NO_MEMORY.
mc_status mc_blob_pin_leased(mc_pool *pool, int64_t value, mc_error *error);

#endif
