/// mc_json_writer.c: JSON text, value by value.
#include "json/mc_json_writer_internal.h"

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "json/mc_json_append.h"

enum {
    DEPTH_DEFAULT = 64,
    SINK_BYTES = 32 * 1024,  // collected up to this number of bytes before they are handed to the sink
    SLACK = 16 * 1024,       // strings are appended in pieces, with room for possible escapes
};
static const size_t MAXIMUM_DEFAULT = 1000 * 1000 * 1000;

struct mc_json_writer {
    mc_json_sink sink;
    void *context;
    mc_byte_buffer text;  // with a sink: the text that it has not yet received
    size_t maximum, handed_over;
    unsigned depth, depth_maximum;
    uint64_t objects[MC_JSON_DEPTH_LIMIT / 64];  // one bit per open level: it is an object
    bool has_value;                              // the innermost level has a value, or there is a root
    bool has_key;                                // the next value has its key
    mc_status failure;
};

mc_status mc_json_writer_open(const mc_json_writer_options *options, mc_json_writer **out, mc_error *error)
{
    static const mc_json_writer_options defaults = {MC_OPTIONS(mc_json_writer_options)};
    *out = NULL;
    if (options == NULL)
        options = &defaults;
    const mc_status status = MC_OPTIONS_CHECK(mc_json_writer_options, options, error);
    if (status != MC_OK)
        return status;
    if (options->depth > MC_JSON_DEPTH_LIMIT || options->maximum > SIZE_MAX - SLACK)
        return mc_fail(error, MC_ERROR_MISUSE, "JSON text: a depth of %u (%d is the most) and %zu bytes", options->depth,
                       MC_JSON_DEPTH_LIMIT, options->maximum);
    mc_json_writer *const writer = mc_allocate_zeroed(1, sizeof *writer);
    if (writer == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "JSON text: no memory");
    writer->sink = options->sink;
    writer->context = options->context;
    writer->maximum = options->maximum > 0 ? options->maximum : MAXIMUM_DEFAULT;
    writer->text.maximum = writer->maximum + SLACK;
    writer->depth_maximum = options->depth > 0 ? options->depth : DEPTH_DEFAULT;
    *out = writer;
    return MC_OK;
}

void mc_json_writer_free(mc_json_writer *writer)
{
    if (writer == NULL)
        return;
    mc_byte_buffer_free(&writer->text);
    mc_free(writer);
}

mc_status mc_json_writer_fail(mc_json_writer *writer, mc_status status, const char *problem, mc_error *error)
{
    writer->failure = status;
    if (status == MC_ERROR_NO_MEMORY)
        return mc_fail(error, status, "JSON text: no memory");
    if (status == MC_ERROR_LIMIT && problem == NULL)
        return mc_fail(error, status, "JSON text: longer than %zu bytes", writer->maximum);
    return mc_fail(error, status, "JSON text: %s", problem);
}

mc_status mc_json_writer_check(const mc_json_writer *writer, mc_error *error)
{
    return writer->failure == MC_OK ? MC_OK : mc_fail(error, writer->failure, "JSON text: it was written to after an error");
}

mc_byte_buffer *mc_json_writer_buffer(mc_json_writer *writer)
{
    return &writer->text;
}

static mc_status hand_over(mc_json_writer *writer, mc_error *error)
{
    if (writer->sink == NULL || writer->text.length == 0)
        return MC_OK;
    if (writer->text.length > writer->maximum - writer->handed_over)
        return mc_json_writer_fail(writer, MC_ERROR_LIMIT, NULL, error);
    writer->handed_over += writer->text.length;
    const size_t length = writer->text.length;
    writer->text.length = 0;
    writer->text.maximum = writer->maximum - writer->handed_over + SLACK;
    writer->failure = writer->sink(writer->context, writer->text.bytes, length, error);
    return writer->failure;
}

mc_status mc_json_writer_pass_on(mc_json_writer *writer, mc_error *error)
{
    return writer->text.length >= SINK_BYTES ? hand_over(writer, error) : MC_OK;
}

static bool in_object(const mc_json_writer *writer)
{
    return writer->depth > 0 && (writer->objects[(writer->depth - 1) / 64] >> ((writer->depth - 1) % 64) & 1) != 0;
}

/// Writes the comma before a value; fails if no value is allowed here.
static mc_status begin_value(mc_json_writer *writer, mc_error *error)
{
    if (writer->failure != MC_OK)
        return mc_json_writer_check(writer, error);
    if (in_object(writer) != writer->has_key)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "a value in an object needs a key", error);
    if (writer->depth == 0 && writer->has_value)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "a second value after the first one", error);
    if (!writer->has_key && writer->has_value) {
        const mc_status status = mc_byte_buffer_append(&writer->text, ",", 1);
        if (status != MC_OK)
            return mc_json_writer_fail(writer, status, NULL, error);
    }
    return MC_OK;
}

/// Completes a value whose text was appended with `status`.
static mc_status end_value(mc_json_writer *writer, mc_status status, const char *problem, mc_error *error)
{
    if (status != MC_OK)
        return mc_json_writer_fail(writer, status, problem, error);
    if (writer->text.length > writer->maximum - writer->handed_over)
        return mc_json_writer_fail(writer, MC_ERROR_LIMIT, NULL, error);
    writer->has_value = true;
    writer->has_key = false;
    return mc_json_writer_pass_on(writer, error);
}

static mc_status begin_container(mc_json_writer *writer, bool object, mc_error *error)
{
    mc_status status = begin_value(writer, error);
    if (status != MC_OK)
        return status;
    if (writer->depth == writer->depth_maximum)
        return mc_json_writer_fail(writer, MC_ERROR_LIMIT, "nested too deep", error);
    status = mc_byte_buffer_append(&writer->text, object ? "{" : "[", 1);
    if (status != MC_OK)
        return mc_json_writer_fail(writer, status, NULL, error);
    const unsigned level = writer->depth++;
    const uint64_t bit = UINT64_C(1) << (level % 64);
    writer->objects[level / 64] = (writer->objects[level / 64] & ~bit) | (object ? bit : 0);
    writer->has_value = writer->has_key = false;
    return MC_OK;
}

mc_status mc_json_write_begin_object(mc_json_writer *writer, mc_error *error)
{
    return begin_container(writer, true, error);
}

mc_status mc_json_write_begin_array(mc_json_writer *writer, mc_error *error)
{
    return begin_container(writer, false, error);
}

mc_status mc_json_write_end(mc_json_writer *writer, mc_error *error)
{
    if (writer->failure != MC_OK)
        return mc_json_writer_check(writer, error);
    if (writer->depth == 0)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "an end with nothing open", error);
    if (writer->has_key)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "a key without a value", error);
    const mc_status status = mc_byte_buffer_append(&writer->text, in_object(writer) ? "}" : "]", 1);
    writer->depth -= status == MC_OK;
    return end_value(writer, status, NULL, error);
}

mc_status mc_json_write_key(mc_json_writer *writer, const char *key, size_t length, mc_error *error)
{
    size_t bad = 0;
    if (writer->failure != MC_OK)
        return mc_json_writer_check(writer, error);
    if (!in_object(writer) || writer->has_key)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, "a key outside of an object, or after another key", error);
    mc_status status = writer->has_value ? mc_byte_buffer_append(&writer->text, ",", 1) : MC_OK;
    if (status == MC_OK)
        status = mc_json_append_string(&writer->text, key, length, &bad);
    if (status == MC_OK)
        status = mc_byte_buffer_append(&writer->text, ":", 1);
    if (status != MC_OK)
        return mc_json_writer_fail(writer, status, status == MC_ERROR_CORRUPT ? "a key that is not UTF-8" : NULL, error);
    writer->has_key = true;
    return MC_OK;
}

mc_status mc_json_write_string(mc_json_writer *writer, const char *text, size_t length, mc_error *error)
{
    size_t bad = 0;
    const mc_status status = begin_value(writer, error);
    if (status != MC_OK)
        return status;
    const mc_status appended = mc_json_append_string(&writer->text, text, length, &bad);
    return end_value(writer, appended, appended == MC_ERROR_CORRUPT ? "a string that is not UTF-8" : NULL, error);
}

mc_status mc_json_write_integer(mc_json_writer *writer, int64_t value, mc_error *error)
{
    const mc_status status = begin_value(writer, error);
    return status == MC_OK ? end_value(writer, mc_json_append_integer(&writer->text, value), NULL, error) : status;
}

mc_status mc_json_write_double(mc_json_writer *writer, double value, mc_error *error)
{
    const mc_status status = begin_value(writer, error);
    if (status != MC_OK)
        return status;
    const mc_status appended = mc_json_append_double(&writer->text, value);
    return end_value(writer, appended, appended == MC_ERROR_TYPE ? "an infinity, or no number" : NULL, error);
}

mc_status mc_json_write_verbatim(mc_json_writer *writer, const char *text, size_t length, mc_error *error)
{
    const mc_status status = begin_value(writer, error);
    return status == MC_OK ? end_value(writer, mc_byte_buffer_append(&writer->text, text, length), NULL, error) : status;
}

mc_status mc_json_write_number(mc_json_writer *writer, const char *text, size_t length, mc_error *error)
{
    if (writer->failure == MC_OK && !mc_json_is_number(text, length))
        return mc_json_writer_fail(writer, MC_ERROR_TYPE, "a text that is not a number", error);
    return mc_json_write_verbatim(writer, text, length, error);
}

mc_status mc_json_write_boolean(mc_json_writer *writer, bool value, mc_error *error)
{
    return mc_json_write_verbatim(writer, value ? "true" : "false", value ? 4 : 5, error);
}

mc_status mc_json_write_null(mc_json_writer *writer, mc_error *error)
{
    return mc_json_write_verbatim(writer, "null", 4, error);
}

mc_status mc_json_writer_finish(mc_json_writer *writer, mc_error *error)
{
    if (writer->failure != MC_OK)
        return mc_json_writer_check(writer, error);
    if (writer->depth > 0 || !writer->has_value)
        return mc_json_writer_fail(writer, MC_ERROR_MISUSE, writer->depth > 0 ? "its end is missing" : "there is no value", error);
    return hand_over(writer, error);
}

const uint8_t *mc_json_writer_text(const mc_json_writer *writer, size_t *length)
{
    *length = writer->sink == NULL ? writer->text.length : 0;
    return writer->sink == NULL ? writer->text.bytes : NULL;
}
