/// mc_json.h: numbers and strings of JSON (RFC 8259), one at a time.
///
/// Threads: any. Nothing here allocates memory, and no locale changes what it does.
#ifndef MC_JSON_H
#define MC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The deepest nesting that readers and writers of JSON can be asked for.
enum { MC_JSON_DEPTH_LIMIT = 1024 };

/// Whether the text is one JSON number and nothing else.
bool mc_json_is_number(const char *text, size_t length);

/// The double that is nearest to the number `text`, whatever the process's locale; false where `text` is no JSON number or
/// is beyond the largest double.
bool mc_json_text_to_double(const char *text, size_t length, double *value);

/// The most bytes that `mc_json_double_to_text` writes.
enum { MC_JSON_DOUBLE_SIZE = 32 };

/// Writes the shortest JSON number that reads back as the same double ("0.1", "1e300", "-0.0"), not NUL-terminated.
/// Returns its length; 0 for infinities and what is not a number, which JSON does not have.
size_t mc_json_double_to_text(double value, char *out);

/// The most bytes that `mc_json_escape` makes of `length` bytes, quotes included.
size_t mc_json_escape_bound(size_t length);

/// Writes UTF-8 text as a JSON string with its quotes into `out`, which has room for `mc_json_escape_bound(length)` bytes.
/// Returns the length, or 0 where the text is not valid UTF-8: then `*bad` is the offset of the first wrong byte.
size_t mc_json_escape(const char *MC_NULLABLE text, size_t length, char *out, size_t *bad);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
