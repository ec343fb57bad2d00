/// mc_blob_writer.c: writes large values.
#include "mc_blob_writer.h"

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_lease.h"
#include "blobs/mc_blob_pool.h"
#include "blobs/mc_utf8_counter.h"

enum { BUFFER_WANTED = 512 * 1024 };

/// A writer. Its content so far is whole chunks in the database, then the buffer. A flush also stores the chunk at the buffer's end,
/// although it may grow; it then stays in the buffer and is stored again.
struct mc_blob_writer {
    mc_pool *pool;
    int64_t value;     ///< 0: not in the database yet
    int64_t owner;     ///< a random number of this writer, by which it knows its value
    bool holds_lease;  ///< from before the first part of the value until its end; a finished value's pin takes it over
    mc_blob_unit unit;
    int64_t announced;  ///< units; negative: unknown
    int64_t timeout_ns;
    size_t chunk_size;
    uint8_t *buffer;
    size_t capacity;  ///< whole chunks
    size_t buffered;
    int64_t stored;         ///< bytes in the database
    int64_t next_chunk;     ///< the chunk that the buffer begins with
    int64_t next_start;     ///< scalars before it
    bool is_tail_stored;    ///< whether the first chunk of the buffer has been stored by a flush
    size_t stored_of_tail;  ///< the number of its bytes that were stored
    int64_t bytes, units;   ///< taken so far
    mc_utf8_counter utf8;
    enum { STATE_OPEN, STATE_FINISHED, STATE_BROKEN } state;
    mc_error sink_failure;
};

mc_status mc_blob_writer_open(mc_pool *pool, const mc_blob_writer_options *options, mc_blob_writer **out, mc_error *error)
{
    mc_connection *connection = NULL;
    *out = NULL;
    mc_status status = MC_OPTIONS_CHECK(mc_blob_writer_options, options, error);
    if (status != MC_OK)
        return status;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .timeout_ns = options->timeout_ns};
    size_t chunk_size = options->chunk_size;
    if (chunk_size == 0) {
        status = mc_pool_checkout(pool, &checkout, &connection, error);
        if (status != MC_OK)
            return status;
        chunk_size = mc_blob_chunk_size(connection, options->unit);
        mc_pool_return(pool, connection);
    }
    if (chunk_size > INT32_MAX / 2)
        return mc_fail(error, MC_ERROR_MISUSE, "chunk size %zu: use up to %d bytes", chunk_size, INT32_MAX / 2);
    const size_t chunks = chunk_size < BUFFER_WANTED ? BUFFER_WANTED / chunk_size : 1;
    mc_blob_writer *writer = mc_allocate(sizeof *writer);
    uint8_t *buffer = mc_allocate(chunks * chunk_size);
    if (writer == NULL || buffer == NULL) {
        mc_free(writer);
        mc_free(buffer);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to write a large value");
    }
    int64_t owner;
    sqlite3_randomness(sizeof owner, &owner);
    *writer = (mc_blob_writer){
        .pool = pool,
        .owner = owner,
        .unit = options->unit,
        .announced = options->length == MC_BLOB_EMPTY ? 0
            : options->length > 0                     ? options->length
                                                      : -1,
        .timeout_ns = options->timeout_ns,
        .chunk_size = chunk_size,
        .buffer = buffer,
        .capacity = chunks * chunk_size,
    };
    *out = writer;
    return MC_OK;
}

/// Checks that the value is there with all parts: the caller's transaction may have been rolled back since, with the parts written in it.
static mc_status check_value(mc_blob_writer *writer, mc_connection *connection, mc_error *error)
{
    static const char sql[] = "SELECT 1 FROM \"_mc_value\" WHERE \"id\" = ? AND \"state\" = 0 AND \"bytes\" = ? AND \"length\" = ?";
    const int64_t values[] = {writer->value, writer->owner, writer->stored};
    bool found = false;
    int64_t one = 0;
    const mc_status status = mc_blob_find(connection, sql, values, 3, &one, &found, error);
    if (status != MC_OK || found)
        return status;
    return mc_fail(error, MC_ERROR_NOT_FOUND, "large value %" PRId64 ": what was written so far has been rolled back or dropped",
                   writer->value);
}

/// Stores bytes as chunks from `next_chunk` on. Only the last chunk may be short. `*start` is the number of scalars before the first
/// chunk, afterwards the number before the first byte after the whole chunks.
static mc_status store_chunks(mc_blob_writer *writer, mc_connection *connection, const uint8_t *bytes, size_t length, int64_t *start,
                              mc_error *error)
{
    int64_t number = writer->next_chunk;
    mc_status status = writer->value == 0
        ? mc_blob_insert_value(connection, writer->unit, writer->chunk_size, writer->owner, &writer->value, error)
        : check_value(writer, connection, error);
    for (size_t at = 0; at < length && status == MC_OK; number++) {
        const size_t size = length - at < writer->chunk_size ? length - at : writer->chunk_size;
        const mc_blob_chunk chunk = {.value = writer->value,
                                     .unit = writer->unit,
                                     .number = number,
                                     .start = *start,
                                     .bytes = bytes + at,
                                     .length = size,
                                     .replaces = at == 0 && writer->is_tail_stored};
        status = mc_blob_store_chunk(connection, &chunk, error);
        if (writer->unit == MC_BLOB_SCALARS && size == writer->chunk_size)
            *start += mc_utf8_count(bytes + at, size);
        at += size;
    }
    return status;
}

/// Stores a part of the value, and notes how much of it is there.
static mc_status store_part(mc_blob_writer *writer, mc_connection *connection, const uint8_t *bytes, size_t length, int64_t *start,
                            mc_error *error)
{
    const mc_status status = store_chunks(writer, connection, bytes, length, start, error);
    const int64_t values[] = {writer->next_chunk * (int64_t)writer->chunk_size + (int64_t)length, writer->value};
    if (status != MC_OK)
        return status;
    return mc_blob_run(connection, "UPDATE \"_mc_value\" SET \"length\" = ? WHERE \"id\" = ?", values, 2, NULL, error);
}

static mc_status take_lease(mc_blob_writer *writer, mc_error *error)
{
    const mc_status status = writer->holds_lease ? MC_OK : mc_blob_lease_take(writer->pool, error);
    writer->holds_lease = status == MC_OK;
    return status;
}

/// Stores the bytes in one short transaction. The next buffer begins after the whole chunks. On failure no part of them is in the
/// database, and the writer is broken: the bytes taken so far are lost.
static mc_status store(mc_blob_writer *writer, const uint8_t *bytes, size_t length, mc_error *error)
{
    const int64_t known = writer->value;
    int64_t start = writer->next_start;
    mc_short_write write;
    mc_status status = take_lease(writer, error);
    if (status == MC_OK)
        status = mc_short_write_begin(writer->pool, "write of a large value", writer->timeout_ns, &write, error);
    if (status == MC_OK) {
        mc_short_write_postpone_checkpoint(&write);
        status = mc_short_write_end(&write, store_part(writer, write.connection, bytes, length, &start, error), error);
    }
    if (status != MC_OK) {
        writer->value = known;
        writer->state = STATE_BROKEN;
        return status;
    }
    writer->stored = writer->next_chunk * (int64_t)writer->chunk_size + (int64_t)length;
    writer->next_chunk += (int64_t)(length / writer->chunk_size);
    writer->next_start = start;
    writer->is_tail_stored = false;
    return MC_OK;
}

static mc_status check_open(const mc_blob_writer *writer, mc_error *error)
{
    if (writer->state == STATE_OPEN)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE,
                   writer->state == STATE_FINISHED ? "the large value is finished: nothing can be added to it"
                                                   : "an earlier write of the large value failed: it can only be dropped");
}

/// Whether the piece may be taken; `*units` is its number of units, `*utf8` the state after it.
static mc_status check_piece(const mc_blob_writer *writer, const uint8_t *bytes, size_t length, int64_t *units, mc_utf8_counter *utf8,
                             mc_error *error)
{
    size_t bad = 0;
    *utf8 = writer->utf8;
    *units = (int64_t)length;
    if (writer->unit == MC_BLOB_SCALARS) {
        *units = 0;
        if (!mc_utf8_push(utf8, bytes, length, units, &bad))
            return mc_fail_at(error, MC_ERROR_TYPE, writer->bytes + (int64_t)bad, 0, "large text, byte %" PRId64 ": not UTF-8",
                              writer->bytes + (int64_t)bad);
    }
    if (writer->announced >= 0 && *units > writer->announced - writer->units)
        return mc_fail(error, MC_ERROR_OVER_LENGTH,
                       "large value: %" PRId64 " %s announced, %" PRId64 " written, %" PRId64 " more are too many", writer->announced,
                       writer->unit == MC_BLOB_SCALARS ? "characters" : "bytes", writer->units, *units);
    return MC_OK;
}

/// Takes bytes that have been checked: whole buffers are stored without a copy, the rest is copied.
static mc_status take(mc_blob_writer *writer, const uint8_t *bytes, size_t length, mc_error *error)
{
    mc_status status = MC_OK;
    while (length > 0 && status == MC_OK) {
        size_t size = writer->capacity - writer->buffered;
        if (size > length)
            size = length;
        if (writer->buffered == 0 && size == writer->capacity) {
            status = store(writer, bytes, size, error);
        } else {
            memcpy(writer->buffer + writer->buffered, bytes, size);
            writer->buffered += size;
            if (writer->buffered == writer->capacity) {
                status = store(writer, writer->buffer, writer->capacity, error);
                writer->buffered = 0;
            }
        }
        bytes += size;
        length -= size;
    }
    return status;
}

mc_status mc_blob_writer_write(mc_blob_writer *writer, const void *bytes, size_t length, mc_error *error)
{
    int64_t units = 0;
    mc_utf8_counter utf8;
    mc_status status = check_open(writer, error);
    if (status != MC_OK || length == 0)
        return status;
    status = check_piece(writer, bytes, length, &units, &utf8, error);
    if (status != MC_OK)
        return status;
    status = take(writer, bytes, length, error);
    if (status != MC_OK)
        return status;
    writer->utf8 = utf8;
    writer->bytes += (int64_t)length;
    writer->units += units;
    return MC_OK;
}

mc_status mc_blob_writer_write_at(mc_blob_writer *writer, int64_t position, const void *bytes, size_t length, mc_error *error)
{
    if (position != writer->units)
        return mc_fail(error, MC_ERROR_APPEND_ONLY, "large value: a write at %" PRId64 ", but it can only grow at its end, %" PRId64,
                       position, writer->units);
    return mc_blob_writer_write(writer, bytes, length, error);
}

bool mc_blob_writer_sink(void *context, const void *bytes, size_t length)
{
    mc_blob_writer *writer = context;
    if (writer->sink_failure.code != MC_OK)
        return false;
    return mc_blob_writer_write(writer, bytes, length, &writer->sink_failure) == MC_OK;
}

const mc_error *mc_blob_writer_failure(const mc_blob_writer *writer)
{
    return &writer->sink_failure;
}

mc_status mc_blob_writer_flush(mc_blob_writer *writer, mc_error *error)
{
    mc_status status = check_open(writer, error);
    if (status != MC_OK || writer->buffered == 0 || (writer->is_tail_stored && writer->stored_of_tail == writer->buffered))
        return status;
    status = store(writer, writer->buffer, writer->buffered, error);
    if (status != MC_OK)
        return status;
    const size_t tail = writer->buffered % writer->chunk_size;
    memmove(writer->buffer, writer->buffer + (writer->buffered - tail), tail);
    writer->buffered = tail;
    writer->is_tail_stored = tail > 0;
    writer->stored_of_tail = tail;
    return MC_OK;
}

static mc_status check_complete(const mc_blob_writer *writer, mc_error *error)
{
    if (writer->utf8.count > 0)
        return mc_fail_at(error, MC_ERROR_TYPE, writer->bytes, 0, "large text, byte %" PRId64 ": it ends within a character",
                          writer->bytes);
    if (writer->announced >= 0 && writer->units < writer->announced)
        return mc_fail(error, MC_ERROR_TRUNCATED, "large value: %" PRId64 " %s announced, only %" PRId64 " written", writer->announced,
                       writer->unit == MC_BLOB_SCALARS ? "characters" : "bytes", writer->units);
    return MC_OK;
}

static mc_status complete_value(mc_blob_writer *writer, mc_connection *connection, mc_error *error)
{
    int64_t start = writer->next_start;
    const mc_status status = store_chunks(writer, connection, writer->buffer, writer->buffered, &start, error);
    if (status != MC_OK)
        return status;
    return mc_blob_complete_value(connection, writer->value, writer->units, writer->bytes, error);
}

mc_status mc_blob_writer_finish(mc_blob_writer *writer, int64_t *value, mc_error *error)
{
    const int64_t known = writer->value;
    bool is_pinned = false;
    mc_short_write write;
    mc_status status = check_open(writer, error);
    if (status == MC_OK)
        status = check_complete(writer, error);
    if (status != MC_OK)
        return status;
    status = take_lease(writer, error);
    if (status == MC_OK)
        status = mc_short_write_begin(writer->pool, "write of a large value", writer->timeout_ns, &write, error);
    if (status == MC_OK) {
        status = complete_value(writer, write.connection, error);
        if (status == MC_OK) {  // before the commit: after it, a sweep may take the value for unreferenced
            status = mc_blob_pin_leased(writer->pool, writer->value, error);
            is_pinned = status == MC_OK;
        }
        status = mc_short_write_end(&write, status, error);
    }
    if (is_pinned)
        writer->holds_lease = false;
    if (status != MC_OK && is_pinned)
        mc_blob_unpin(writer->pool, writer->value);
    if (status != MC_OK) {
        writer->value = known;
        writer->state = STATE_BROKEN;
        return status;
    }
    writer->state = STATE_FINISHED;
    *value = writer->value;
    return MC_OK;
}

int64_t mc_blob_writer_length(const mc_blob_writer *writer)
{
    return writer->units;
}

int64_t mc_blob_writer_bytes(const mc_blob_writer *writer)
{
    return writer->bytes;
}

void mc_blob_writer_free(mc_blob_writer *writer)
{
    mc_short_write write;
    if (writer == NULL)
        return;
    if (writer->state != STATE_FINISHED && writer->value != 0
        && mc_short_write_begin(writer->pool, "drop of a large value", 0, &write, NULL) == MC_OK)
        (void)mc_short_write_end(&write, mc_blob_drop_unfinished(write.connection, writer->value, writer->owner, NULL), NULL);
    if (writer->holds_lease)
        mc_blob_lease_end(writer->pool);
    mc_free(writer->buffer);
    mc_free(writer);
}
