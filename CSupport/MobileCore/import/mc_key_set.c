#include "import/mc_key_set.h"

#include "base/mc_memory.h"


/// The place of the key, or the free place where it belongs.
static size_t find(const int64_t *keys, size_t capacity, int64_t key)
{
    // Multiplication by the golden ratio spreads keys that follow each other; the keys are the server's, so no one can choose
    // them to collide for more than their own import.
    size_t place = (size_t)(((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (capacity - 1);
    while (keys[place] != 0 && keys[place] != key)
        place = (place + 1) & (capacity - 1);
    return place;
}

static bool grow(mc_key_set *set)
{
    const size_t capacity = set->capacity == 0 ? 64 : set->capacity * 2;
    int64_t *const keys = mc_allocate_zeroed(capacity, sizeof *keys);
    if (keys == NULL)
        return false;
    for (size_t place = 0; place < set->capacity; place++) {
        if (set->keys[place] != 0)
            keys[find(keys, capacity, set->keys[place])] = set->keys[place];
    }
    mc_free(set->keys);
    set->keys = keys;
    set->capacity = capacity;
    return true;
}

bool mc_key_set_add(mc_key_set *set, int64_t key)
{
    if (key == 0) {
        set->count += !set->has_zero;
        set->has_zero = true;
        return true;
    }
    if (set->count * 2 >= set->capacity && !grow(set))
        return false;
    int64_t *const place = &set->keys[find(set->keys, set->capacity, key)];
    set->count += *place == 0;
    *place = key;
    return true;
}

bool mc_key_set_contains(const mc_key_set *set, int64_t key)
{
    if (key == 0)
        return set->has_zero;
    return set->capacity > 0 && set->keys[find(set->keys, set->capacity, key)] == key;
}

void mc_key_set_free(mc_key_set *set)
{
    mc_free(set->keys);
    *set = (mc_key_set){0};
}
