#include "base/mc_byte_buffer.h"

#include "base/mc_memory.h"

mc_status mc_byte_buffer_grow(mc_byte_buffer *buffer, size_t more)
{
    if (more > buffer->maximum || buffer->length > buffer->maximum - more)
        return MC_ERROR_LIMIT;
    const size_t needed = buffer->length + more;
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
    while (capacity < needed)
        capacity = capacity > buffer->maximum / 2 ? buffer->maximum : capacity * 2;
    uint8_t *const bytes = mc_reallocate(buffer->bytes, capacity, 1);
    if (bytes == NULL)
        return MC_ERROR_NO_MEMORY;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return MC_OK;
}

void mc_byte_buffer_free(mc_byte_buffer *buffer)
{
    mc_free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = buffer->capacity = 0;
}
