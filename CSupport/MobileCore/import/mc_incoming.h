/// mc_incoming.h: a batch of rows as a table of SQLite. Internal.
///
/// `mc_incoming_8(?1)` is a table-valued function with columns c0 to c7; its argument is a `mc_incoming` bound as a pointer. There
/// is one for each size that imports on a connection have needed, made at its first use. So importing changes no
/// schema, and a statement can be kept.
/// `mc_incoming_updated(?1, ...)` in the WHERE clause of an upsert counts the rows that existed: SQLite counts inserts and updates as one.
/// Its other arguments are the columns of the row with ids of large values, which are noted as released.
/// Neither can be used from triggers, views or schemas (SQLITE_DIRECTONLY).
#ifndef MC_INCOMING_H
#define MC_INCOMING_H

#include <sqlite3.h>
#include <stdbool.h>

#include "import/mc_large_columns.h"
#include "mc_rows.h"

/// SQLite's tables have 2000 columns at most, and one column of this table is hidden.
enum { MC_INCOMING_COLUMNS_MAXIMUM = 1999 };

/// The type under which `mc_incoming` is bound by sqlite3_bind_pointer.
#define MC_INCOMING_POINTER "mc_incoming"

/// The present contents of the table.
typedef struct mc_incoming {
    const mc_row_batch *batch;
    size_t row, end;          ///< the current row, and the end of the rows
    const bool *skipped;      ///< per row: whether the table leaves it out; NULL: no row
    int64_t updated;          ///< counted by `mc_incoming_updated`
    uint8_t *changes;         ///< per row of the batch: takes MC_IMPORT_UPDATED; NULL: not recorded
    mc_large_columns *large;  ///< takes the ids of large values that are replaced
} mc_incoming;

/// Registers the functions with the connection, if they are not registered. `size` becomes the number in the table's name: at least
/// `column_count`, which is MC_INCOMING_COLUMNS_MAXIMUM at most. Returns SQLite's result code.
int mc_incoming_register(sqlite3 *db, size_t column_count, size_t *size);

#endif
