/// mc_export_large.h: a large value as a JSON string, piece by piece. Internal to the exporter.
#ifndef MC_EXPORT_LARGE_H
#define MC_EXPORT_LARGE_H

#include "base/mc_byte_buffer.h"
#include "mc_blob_reader.h"
#include "mc_export.h"

typedef struct mc_export_large_value mc_export_large_value;

/// Opens a value. On success `*out` goes to `mc_export_large_close`. Fails with MC_ERROR_TYPE (a text as base64, or bytes as text) and
/// as `mc_blob_reader_open` does.
mc_status mc_export_large_open(mc_pool *pool, int64_t id, mc_export_large form, mc_export_large_value **out, mc_error *error);

/// Appends the next piece, with the quotes at both ends. `*at_end` reports that it was the last one.
/// Fails with MC_ERROR_CORRUPT, MC_ERROR_NO_MEMORY and as reading does.
mc_status mc_export_large_append(mc_export_large_value *value, mc_byte_buffer *buffer, bool *at_end, mc_error *error);

/// NULL is allowed.
void mc_export_large_close(mc_export_large_value *value);

#endif
