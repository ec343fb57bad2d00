/// mc_utf8_counter.h: checks UTF-8 in pieces and counts its scalars; finds borders of characters.
#ifndef MC_UTF8_COUNTER_H
#define MC_UTF8_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The unfinished character at the end of the last piece. Start with zeros; use a copy to test a piece.
typedef struct mc_utf8_counter {
    uint8_t begun[4];
    size_t count;
} mc_utf8_counter;

/// Checks the next piece. Adds to `*scalars` the number of characters that begin in it. False if it is not UTF-8: `*bad` is then the
/// offset in the piece of the first invalid byte.
bool mc_utf8_push(mc_utf8_counter *counter, const uint8_t *bytes, size_t length, int64_t *scalars, size_t *bad);

/// The number of characters that begin in `bytes`, which are a part of valid UTF-8.
int64_t mc_utf8_count(const uint8_t *bytes, size_t length);

/// The length of the longest prefix of whole characters, `max_scalars` of them at most; `bytes` begins with a character and is
/// a part of valid UTF-8. `*scalars` is their number.
size_t mc_utf8_prefix(const uint8_t *bytes, size_t length, int64_t max_scalars, int64_t *scalars);

#endif
