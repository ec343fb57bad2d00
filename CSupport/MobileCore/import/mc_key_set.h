/// mc_key_set.h: a set of keys: integers, and keys of other types or of several columns as text. Internal.
#ifndef MC_KEY_SET_H
#define MC_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mc_byte_buffer.h"
#include "mc_value.h"

/// A set of keys: open addressing in tables that are at most half full. Starts as a zeroed struct, ends with `mc_key_set_free`.
typedef struct mc_key_set {
    int64_t *keys;         // 0 marks a free place; the key 0 is kept apart
    size_t capacity;       // a power of two, or 0
    size_t count;          // of both kinds
    size_t integer_count;  // without the key 0
    bool has_zero;
    uint32_t *texts;       // the offset of a key in `bytes`, + 1; 0 marks a free place
    size_t text_capacity;  // a power of two, or 0
    size_t text_count;
    mc_byte_buffer bytes;  // length and bytes of each
} mc_key_set;

/// Adds a key; false without memory.
bool mc_key_set_add(mc_key_set *set, int64_t key);
bool mc_key_set_add_text(mc_key_set *set, const uint8_t *text, size_t length);

/// Whether the set has the key.
bool mc_key_set_contains(const mc_key_set *set, int64_t key);
bool mc_key_set_contains_text(const mc_key_set *set, const uint8_t *text, size_t length);

/// The integer of a value, also after a conversion by a column of numbers: 5, 5.0 and "5". SQLite converts keys by the types of their
/// columns, so they are compared after a possible conversion.
bool mc_key_integer(const mc_value *value, int64_t *integer);

/// Appends a value to a key that is text; false without memory.
bool mc_key_text_append(mc_byte_buffer *text, const mc_value *value);

void mc_key_set_free(mc_key_set *set);

#endif
