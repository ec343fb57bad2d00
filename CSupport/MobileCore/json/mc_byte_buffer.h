/// mc_byte_buffer.h: bytes that grow up to a maximum. Internal.
///
/// A buffer is a plain struct that starts as `{.maximum = n}` and is given to `mc_byte_buffer_free` at the end. Growing doubles,
/// so that appending costs the same on average whatever the length.
#ifndef MC_BYTE_BUFFER_H
#define MC_BYTE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/mc_fail.h"

typedef struct mc_byte_buffer {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    size_t maximum;  ///< the longest that `length` may become
} mc_byte_buffer;

/// Makes room for `more` bytes behind `length`. Fails with MC_ERROR_LIMIT beyond `maximum`, MC_ERROR_NO_MEMORY.
mc_status mc_byte_buffer_reserve(mc_byte_buffer *buffer, size_t more);

/// Appends a copy of the bytes; fails as `mc_byte_buffer_reserve` does.
mc_status mc_byte_buffer_append(mc_byte_buffer *buffer, const void *bytes, size_t length);

/// Frees the bytes; the buffer is empty afterwards and may be used again.
void mc_byte_buffer_free(mc_byte_buffer *buffer);

#endif
