/// mc_json_writer.h: writes JSON text (RFC 8259) value by value, into memory or to a sink.
///
///     begin_object  key "header"  begin_object  end  key "content"  rows(page)  end      {"header":{},"content":[[1,"a"],[2,"b"]]}
///
/// The writer adds commas, colons, quotes and escapes; integers and decimals are exact, doubles have the shortest text that reads back
/// as the same value. It refuses text that would not be JSON: a value without a key in an object, two roots, an end too many, text that is
/// not UTF-8, an infinity. It does not check for duplicate keys. mc_message_writer.h writes parts of messages, mc_page_writer.h rows.
///
/// Order of calls: open; any values; finish; free. After a failure every call but free fails with the same status.
/// Threads:        one at a time. The sink is called during the writing calls and finish, on their thread.
/// Memory:         without a sink the whole text, up to `maximum`; with a sink some KB.
#ifndef MC_JSON_WRITER_H
#define MC_JSON_WRITER_H

#include <string.h>

#include "mc_json.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Takes the next bytes of the text, valid during the call. Any status but MC_OK stops the writer, which returns that status.
typedef mc_status (*mc_json_sink)(void *MC_NULLABLE context, const void *bytes, size_t length, mc_error *MC_NULLABLE error);

typedef struct mc_json_writer_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    mc_json_sink MC_NULLABLE sink;  ///< NULL: the text is kept in memory
    void *MC_NULLABLE context;      ///< handed to the sink
    size_t maximum;                 ///< the longest text, in bytes; 0: 1 GB
    unsigned depth;                 ///< levels of arrays and objects; 0: 64; at most MC_JSON_DEPTH_LIMIT
} mc_json_writer_options;

/// Returns the defaults: a text in memory.
static inline mc_json_writer_options mc_json_writer_default_options(void)
{
    mc_json_writer_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

typedef struct mc_json_writer mc_json_writer;

/// Opens a writer. `options` may be NULL. On success `*out` goes to `mc_json_writer_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (a depth out of its range), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_json_writer_open(const mc_json_writer_options *MC_NULLABLE options, mc_json_writer *MC_NULLABLE *MC_NONNULL out,
                                          mc_error *MC_NULLABLE error);

/// The functions below write one piece each. They fail with MC_ERROR_MISUSE (a piece that is not allowed at this point), MC_ERROR_LIMIT
/// (beyond maximum or depth), MC_ERROR_NO_MEMORY and as the sink does; some fail with further statuses, which their comments list.
MC_MUST_USE mc_status mc_json_write_begin_object(mc_json_writer *writer, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_begin_array(mc_json_writer *writer, mc_error *MC_NULLABLE error);
/// Ends the innermost object or array. Fails with MC_ERROR_MISUSE in an object whose last key has no value.
MC_MUST_USE mc_status mc_json_write_end(mc_json_writer *writer, mc_error *MC_NULLABLE error);
/// Writes the key of the next member. It and `mc_json_write_string` fail with MC_ERROR_CORRUPT for text that is not UTF-8.
MC_MUST_USE mc_status mc_json_write_key(mc_json_writer *writer, const char *key, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_string(mc_json_writer *writer, const char *text, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_integer(mc_json_writer *writer, int64_t value, mc_error *MC_NULLABLE error);
/// Fails with MC_ERROR_TYPE for an infinity or NaN.
MC_MUST_USE mc_status mc_json_write_double(mc_json_writer *writer, double value, mc_error *MC_NULLABLE error);
/// Writes a number with the digits of `text`. Fails with MC_ERROR_TYPE unless the text is one JSON number and nothing else.
MC_MUST_USE mc_status mc_json_write_number(mc_json_writer *writer, const char *text, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_boolean(mc_json_writer *writer, bool value, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_null(mc_json_writer *writer, mc_error *MC_NULLABLE error);

/// Ends the text, and hands the rest of it to the sink. Fails with MC_ERROR_MISUSE if an array or object is open, or nothing was written.
MC_MUST_USE mc_status mc_json_writer_finish(mc_json_writer *writer, mc_error *MC_NULLABLE error);

/// Returns the text so far without a sink, not NUL-terminated; valid until the writer is used again. NULL and 0 with a sink.
const uint8_t *MC_NULLABLE mc_json_writer_text(const mc_json_writer *writer, size_t *length);

/// Frees a writer; NULL is allowed.
void mc_json_writer_free(mc_json_writer *MC_NULLABLE writer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
