/// mc_json_append.h: JSON text into a growing buffer. Internal.
#ifndef MC_JSON_APPEND_H
#define MC_JSON_APPEND_H

#include "base/mc_byte_buffer.h"

/// Appends UTF-8 text as a JSON string with its quotes. Fails with MC_ERROR_CORRUPT if it is not valid UTF-8 (`*bad` is the
/// offset of the first wrong byte), and as `mc_byte_buffer_reserve` does.
mc_status mc_json_append_string(mc_byte_buffer *buffer, const char *text, size_t length, size_t *bad);

/// The same without the quotes: for strings that come in pieces of whole characters.
mc_status mc_json_append_characters(mc_byte_buffer *buffer, const char *text, size_t length, size_t *bad);

/// Append an integer, a double. MC_ERROR_TYPE: the double is not finite. They fail as `mc_byte_buffer_reserve` does.
mc_status mc_json_append_integer(mc_byte_buffer *buffer, int64_t value);
mc_status mc_json_append_double(mc_byte_buffer *buffer, double value);

/// Appends `value / 10 ^ scale` without superfluous zeros. MC_ERROR_TYPE: without them there are more than 18 digits after the point.
/// Fails as `mc_byte_buffer_reserve` does.
mc_status mc_json_append_scaled(mc_byte_buffer *buffer, int64_t value, unsigned scale);

#endif
