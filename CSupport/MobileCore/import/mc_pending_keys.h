/// mc_pending_keys.h: decides whether a row of an import has a pending change. Internal.
///
/// SQLite decides, by a SELECT from the table of original states whose comparison is that of the target's key. A set of the pending keys
/// in memory spares most rows this SELECT: of the 30,000 rows of a large import maybe 100 are pending. It is used only for keys that are
/// equal in SQL exactly if they are the same number or the same bytes: see `mc_pending_keys_find`.
#ifndef MC_PENDING_KEYS_H
#define MC_PENDING_KEYS_H

#include "import/mc_import_sql.h"
#include "import/mc_key_set.h"

/// The pending keys of a target. Zeroed memory has no keys.
typedef struct mc_pending_keys {
    mc_key_comparison *comparisons;  // of each key column; NULL without protection
    size_t *columns;                 // their numbers in a row
    size_t count;
    mc_key_set set;
    sqlite3_stmt *select;
    mc_byte_buffer text;  // the key of several columns in progress
} mc_pending_keys;

/// Describes the key columns of a table with protection. `mc_pending_keys_close` must be called in any case.
mc_status mc_pending_keys_open(mc_pending_keys *keys, sqlite3 *db, const mc_import_table *table, const size_t *key_columns,
                               size_t key_count, mc_error *error);

/// Prepares the SELECT, and reads the keys.
mc_status mc_pending_keys_read(mc_pending_keys *keys, sqlite3 *db, const mc_import_table *table, mc_error *error);

/// Sets `*is_pending`. Returns SQLite's result code.
int mc_pending_keys_find(mc_pending_keys *keys, const mc_value *cells, bool *is_pending);

/// Runs the SELECT for a key that no row has, so that it is up to date with a changed schema. Returns SQLite's result code.
int mc_pending_keys_renew(mc_pending_keys *keys);

void mc_pending_keys_close(mc_pending_keys *keys);

#endif
