/// mc_blob_hooks.c: makes and frees the state of large values in a pool.
#include "blobs/mc_blob_pool.h"

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "blobs/mc_blob_lease.h"

static bool init_locks(mc_blob_pool *blobs)
{
    if (pthread_mutex_init(&blobs->pins.mutex, NULL) != 0)
        return false;
    if (pthread_mutex_init(&blobs->lease.mutex, NULL) != 0) {
        (void)pthread_mutex_destroy(&blobs->pins.mutex);
        return false;
    }
    return true;
}

static mc_status make_state(mc_pool *pool, void **state, mc_error *error)
{
    mc_blob_pool *const blobs = mc_allocate_zeroed(1, sizeof *blobs);
    (void)pool;
    if (blobs == NULL || !init_locks(blobs)) {
        mc_free(blobs);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a pool");
    }
    atomic_init(&blobs->last_value, 0);
    *state = blobs;
    return MC_OK;
}

static void close_state(void *state)
{
    mc_blob_lease_close(&((mc_blob_pool *)state)->lease);
}

static void free_state(void *state)
{
    mc_blob_pool *const blobs = state;
    mc_blob_lease_close(&blobs->lease);  // a writer may have taken it since the pool was closed
    (void)pthread_mutex_destroy(&blobs->lease.mutex);
    (void)pthread_mutex_destroy(&blobs->pins.mutex);
    mc_free(blobs->pins.pins);
    mc_free(blobs);
}

const mc_pool_hooks mc_blob_hooks = {.pool_made = make_state, .pool_closed = close_state, .pool_freed = free_state};
