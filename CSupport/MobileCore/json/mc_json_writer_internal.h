/// mc_json_writer_internal.h: the writer of JSON text for code that writes many values in one call: of a message, of a page. Internal to
/// the core.
#ifndef MC_JSON_WRITER_INTERNAL_H
#define MC_JSON_WRITER_INTERNAL_H

#include "base/mc_byte_buffer.h"
#include "mc_json_writer.h"

/// Fails with the status of an earlier failed call, if there is one.
mc_status mc_json_writer_check(const mc_json_writer *writer, mc_error *error);

/// Fails with `status`, as every later call will. `problem` is the message; NULL: that of MC_ERROR_NO_MEMORY and MC_ERROR_LIMIT.
mc_status mc_json_writer_fail(mc_json_writer *writer, mc_status status, const char *problem, mc_error *error);

/// Returns the text that the sink has not yet received. Between `mc_json_write_begin_array` and `mc_json_write_end` elements may be
/// appended to it, with the commas between them.
mc_byte_buffer *mc_json_writer_buffer(mc_json_writer *writer);

/// Hands the text to the sink when there is enough of it. Fails with MC_ERROR_LIMIT (beyond `maximum`) and as the sink does.
mc_status mc_json_writer_pass_on(mc_json_writer *writer, mc_error *error);

/// Writes the text of one value unchanged: the caller knows that it is JSON. Fails as the public functions do.
mc_status mc_json_write_verbatim(mc_json_writer *writer, const char *text, size_t length, mc_error *error);

#endif
