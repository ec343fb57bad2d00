/// mc_import_target.h: one table that an import writes to. Internal.
#ifndef MC_IMPORT_TARGET_H
#define MC_IMPORT_TARGET_H

#include "import/mc_deferred_indexes.h"
#include "import/mc_incoming.h"
#include "import/mc_large_columns.h"
#include "import/mc_pending_keys.h"
#include "mc_import.h"

/// A table that an import writes to. Zeroed memory is one that was not opened.
typedef struct mc_import_target {
    sqlite3 *db;  // borrowed
    char *table;
    mc_import_mode mode;
    size_t column_count;
    size_t *key_columns;  // their numbers
    size_t key_count;
    bool row_by_row;  // see mc_row_by_row.h
    mc_incoming incoming;
    sqlite3_stmt *write;     // insert or upsert of a batch; delete of one key
    sqlite3_stmt *divert;    // one row to the table of original states; NULL without protection
    sqlite3_stmt *released;  // large values that such a row releases; NULL without large columns
    mc_large_columns large;
    mc_pending_keys pending;
    bool defers_indexes;  // indexes may be dropped until the end
    mc_deferred_indexes indexes;
    int64_t inserted;
    uint8_t *changes;         // per row of a batch
    bool *skipped;            // per row: whether it is diverted
    size_t row_capacity;
} mc_import_target;

/// Checks the description and copies the names; `mc_import_target_prepare` runs the first SQL. `connection` may be NULL without
/// large columns. `mc_import_target_close` must be called in any case. Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY.
mc_status mc_import_target_open(mc_import_target *target, sqlite3 *db, const mc_import_table *table, mc_connection *connection,
                                mc_error *error);

/// Prepares the statements and reads the pending keys, inside of the import's savepoint. `defers_indexes`: indexes may
/// be missing until the import's end, because no reader sees the table before.
mc_status mc_import_target_prepare(mc_import_target *target, const mc_import_table *table, bool defers_indexes, mc_error *error);

/// Fails with MC_ERROR_NO_MEMORY, naming the table.
mc_status mc_import_target_fail_memory(const mc_import_target *target, mc_error *error);

/// mc_import_batch.c: writes a batch, replaces its large values by their ids, and adds to the counts. With `observes`, `target->changes`
/// then has the outcome of each row.
mc_status mc_import_target_write(mc_import_target *target, mc_row_batch *batch, bool observes, mc_import_counts *counts, mc_error *error);

/// Drops the indexes of a table that is being filled, at the right time; see mc_deferred_indexes.h. `*dropped` is set if the schema has
/// changed.
mc_status mc_import_target_defer_indexes(mc_import_target *target, bool *dropped, mc_error *error);

/// Brings the statements up to date with a changed schema, by running each without an effect.
mc_status mc_import_target_renew(mc_import_target *target, mc_error *error);

/// Stores a part of a large value.
mc_status mc_import_target_take_part(mc_import_target *target, const mc_large_part *part, mc_error *error);

/// Makes the dropped indexes again.
mc_status mc_import_target_make_indexes(mc_import_target *target, mc_error *error);

void mc_import_target_close(mc_import_target *target);

#endif
