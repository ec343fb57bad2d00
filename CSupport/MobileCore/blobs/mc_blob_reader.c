/// mc_blob_reader.c: reads large values.
#include "mc_blob_reader.h"

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_window.h"
#include "blobs/mc_utf8_counter.h"

struct mc_blob_reader {
    mc_pool *pool;
    int64_t value;
    mc_blob_description description;
    int64_t byte;  ///< the position
    int64_t unit;  ///< the same in units
    mc_blob_window window;
    mc_error source_failure;
};

mc_status mc_blob_reader_open(mc_pool *pool, int64_t value, const mc_blob_reader_options *options, mc_blob_reader **out, mc_error *error)
{
    static const mc_blob_reader_options defaults = {MC_OPTIONS(mc_blob_reader_options)};
    mc_connection *connection = NULL;
    mc_blob_description description;
    *out = NULL;
    if (options == NULL)
        options = &defaults;
    mc_status status = MC_OPTIONS_CHECK(mc_blob_reader_options, options, error);
    if (status != MC_OK)
        return status;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .timeout_ns = options->timeout_ns, .ticket = options->ticket,
                                  .label = "read of a large value"};
    status = mc_blob_pin(pool, value, error);  // before the look-up: see mc_blob_removal.c
    if (status != MC_OK)
        return status;
    mc_blob_reader *reader = mc_allocate(sizeof *reader);
    if (reader == NULL)
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to read large value %" PRId64, value);
    if (status == MC_OK)
        status = mc_pool_checkout(pool, &checkout, &connection, error);
    if (status == MC_OK) {
        status = mc_blob_describe(connection, value, &description, error);
        mc_pool_return(pool, connection);
    }
    if (status != MC_OK) {
        mc_free(reader);
        mc_blob_unpin(pool, value);
        return status;
    }
    *reader = (mc_blob_reader){
        .pool = pool,
        .value = value,
        .description = description,
        .window =
            {.pool = pool, .value = value, .value_bytes = description.bytes, .chunk_size = description.chunk_size, .checkout = checkout},
    };
    *out = reader;
    return MC_OK;
}

mc_blob_description mc_blob_reader_description(const mc_blob_reader *reader)
{
    return reader->description;
}

int64_t mc_blob_reader_position(const mc_blob_reader *reader)
{
    return reader->unit;
}

void mc_blob_reader_free(mc_blob_reader *reader)
{
    if (reader == NULL)
        return;
    mc_blob_unpin(reader->pool, reader->value);
    mc_blob_window_free(&reader->window);
    mc_free(reader);
}

mc_status mc_blob_reader_read(mc_blob_reader *reader, void *buffer, size_t capacity, size_t *length, mc_error *error)
{
    const int64_t left = reader->description.bytes - reader->byte;
    const size_t size = (uint64_t)left < capacity ? (size_t)left : capacity;
    *length = 0;
    const mc_status status = mc_blob_window_read(&reader->window, reader->byte, buffer, size, error);
    if (status != MC_OK)
        return status;
    reader->byte += (int64_t)size;
    reader->unit += reader->description.unit == MC_BLOB_SCALARS ? mc_utf8_count(buffer, size) : (int64_t)size;
    *length = size;
    return MC_OK;
}

size_t mc_blob_reader_source(void *context, void *buffer, size_t capacity)
{
    mc_blob_reader *reader = context;
    size_t length = 0;
    return mc_blob_reader_read(reader, buffer, capacity, &length, &reader->source_failure) == MC_OK ? length : SIZE_MAX;
}

const mc_error *mc_blob_reader_failure(const mc_blob_reader *reader)
{
    return &reader->source_failure;
}

/// Reads as many bytes as fit, and drops an incomplete character at their end: for requests that are limited by the buffer only.
static mc_status read_whole_characters(mc_blob_reader *reader, char *buffer, size_t capacity, size_t *length, int64_t *units,
                                       mc_error *error)
{
    const int64_t left = reader->description.bytes - reader->byte;
    const size_t size = (uint64_t)left < capacity ? (size_t)left : capacity;
    const mc_status status = mc_blob_window_read(&reader->window, reader->byte, (uint8_t *)buffer, size, error);
    if (status != MC_OK)
        return status;
    *length = mc_utf8_prefix((const uint8_t *)buffer, size, INT64_MAX, units);
    reader->byte += (int64_t)*length;
    reader->unit += *units;
    return MC_OK;
}

mc_status mc_blob_reader_read_text(mc_blob_reader *reader, int64_t max_units, char *buffer, size_t capacity, size_t *length, int64_t *units,
                                   mc_error *error)
{
    const int64_t first_byte = reader->byte, first_unit = reader->unit;
    *length = 0;
    *units = 0;
    if (reader->description.unit != MC_BLOB_SCALARS)
        return mc_fail(error, MC_ERROR_MISUSE, "large value %" PRId64 ": its content is bytes, not text", reader->value);
    if (capacity < 4)
        return mc_fail(error, MC_ERROR_MISUSE, "a buffer of %zu bytes: use at least 4, which hold any character", capacity);
    if (max_units >= 0 && (uint64_t)max_units >= capacity)
        return read_whole_characters(reader, buffer, capacity, length, units, error);
    while (*units < max_units && reader->byte < reader->description.bytes) {
        size_t available = 0;
        int64_t count = 0;
        const mc_status status = mc_blob_window_fill(&reader->window, reader->byte, 4, error);
        if (status != MC_OK) {
            reader->byte = first_byte;
            reader->unit = first_unit;
            *length = 0;
            *units = 0;
            return status;
        }
        const uint8_t *bytes = mc_blob_window_content(&reader->window, reader->byte, &available);
        if (available > capacity - *length)
            available = capacity - *length;
        const size_t size = mc_utf8_prefix(bytes, available, max_units - *units, &count);
        if (size == 0)
            break;  // the next character does not fit
        memcpy(buffer + *length, bytes, size);
        *length += size;
        *units += count;
        reader->byte += (int64_t)size;
        reader->unit += count;
    }
    return MC_OK;
}

/// Finds the number of scalars before a chunk.
static mc_status start_of_chunk(const mc_blob_reader *reader, mc_connection *connection, int64_t number, int64_t *start, mc_error *error)
{
    const int64_t key = mc_chunk_key(reader->value, number);
    bool found = false;
    const mc_status status =
        mc_blob_find(connection, "SELECT \"start\" FROM \"_mc_chunk\" WHERE \"id\" = ?", &key, 1, start, &found, error);
    if (status == MC_OK && !found)
        return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": chunk %" PRId64 " is missing", reader->value, number);
    return status;
}

/// Finds the last chunk with at most `position` scalars before it, and their number.
static mc_status find_chunk(const mc_blob_reader *reader, mc_connection *connection, int64_t position, int64_t *number, int64_t *start,
                            mc_error *error)
{
    int64_t low = 0, high = (reader->description.bytes - 1) / reader->description.chunk_size;
    *start = 0;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        int64_t before = 0;
        const mc_status status = start_of_chunk(reader, connection, middle, &before, error);
        if (status != MC_OK)
            return status;
        if (before <= position) {
            low = middle;
            *start = before;
        } else {
            high = middle - 1;
        }
    }
    *number = low;
    return MC_OK;
}

/// Advances from the first byte of a chunk, which may be within a character, to a character that begins in it.
static mc_status skip_scalars(mc_blob_reader *reader, int64_t byte, int64_t scalars, int64_t *found, mc_error *error)
{
    bool is_start = true;
    while (byte < reader->description.bytes) {
        size_t length = 0;
        int64_t count = 0;
        const mc_status status = mc_blob_window_fill(&reader->window, byte, 4, error);
        if (status != MC_OK)
            return status;
        const uint8_t *bytes = mc_blob_window_content(&reader->window, byte, &length);
        size_t skipped = 0;
        while (is_start && skipped < length && (bytes[skipped] & 0xC0) == 0x80)
            skipped++;
        is_start = false;
        const size_t size = mc_utf8_prefix(bytes + skipped, length - skipped, scalars, &count);
        byte += (int64_t)(skipped + size);
        scalars -= count;
        if (scalars == 0) {
            *found = byte;
            return MC_OK;
        }
        if (size == 0)
            return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ", byte %" PRId64 ": not UTF-8", reader->value, byte);
    }
    return mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": it has fewer characters than were counted", reader->value);
}

static mc_status seek_scalar(mc_blob_reader *reader, int64_t position, int64_t *byte, mc_error *error)
{
    mc_connection *connection = NULL;
    int64_t number = 0, start = 0;
    mc_status status = mc_pool_checkout(reader->pool, &reader->window.checkout, &connection, error);
    if (status != MC_OK)
        return status;
    status = find_chunk(reader, connection, position, &number, &start, error);
    mc_pool_return(reader->pool, connection);
    if (status != MC_OK)
        return status;
    return skip_scalars(reader, number * reader->description.chunk_size, position - start, byte, error);
}

mc_status mc_blob_reader_seek(mc_blob_reader *reader, int64_t position, mc_error *error)
{
    const int64_t length = reader->description.length;
    int64_t byte = position;
    mc_status status = MC_OK;
    if (position < 0 || position > length)
        return mc_fail(error, MC_ERROR_MISUSE, "large value %" PRId64 ": position %" PRId64 ", use 0 to %" PRId64, reader->value, position,
                       length);
    if (position == length)
        byte = reader->description.bytes;
    else if (reader->description.unit == MC_BLOB_SCALARS)
        status = seek_scalar(reader, position, &byte, error);
    if (status != MC_OK)
        return status;
    reader->byte = byte;
    reader->unit = position;
    return MC_OK;
}
