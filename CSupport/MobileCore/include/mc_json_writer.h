/// mc_json_writer.h: writes JSON text (RFC 8259) value by value, into memory or to a sink.
///
///     begin_object  key "header"  begin_object  end  key "content"  rows(page)  end      {"header":{},"content":[[1,"a"],[2,"b"]]}
///
/// The writer puts commas, colons, quotes and escapes; integers and decimals are exact, doubles have the shortest text that reads back
/// as the same value. What is not JSON cannot be written: a value without a key in an object, two roots, an end too many, text that is
/// not UTF-8, an infinity. It does not look for keys that come twice. mc_message_writer.h writes parts of messages, mc_page_writer.h rows.
///
/// Order of calls: open; any values; finish; free. After a failure every call but free fails with the same status.
/// Threads:        one at a time. The sink is called during the writing calls and finish, on their thread.
/// Memory:         without a sink the whole text, up to `maximum`; with one some KB.
#ifndef MC_JSON_WRITER_H
#define MC_JSON_WRITER_H

#include "mc_json.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Takes the next bytes of the text, valid during the call. What it returns other than MC_OK stops the writer, which returns it.
typedef mc_status (*mc_json_sink)(void *MC_NULLABLE context, const void *bytes, size_t length, mc_error *MC_NULLABLE error);

typedef struct mc_json_writer_options {
    mc_json_sink MC_NULLABLE sink;  ///< NULL: the text is kept in memory
    void *MC_NULLABLE context;      ///< handed to the sink
    size_t maximum;                 ///< the longest text, in bytes; 0: 1 GB
    unsigned depth;                 ///< levels of arrays and objects; 0: 64; at most MC_JSON_DEPTH_LIMIT
} mc_json_writer_options;

typedef struct mc_json_writer mc_json_writer;

/// Opens a writer. `options` may be NULL. On success `*out` goes to `mc_json_writer_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (a depth out of its range), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_json_writer_open(const mc_json_writer_options *MC_NULLABLE options, mc_json_writer *MC_NULLABLE *MC_NONNULL out,
                                          mc_error *MC_NULLABLE error);

/// The functions below write one piece each. They fail with MC_ERROR_MISUSE (a piece that cannot stand there), MC_ERROR_LIMIT (beyond
/// maximum or depth), MC_ERROR_NO_MEMORY and as the sink does; the others as said.
MC_MUST_USE mc_status mc_json_write_begin_object(mc_json_writer *writer, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_begin_array(mc_json_writer *writer, mc_error *MC_NULLABLE error);
/// Ends the innermost object or array; in an object a key without a value is MC_ERROR_MISUSE.
MC_MUST_USE mc_status mc_json_write_end(mc_json_writer *writer, mc_error *MC_NULLABLE error);
/// The key of the next member. MC_ERROR_CORRUPT: not UTF-8, for strings likewise.
MC_MUST_USE mc_status mc_json_write_key(mc_json_writer *writer, const char *key, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_string(mc_json_writer *writer, const char *text, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_integer(mc_json_writer *writer, int64_t value, mc_error *MC_NULLABLE error);
/// MC_ERROR_TYPE: an infinity, or not a number.
MC_MUST_USE mc_status mc_json_write_double(mc_json_writer *writer, double value, mc_error *MC_NULLABLE error);
/// A number as it is written. MC_ERROR_TYPE: it is not one JSON number and nothing else.
MC_MUST_USE mc_status mc_json_write_number(mc_json_writer *writer, const char *text, size_t length, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_boolean(mc_json_writer *writer, bool value, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_json_write_null(mc_json_writer *writer, mc_error *MC_NULLABLE error);

/// Says that the text is complete, and hands what is left to the sink. Fails with MC_ERROR_MISUSE where something is open or nothing
/// was written.
MC_MUST_USE mc_status mc_json_writer_finish(mc_json_writer *writer, mc_error *MC_NULLABLE error);

/// The text so far without a sink, not NUL-terminated; valid until the writer is used again. NULL and 0 with a sink.
const uint8_t *MC_NULLABLE mc_json_writer_text(const mc_json_writer *writer, size_t *length);

/// Frees a writer; NULL is allowed.
void mc_json_writer_free(mc_json_writer *MC_NULLABLE writer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
