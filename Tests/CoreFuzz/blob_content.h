/// blob_content.h: the content of large values that `blob_operations.c` writes and expects. It depends only on the position, so that the
/// model of a value is its unit and its length.
#ifndef BLOB_CONTENT_H
#define BLOB_CONTENT_H

#include <MobileCore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The content of every text: repeated characters of one to four bytes, so that the expected bytes follow from the position.
static const char cycle[] = "abc\xC3\xBC"
                            "d\xE2\x82\xAC\xF0\x9F\x98\x80 and plain words, \xE6\xBC\xA2\xE5\xAD\x97.";
enum { CYCLE = sizeof cycle - 1 };

typedef struct content {
    mc_blob_unit unit;
    int64_t bytes;
    uint8_t seed;  // of the content, if it is bytes
} content;

static inline void fill(const content *content, int64_t byte, uint8_t *out, size_t length)
{
    for (size_t index = 0; index < length; index++) {
        const uint64_t at = (uint64_t)byte + index;
        out[index] = content->unit == MC_BLOB_SCALARS ? (uint8_t)cycle[at % CYCLE] : (uint8_t)(content->seed + at * 7 + (at >> 8));
    }
}

static inline bool equals(const content *content, int64_t byte, const uint8_t *bytes, size_t length)
{
    for (size_t index = 0; index < length; index++) {
        uint8_t expected;
        fill(content, byte + (int64_t)index, &expected, 1);
        if (bytes[index] != expected)
            return false;
    }
    return true;
}

static inline int64_t scalars(const content *content, int64_t bytes)
{
    if (content->unit == MC_BLOB_BYTES)
        return bytes;
    int64_t per_cycle = 0, rest = 0;
    for (int index = 0; index < CYCLE; index++) {
        const int is_lead = ((uint8_t)cycle[index] & 0xC0) != 0x80;
        per_cycle += is_lead;
        rest += index < bytes % CYCLE ? is_lead : 0;
    }
    return bytes / CYCLE * per_cycle + rest;
}

/// The offset of the character with this number.
static inline int64_t byte_of(const content *content, int64_t unit)
{
    if (content->unit == MC_BLOB_BYTES)
        return unit;
    const int64_t per_cycle = scalars(content, CYCLE);
    int64_t byte = unit / per_cycle * CYCLE;
    for (int64_t left = unit % per_cycle; left > 0 || ((uint8_t)cycle[byte % CYCLE] & 0xC0) == 0x80; byte++)
        left -= ((uint8_t)cycle[(byte + 1) % CYCLE] & 0xC0) != 0x80;
    return byte;
}

static inline bool ends_within_character(const content *content, int64_t bytes)
{
    return content->unit == MC_BLOB_SCALARS && ((uint8_t)cycle[bytes % CYCLE] & 0xC0) == 0x80;
}

#endif
