/// mc_base64.h: base64 as RFC 4648 has it in section 4: the standard alphabet, padded, nothing in between. Internal.
#ifndef MC_BASE64_H
#define MC_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Decodes into `out`, which has room for `length / 4 * 3` bytes and may be `text` itself. False where the text is not base64.
bool mc_base64_decode(const uint8_t *text, size_t length, uint8_t *out, size_t *out_length);

/// The length that `length` bytes take.
static inline size_t mc_base64_length(size_t length) { return (length + 2) / 3 * 4; }

/// Encodes into `out`, which has room for `mc_base64_length(length)` bytes.
void mc_base64_encode(const uint8_t *bytes, size_t length, uint8_t *out);

#endif
