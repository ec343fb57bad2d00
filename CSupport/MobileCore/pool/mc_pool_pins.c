/// mc_pool_pins.c: large values in use, by any thread of this pool.
#include <inttypes.h>
#include <string.h>

#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_lease.h"
#include "pool/mc_pool_internal.h"

void mc_connection_set_dropped_values(mc_connection *connection)
{
    connection->has_dropped_values = true;
}

bool mc_blob_has_dropped(const mc_connection *connection)
{
    return connection->has_dropped_values;
}

/// With the pool locked: where the value's pin is, or the end.
static size_t find_pin(const mc_pool *pool, int64_t value)
{
    size_t index = 0;
    while (index < pool->pin_count && pool->pins[index].value != value)
        index++;
    return index;
}

/// `holds_lease`: the lease that the caller holds goes with the last pin.
static mc_status pin(mc_pool *pool, int64_t value, bool holds_lease, mc_error *error)
{
    mc_status status = MC_OK;
    (void)pthread_mutex_lock(&pool->mutex);
    const size_t index = find_pin(pool, value);
    if (index < pool->pin_count) {
        pool->pins[index].count++;
        pool->pins[index].holds_lease |= holds_lease;
    } else {
        mc_pin *pins = pool->pins;
        if (pool->pin_count == pool->pin_capacity) {
            const size_t capacity = pool->pin_capacity > 0 ? pool->pin_capacity * 2 : 8;
            pins = mc_reallocate(pool->pins, capacity, sizeof *pins);
            if (pins != NULL) {
                pool->pins = pins;
                pool->pin_capacity = capacity;
            }
        }
        if (pins == NULL)
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to pin large value %" PRId64, value);
        else
            pool->pins[pool->pin_count++] = (mc_pin){.value = value, .count = 1, .holds_lease = holds_lease};
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return status;
}

mc_status mc_blob_pin(mc_pool *pool, int64_t value, mc_error *error)
{
    return pin(pool, value, false, error);
}

mc_status mc_pool_pin_leased(mc_pool *pool, int64_t value, mc_error *error)
{
    return pin(pool, value, true, error);
}

void mc_blob_unpin(mc_pool *pool, int64_t value)
{
    bool held_lease = false;
    (void)pthread_mutex_lock(&pool->mutex);
    const size_t index = find_pin(pool, value);
    if (index < pool->pin_count && --pool->pins[index].count == 0) {
        held_lease = pool->pins[index].holds_lease;
        pool->pins[index] = pool->pins[--pool->pin_count];
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    if (held_lease)
        mc_blob_lease_end(pool);
}

bool mc_pool_is_pinned(mc_pool *pool, int64_t value)
{
    (void)pthread_mutex_lock(&pool->mutex);
    const bool is_pinned = find_pin(pool, value) < pool->pin_count;
    (void)pthread_mutex_unlock(&pool->mutex);
    return is_pinned;
}
