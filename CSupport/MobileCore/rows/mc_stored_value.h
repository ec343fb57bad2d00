/// mc_stored_value.h: writes one stored value of the database as JSON by its column's type: the reverse of mc_row_cell.h. Internal to the
/// core.
#ifndef MC_STORED_VALUE_H
#define MC_STORED_VALUE_H

#include <sqlite3.h>

#include "base/mc_byte_buffer.h"
#include "mc_rows.h"

/// A value, not copied. `storage` is one of SQLite's types.
typedef struct mc_stored {
    int storage;
    int64_t integer;
    double real;
    const uint8_t *bytes;  ///< of texts and blobs; may be NULL when they are empty
    size_t length;
} mc_stored;

/// Reads a value of SQLite; for columns of text and blobs SQLite first converts other storage. Returns false without memory.
bool mc_stored_from_value(sqlite3_value *value, mc_column_type type, mc_stored *out);

/// Appends the value. On a failure other than MC_ERROR_NO_MEMORY and MC_ERROR_LIMIT `*problem` describes the value that was found.
/// Fails with MC_ERROR_TYPE, MC_ERROR_CORRUPT, MC_ERROR_NO_MEMORY, MC_ERROR_LIMIT (longer than the buffer may be).
mc_status mc_json_append_stored(mc_byte_buffer *buffer, const mc_stored *value, const mc_column *rule, const char **problem);

#endif
