/// mc_base64.h: base64 (RFC 4648, section 4): the standard alphabet, padded, without blanks. Internal.
#ifndef MC_BASE64_H
#define MC_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes into `out`, which has room for `length / 4 * 3` bytes and may be `text` itself. Returns false if the text is not base64.
bool mc_base64_decode(const uint8_t *text, size_t length, uint8_t *out, size_t *out_length);

/// The characters of an incomplete group of four at the end of the parts so far. Starts with zeros.
typedef struct mc_base64_state {
    uint8_t kept[3];
    uint8_t count;
    bool is_padded;  ///< the last group has been seen
} mc_base64_state;

/// Returns the room that a part of `length` characters needs.
static inline size_t mc_base64_part_room(size_t length)
{
    return (length + 3) / 4 * 3;
}

/// Decodes the next part into `out`, which is other memory with room for `mc_base64_part_room(length)` bytes. Returns the number of
/// characters that can be base64: less than `length` if the next one cannot.
size_t mc_base64_decode_part(mc_base64_state *state, const uint8_t *text, size_t length, uint8_t *out, size_t *out_length);

/// Returns whether the parts so far are a whole text.
static inline bool mc_base64_is_complete(const mc_base64_state *state)
{
    return state->count == 0;
}

/// Returns the number of characters that `length` bytes take.
static inline size_t mc_base64_length(size_t length)
{
    return (length + 2) / 3 * 4;
}

/// Encodes into `out`, which has room for `mc_base64_length(length)` bytes.
void mc_base64_encode(const uint8_t *bytes, size_t length, uint8_t *out);

#endif
