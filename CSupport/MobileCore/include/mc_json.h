/// mc_json.h: numbers and strings of JSON (RFC 8259), one at a time.
///
/// Threads: any. No function here allocates memory or depends on the locale.
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

/// The largest depth that can be set for readers and writers of JSON.
enum { MC_JSON_DEPTH_LIMIT = 1024 };

/// Returns whether the text is one JSON number and nothing else.
bool mc_json_is_number(const char *text, size_t length);

/// Reads the number `text` as the nearest double, independent of the process's locale. Returns false if `text` is not a JSON number or
/// is beyond the largest double.
bool mc_json_text_to_double(const char *text, size_t length, double *value);

/// The largest number of bytes that `mc_json_double_to_text` writes.
enum { MC_JSON_DOUBLE_SIZE = 32 };

/// Writes the shortest JSON number that reads back as the same double ("0.1", "1e300", "-0.0"), not NUL-terminated.
/// Returns its length; 0 for infinities and NaN, which JSON does not have.
size_t mc_json_double_to_text(double value, char *out);

/// Returns the largest number of bytes that `mc_json_escape` writes for `length` bytes, quotes included.
size_t mc_json_escape_bound(size_t length);

/// Writes UTF-8 text as a JSON string with its quotes into `out`, which has room for `mc_json_escape_bound(length)` bytes.
/// Returns the length, or 0 if the text is not valid UTF-8: then `*bad` is the offset of the first wrong byte.
size_t mc_json_escape(const char *MC_NULLABLE text, size_t length, char *out, size_t *bad);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
