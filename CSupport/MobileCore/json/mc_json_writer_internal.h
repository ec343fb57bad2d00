/// mc_json_writer_internal.h: the writer of JSON text for those who write many values in one call: of a message, of a page. Internal to
/// the core.
#ifndef MC_JSON_WRITER_INTERNAL_H
#define MC_JSON_WRITER_INTERNAL_H

#include "base/mc_byte_buffer.h"
#include "mc_json_writer.h"

/// Fails where an earlier call has failed, with its status.
mc_status mc_json_writer_check(const mc_json_writer *writer, mc_error *error);

/// Fails with `status`, as every later call will. `problem` is what the message says; NULL: that of MC_ERROR_NO_MEMORY and MC_ERROR_LIMIT.
mc_status mc_json_writer_fail(mc_json_writer *writer, mc_status status, const char *problem, mc_error *error);

/// The text that the sink has not got yet. Between `mc_json_write_begin_array` and `mc_json_write_end` elements may be appended to it, with
/// the commas between them.
mc_byte_buffer *mc_json_writer_buffer(mc_json_writer *writer);

/// Hands the text to the sink when there is enough of it. Fails with MC_ERROR_LIMIT (beyond `maximum`) and as the sink does.
mc_status mc_json_writer_pass_on(mc_json_writer *writer, mc_error *error);

/// Writes one value as it is given: the caller knows that it is JSON. Fails as the public functions do.
mc_status mc_json_write_verbatim(mc_json_writer *writer, const char *text, size_t length, mc_error *error);

#endif
