/// mc_large_columns.h: the columns of an import's table that hold ids of large values (mc_blob.h). Internal.
///
/// A value that comes in parts is stored as it comes, one in cells when its batch does; the row then gets its id. All of it happens
/// in the transaction of the import: what it takes back takes the values along. So no unfinished value is ever committed, and
/// needs no lease.
///
/// The values that rows let go of are collected while a batch is written, and dropped behind it: when the transaction
/// commits, nobody can open them any more, and who reads one goes on.
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
    int64_t value;  // that has come in parts
} mc_large_column;

/// The value that is being stored.
typedef struct mc_large_content {
    mc_blob_unit unit;
    int64_t value, next_chunk, start;
    int64_t units, bytes;
    size_t chunk_size;
    uint8_t *buffer;  // of the size of a chunk
    size_t capacity, buffered;
} mc_large_content;

/// Zeroed memory has no columns.
typedef struct mc_large_columns {
    mc_connection *connection;  // borrowed
    mc_large_column *columns;
    size_t count;
    mc_large_content content;
    mc_value *cells;  // of a batch, with ids
    size_t cell_capacity;
    int64_t *released;  // ids that rows have let go of
    size_t released_count, released_capacity;
} mc_large_columns;

/// Finds the columns. `connection` may be NULL where there are none. `mc_large_columns_close` is due in any case.
/// Fails with MC_ERROR_MISUSE (no connection, too many), MC_ERROR_NO_MEMORY.
mc_status mc_large_columns_open(mc_large_columns *large, mc_connection *connection, const mc_import_table *table, mc_error *error);
void mc_large_columns_close(mc_large_columns *large);

/// Stores a part for the table `table`. Fails as writing does.
mc_status mc_large_columns_take(mc_large_columns *large, const char *table, const mc_large_part *part, mc_error *error);

/// Stores the values of a batch for the table `table`, and puts their ids into `batch`, whose cells are then others, valid until the
/// next call. Fails as writing does.
mc_status mc_large_columns_store(mc_large_columns *large, const char *table, mc_row_batch *batch, mc_error *error);

/// Notes that a row has let go of a value; false without memory.
bool mc_large_columns_release(mc_large_columns *large, int64_t value);

/// Drops the values that were noted.
mc_status mc_large_columns_drop(mc_large_columns *large, mc_error *error);

#endif
