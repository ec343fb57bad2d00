/// mc_row_hash.h: the keyed hash of a sequence of values. Internal.
///
/// SipHash-1-3 over words of 8 bytes. Each value is a word with its storage class and length, followed by its content; the last word of a
/// content is filled up with zeros. So different sequences of values are different sequences of words.
#ifndef MC_ROW_HASH_H
#define MC_ROW_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct mc_row_hash {
    uint64_t v0, v1, v2, v3;
} mc_row_hash;

static inline uint64_t mc_row_hash_rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void mc_row_hash_round(mc_row_hash *hash)
{
    hash->v0 += hash->v1;
    hash->v2 += hash->v3;
    hash->v1 = mc_row_hash_rotate(hash->v1, 13) ^ hash->v0;
    hash->v3 = mc_row_hash_rotate(hash->v3, 16) ^ hash->v2;
    hash->v0 = mc_row_hash_rotate(hash->v0, 32) + hash->v3;
    hash->v2 += hash->v1;
    hash->v3 = mc_row_hash_rotate(hash->v3, 21) ^ hash->v0;
    hash->v1 = mc_row_hash_rotate(hash->v1, 17) ^ hash->v2;
    hash->v2 = mc_row_hash_rotate(hash->v2, 32);
}

/// Begins a hash. `seed`: 16 bytes.
static inline mc_row_hash mc_row_hash_begin(const uint8_t *seed)
{
    uint64_t first, second;
    memcpy(&first, seed, sizeof first);
    memcpy(&second, seed + sizeof first, sizeof second);
    return (mc_row_hash){first ^ UINT64_C(0x736f6d6570736575), second ^ UINT64_C(0x646f72616e646f6d), first ^ UINT64_C(0x6c7967656e657261),
                         second ^ UINT64_C(0x7465646279746573)};
}

static inline void mc_row_hash_word(mc_row_hash *hash, uint64_t word)
{
    hash->v3 ^= word;
    mc_row_hash_round(hash);
    hash->v0 ^= word;
}

static inline void mc_row_hash_bytes(mc_row_hash *hash, const void *bytes, size_t length)
{
    const uint8_t *next = bytes;
    uint64_t word;
    for (; length >= sizeof word; next += sizeof word, length -= sizeof word) {
        memcpy(&word, next, sizeof word);
        mc_row_hash_word(hash, word);
    }
    if (length > 0) {
        word = 0;
        memcpy(&word, next, length);
        mc_row_hash_word(hash, word);
    }
}

/// The hash of what was added so far; more can be added afterwards.
static inline uint64_t mc_row_hash_end(const mc_row_hash *hash)
{
    mc_row_hash end = *hash;
    end.v2 ^= 0xff;
    mc_row_hash_round(&end);
    mc_row_hash_round(&end);
    mc_row_hash_round(&end);
    return end.v0 ^ end.v1 ^ end.v2 ^ end.v3;
}

#endif
