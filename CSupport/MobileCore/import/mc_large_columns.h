/// mc_large_columns.h: the columns of an import's table that hold ids of large values (mc_blob.h). Internal.
///
/// A value in parts is stored part by part, a value in a cell with its batch; the row then gets the id. Both happen in the import's
/// transaction, whose rollback removes the values as well. So no unfinished value is ever committed, and none needs a lease.
///
/// Released values are collected while a batch is written, and dropped after it: after the transaction's commit no reader can open
/// them any more, and open readers continue.
#ifndef MC_LARGE_COLUMNS_H
#define MC_LARGE_COLUMNS_H

#include "mc_blob.h"
#include "mc_import.h"

/// A function of SQLite has 127 arguments at most, and one of them is not a column.
enum { MC_LARGE_COLUMNS_MAXIMUM = 126 };

typedef struct mc_large_column {
    size_t number;  // among the columns of the import
    char *name;
    mc_blob_unit unit;
    int64_t value;  // stored in parts
} mc_large_column;

/// The unfinished value.
typedef struct mc_large_content {
    mc_blob_unit unit;
    int64_t value, next_chunk, start;
    int64_t units, bytes;
    size_t chunk_size;
    uint8_t *buffer;  // of the size of a chunk
    size_t capacity, buffered;
} mc_large_content;

/// The large columns of a table. Zeroed memory has no columns.
typedef struct mc_large_columns {
    mc_connection *connection;  // borrowed
    mc_large_column *columns;
    size_t count;
    mc_large_content content;
    mc_value *cells;  // of a batch, with ids
    size_t cell_capacity;
    int64_t *released;  // ids of replaced or deleted values
    size_t released_count, released_capacity;
} mc_large_columns;

/// Finds the columns. `connection` may be NULL without large columns. `mc_large_columns_close` must be called in any case.
/// Fails with MC_ERROR_MISUSE (no connection, too many), MC_ERROR_NO_MEMORY.
mc_status mc_large_columns_open(mc_large_columns *large, mc_connection *connection, const mc_import_table *table, mc_error *error);
void mc_large_columns_close(mc_large_columns *large);

/// Stores a part for the table `table`. Fails as writing does.
mc_status mc_large_columns_take(mc_large_columns *large, const char *table, const mc_large_part *part, mc_error *error);

/// Stores the values of a batch for the table `table`, and gives `batch` new cells with their ids, valid until the
/// next call. Fails as writing does.
mc_status mc_large_columns_store(mc_large_columns *large, const char *table, mc_row_batch *batch, mc_error *error);

/// Notes that a row has released a value; false without memory.
bool mc_large_columns_release(mc_large_columns *large, int64_t value);

/// Drops the noted values.
mc_status mc_large_columns_drop(mc_large_columns *large, mc_error *error);

#endif
