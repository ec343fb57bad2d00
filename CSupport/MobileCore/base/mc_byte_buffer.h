/// mc_byte_buffer.h: bytes that grow up to a maximum. Internal.
///
/// A buffer is a plain struct that starts as `{.maximum = n}` and is given to `mc_byte_buffer_free` at the end. Its capacity doubles,
/// so that appending a byte costs the same on average at any length.
#ifndef MC_BYTE_BUFFER_H
#define MC_BYTE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mc_fail.h"

typedef struct mc_byte_buffer {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
    size_t maximum;  ///< the largest value of `length`
} mc_byte_buffer;

/// The slow half of `mc_byte_buffer_reserve`.
mc_status mc_byte_buffer_grow(mc_byte_buffer *buffer, size_t more);

/// Makes room for `more` bytes after `length`. Fails with MC_ERROR_LIMIT beyond `maximum`, MC_ERROR_NO_MEMORY.
static inline mc_status mc_byte_buffer_reserve(mc_byte_buffer *buffer, size_t more)
{
    return buffer->capacity - buffer->length >= more ? MC_OK : mc_byte_buffer_grow(buffer, more);
}

/// Appends a copy of the bytes; fails as `mc_byte_buffer_reserve` does. Inline because most pieces are a bracket or a comma.
static inline mc_status mc_byte_buffer_append(mc_byte_buffer *buffer, const void *bytes, size_t length)
{
    const mc_status status = mc_byte_buffer_reserve(buffer, length);
    if (status == MC_OK && length > 0) {
        memcpy(buffer->bytes + buffer->length, bytes, length);
        buffer->length += length;
    }
    return status;
}

/// Frees the bytes; the buffer is empty afterwards and may be used again.
void mc_byte_buffer_free(mc_byte_buffer *buffer);

#endif
