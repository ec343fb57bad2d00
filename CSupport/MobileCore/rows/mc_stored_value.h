/// mc_stored_value.h: writes one value, as the database has it, as JSON by its column's type: the reverse of mc_row_cell.h. Internal to the
/// core.
#ifndef MC_STORED_VALUE_H
#define MC_STORED_VALUE_H

#include <sqlite3.h>

#include "base/mc_byte_buffer.h"
#include "mc_rows.h"

/// A value where it lies. `storage` is one of SQLite's types.
typedef struct mc_stored {
    int storage;
    int64_t integer;
    double real;
    const uint8_t *bytes;  ///< of texts and blobs; may be NULL when there are none
    size_t length;
} mc_stored;

/// Looks at a value of SQLite; for columns of text and blobs other storage is converted by SQLite first. False without memory.
bool mc_stored_from_value(sqlite3_value *value, mc_column_type type, mc_stored *out);

/// Appends the value. On a failure other than MC_ERROR_NO_MEMORY and MC_ERROR_LIMIT `*problem` says what was found.
/// Fails with MC_ERROR_TYPE, MC_ERROR_CORRUPT, MC_ERROR_NO_MEMORY, MC_ERROR_LIMIT (longer than the buffer may be).
mc_status mc_json_append_stored(mc_byte_buffer *buffer, const mc_stored *value, const mc_column *rule, const char **problem);

#endif
