/// mc_blob_pins.c: large values in use, by any thread of this pool.
#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_lease.h"
#include "blobs/mc_blob_pool.h"

static mc_pins *pins_of(const mc_pool *pool)
{
    return &mc_blob_pool_of(pool)->pins;
}

/// With the pins locked: the index of the value's pin, or the end.
static size_t find_pin(const mc_pins *pins, int64_t value)
{
    size_t index = 0;
    while (index < pins->count && pins->pins[index].value != value)
        index++;
    return index;
}

/// With the pins locked: makes room for another pin. False without memory.
static bool make_room(mc_pins *pins)
{
    if (pins->count < pins->capacity)
        return true;
    const size_t capacity = pins->capacity > 0 ? pins->capacity * 2 : 8;
    mc_pin *const longer = mc_reallocate(pins->pins, capacity, sizeof *longer);
    if (longer == NULL)
        return false;
    pins->pins = longer;
    pins->capacity = capacity;
    return true;
}

/// Pins a value. `holds_lease`: the last pin ends the lease that the caller holds.
static mc_status pin(mc_pool *pool, int64_t value, bool holds_lease, mc_error *error)
{
    mc_pins *const pins = pins_of(pool);
    mc_status status = MC_OK;
    (void)pthread_mutex_lock(&pins->mutex);
    const size_t index = find_pin(pins, value);
    if (index < pins->count) {
        pins->pins[index].count++;
        pins->pins[index].holds_lease |= holds_lease;
    } else if (make_room(pins)) {
        pins->pins[pins->count++] = (mc_pin){.value = value, .count = 1, .holds_lease = holds_lease};
    } else {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to pin large value %" PRId64, value);
    }
    (void)pthread_mutex_unlock(&pins->mutex);
    return status;
}

mc_status mc_blob_pin(mc_pool *pool, int64_t value, mc_error *error)
{
    return pin(pool, value, false, error);
}

mc_status mc_blob_pin_leased(mc_pool *pool, int64_t value, mc_error *error)
{
    return pin(pool, value, true, error);
}

void mc_blob_unpin(mc_pool *pool, int64_t value)
{
    mc_pins *const pins = pins_of(pool);
    bool held_lease = false;
    (void)pthread_mutex_lock(&pins->mutex);
    const size_t index = find_pin(pins, value);
    if (index < pins->count && --pins->pins[index].count == 0) {
        held_lease = pins->pins[index].holds_lease;
        pins->pins[index] = pins->pins[--pins->count];
    }
    (void)pthread_mutex_unlock(&pins->mutex);
    if (held_lease)
        mc_blob_lease_end(pool);
}

bool mc_blob_is_pinned(mc_pool *pool, int64_t value)
{
    mc_pins *const pins = pins_of(pool);
    (void)pthread_mutex_lock(&pins->mutex);
    const bool is_pinned = find_pin(pins, value) < pins->count;
    (void)pthread_mutex_unlock(&pins->mutex);
    return is_pinned;
}
