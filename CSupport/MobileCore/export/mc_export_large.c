/// mc_export_large.c: large values in line.
#include "export/mc_export_large.h"

#include <inttypes.h>

#include "base/mc_memory.h"
#include "json/mc_base64.h"
#include "json/mc_json_append.h"

enum { PIECE = 12 * 1024 };  // bytes; a multiple of 3, so that only the last piece of base64 is padded

struct mc_export_large_value {
    mc_blob_reader *reader;
    int64_t id;
    bool is_text, has_begun;
    uint8_t piece[PIECE];
};

mc_status mc_export_large_open(mc_pool *pool, int64_t id, mc_export_large form, mc_export_large_value **out, mc_error *error)
{
    *out = NULL;
    mc_export_large_value *const value = mc_allocate(sizeof *value);
    if (value == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory for a large value");
    value->id = id;
    value->is_text = form == MC_EXPORT_LARGE_TEXT;
    value->has_begun = false;
    // The export is on a connection of this thread, in which the reads of its values nest.
    const mc_blob_reader_options options = {MC_OPTIONS(mc_blob_reader_options), .timeout_ns = MC_WAIT_FOREVER};
    mc_status status = mc_blob_reader_open(pool, id, &options, &value->reader, error);
    if (status == MC_OK && (mc_blob_reader_description(value->reader).unit == MC_BLOB_SCALARS) != value->is_text)
        status = mc_fail(error, MC_ERROR_TYPE, "export: large value %" PRId64 " is %s", id, value->is_text ? "no text" : "text, not bytes");
    if (status == MC_OK)
        *out = value;
    else
        mc_export_large_close(value);
    return status;
}

void mc_export_large_close(mc_export_large_value *value)
{
    if (value == NULL)
        return;
    mc_blob_reader_free(value->reader);
    mc_free(value);
}

/// Appends the piece as text, without quotes.
static mc_status append_piece(mc_export_large_value *value, size_t length, mc_byte_buffer *buffer, mc_error *error)
{
    size_t bad = 0;
    mc_status status;
    if (value->is_text) {
        status = mc_json_append_characters(buffer, (const char *)value->piece, length, &bad);
    } else {
        status = mc_byte_buffer_reserve(buffer, mc_base64_length(length));
        if (status == MC_OK) {
            mc_base64_encode(value->piece, length, buffer->bytes + buffer->length);
            buffer->length += mc_base64_length(length);
        }
    }
    if (status == MC_ERROR_CORRUPT)
        return mc_fail(error, status, "export: large value %" PRId64 " is not UTF-8", value->id);
    return status == MC_OK ? MC_OK : mc_fail(error, status, "export: no memory");
}

mc_status mc_export_large_append(mc_export_large_value *value, mc_byte_buffer *buffer, bool *at_end, mc_error *error)
{
    size_t length = 0;
    int64_t units = 0;
    *at_end = false;
    mc_status status = value->is_text
        ? mc_blob_reader_read_text(value->reader, INT64_MAX, (char *)value->piece, PIECE, &length, &units, error)
        : mc_blob_reader_read(value->reader, value->piece, PIECE, &length, error);
    if (status == MC_OK && !value->has_begun) {
        value->has_begun = true;
        status = mc_byte_buffer_append(buffer, "\"", 1);
        if (status != MC_OK)
            return mc_fail(error, status, "export: no memory");
    }
    if (status != MC_OK)
        return status;
    if (length > 0)
        return append_piece(value, length, buffer, error);
    *at_end = true;
    status = mc_byte_buffer_append(buffer, "\"", 1);
    return status == MC_OK ? MC_OK : mc_fail(error, status, "export: no memory");
}
