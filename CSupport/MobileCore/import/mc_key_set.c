#include "import/mc_key_set.h"

#include <string.h>

#include "base/mc_memory.h"

/// The place of the key, or the free place where it belongs.
static size_t find(const int64_t *keys, size_t capacity, int64_t key)
{
    // Multiplication by the golden ratio spreads consecutive keys. The keys come from the server, which could make only its own
    // import slow by colliding keys.
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
    if (set->integer_count * 2 >= set->capacity && !grow(set))
        return false;
    int64_t *const place = &set->keys[find(set->keys, set->capacity, key)];
    set->integer_count += *place == 0;
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

/// FNV-1a. As with integers, colliding keys can slow down only the server's own import.
static size_t hash_text(const uint8_t *text, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t index = 0; index < length; index++)
        hash = (hash ^ text[index]) * UINT64_C(0x100000001B3);
    return (size_t)(hash ^ hash >> 32);
}

/// The key that begins at `start` in `bytes`.
static const uint8_t *stored_text(const mc_key_set *set, uint32_t start, size_t *length)
{
    uint32_t stored;
    memcpy(&stored, set->bytes.bytes + start, sizeof stored);
    *length = stored;
    return set->bytes.bytes + start + sizeof stored;
}

/// The place of the key, or the free place where it belongs.
static size_t find_text(const mc_key_set *set, const uint32_t *texts, size_t capacity, const uint8_t *text, size_t length)
{
    size_t place = hash_text(text, length) & (capacity - 1);
    for (; texts[place] != 0; place = (place + 1) & (capacity - 1)) {
        size_t stored_length;
        const uint8_t *const stored = stored_text(set, texts[place] - 1, &stored_length);
        if (stored_length == length && memcmp(stored, text, length) == 0)
            break;
    }
    return place;
}

static bool grow_texts(mc_key_set *set)
{
    const size_t capacity = set->text_capacity == 0 ? 64 : set->text_capacity * 2;
    uint32_t *const texts = mc_allocate_zeroed(capacity, sizeof *texts);
    if (texts == NULL)
        return false;
    for (size_t place = 0; place < set->text_capacity; place++) {
        if (set->texts[place] == 0)
            continue;
        size_t length;
        const uint8_t *const text = stored_text(set, set->texts[place] - 1, &length);
        texts[find_text(set, texts, capacity, text, length)] = set->texts[place];
    }
    mc_free(set->texts);
    set->texts = texts;
    set->text_capacity = capacity;
    return true;
}

bool mc_key_set_add_text(mc_key_set *set, const uint8_t *text, size_t length)
{
    if (set->text_count * 2 >= set->text_capacity && !grow_texts(set))
        return false;
    uint32_t *const place = &set->texts[find_text(set, set->texts, set->text_capacity, text, length)];
    if (*place != 0)
        return true;
    const uint32_t start = (uint32_t)set->bytes.length, stored = (uint32_t)length;
    set->bytes.maximum = INT32_MAX;
    if (mc_byte_buffer_reserve(&set->bytes, sizeof stored + length) != MC_OK)
        return false;
    (void)mc_byte_buffer_append(&set->bytes, &stored, sizeof stored);
    (void)mc_byte_buffer_append(&set->bytes, text, length);
    *place = start + 1;
    set->text_count++;
    set->count++;
    return true;
}

bool mc_key_set_contains_text(const mc_key_set *set, const uint8_t *text, size_t length)
{
    return set->text_capacity > 0 && set->texts[find_text(set, set->texts, set->text_capacity, text, length)] != 0;
}

/// Whether the text is the only decimal form of an integer.
static bool text_integer(const char *text, size_t length, int64_t *integer)
{
    const bool negative = length > 0 && text[0] == '-';
    const size_t first = negative ? 1 : 0;
    uint64_t value = 0;
    if (length == first || length - first > 19 || (text[first] == '0' && (negative || length > 1)))
        return false;
    for (size_t index = first; index < length; index++) {
        if (text[index] < '0' || text[index] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[index] - '0');  // 19 digits cannot overflow
    }
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    *integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool mc_key_integer(const mc_value *value, int64_t *integer)
{
    switch (value->kind) {
    case MC_VALUE_INTEGER: *integer = value->value.integer; return true;
    case MC_VALUE_REAL:
        // Within these limits every integer has an exact double.
        if (!(value->value.real > -9007199254740992.0 && value->value.real < 9007199254740992.0))
            return false;
        *integer = (int64_t)value->value.real;
        return (double)*integer == value->value.real;
    case MC_VALUE_TEXT: return text_integer(value->value.bytes, value->length, integer);
    default: return false;
    }
}

bool mc_key_text_append(mc_byte_buffer *text, const mc_value *value)
{
    // Kind, length and bytes: two different keys of several columns never have the same text.
    uint8_t head[1 + sizeof value->length] = {value->kind};
    const void *bytes = value->value.bytes;
    uint32_t length = value->length;
    int64_t integer;
    if (mc_key_integer(value, &integer)) {
        head[0] = MC_VALUE_INTEGER;
        bytes = &integer;
        length = sizeof integer;
    } else if (value->kind == MC_VALUE_REAL) {
        bytes = &value->value.real;
        length = sizeof value->value.real;
    } else if (value->kind == MC_VALUE_NULL) {
        length = 0;
    }
    memcpy(head + 1, &length, sizeof length);
    return mc_byte_buffer_append(text, head, sizeof head) == MC_OK && mc_byte_buffer_append(text, bytes, length) == MC_OK;
}

void mc_key_set_free(mc_key_set *set)
{
    mc_free(set->keys);
    mc_free(set->texts);
    mc_byte_buffer_free(&set->bytes);
    *set = (mc_key_set){0};
}
