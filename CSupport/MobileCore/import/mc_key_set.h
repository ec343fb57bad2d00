/// mc_key_set.h: a set of 64-bit keys. Internal.
#ifndef MC_KEY_SET_H
#define MC_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Open addressing over a table at most half full. Starts as a zeroed struct, ends with `mc_key_set_free`.
typedef struct mc_key_set {
    int64_t *keys;       // 0 marks a free place; the key 0 is kept apart
    size_t capacity;     // a power of two, or 0
    size_t count;
    bool has_zero;
} mc_key_set;

/// Adds a key; false where there is no memory.
bool mc_key_set_add(mc_key_set *set, int64_t key);

/// Whether the set has the key.
bool mc_key_set_contains(const mc_key_set *set, int64_t key);

void mc_key_set_free(mc_key_set *set);

#endif
