/// mc_import_sql.h: the statements of an import. Internal.
#ifndef MC_IMPORT_SQL_H
#define MC_IMPORT_SQL_H

#include "base/mc_fail.h"
#include "import/mc_incoming.h"
#include "import/mc_key_comparison.h"
#include "mc_import.h"

/// Binds a cell; strings are not copied. Returns SQLite's result code.
int mc_import_bind(sqlite3_stmt *statement, int index, const mc_value *cell);

/// Prepares the text of `sql`, and frees `sql`. An error names `table`.
mc_status mc_import_prepare(sqlite3 *db, sqlite3_str *sql, const char *table, sqlite3_stmt **out, mc_error *error);

/// Checks the constants for all rows: their columns must not be columns of the rows, and each occurs once. SQLite would silently take
/// one of two values. Fails with MC_ERROR_MISUSE.
mc_status mc_import_check_assignments(const mc_import_table *table, mc_error *error);

/// Prepares the statement that writes a batch (bound to `incoming`), or in delete mode the one that deletes a row by its key,
/// whose parameters are the columns. `size` is the number of the incoming table.
mc_status mc_import_prepare_write(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, size_t size,
                                  mc_incoming *incoming, sqlite3_stmt **out, mc_error *error);

/// Prepares the statement that writes one row, bound as ?1 and on, to the table of original states.
mc_status mc_import_prepare_divert(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                   const mc_key_comparison *comparisons, sqlite3_stmt **out, mc_error *error);

/// Prepares the statement that finds the large values that a row of the table of original states releases when it gets new ones. Its key
/// is bound as in the statement before. Values of the protected row itself are not included.
mc_status mc_import_prepare_released(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                     const mc_key_comparison *comparisons, const mc_large_columns *large, sqlite3_stmt **out,
                                     mc_error *error);

/// Prepares the statement that has a row if the key, bound in the same way, is pending.
mc_status mc_import_prepare_is_pending(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                       const mc_key_comparison *comparisons, sqlite3_stmt **out, mc_error *error);

/// Prepares the statement that reads the pending keys.
mc_status mc_import_prepare_keys(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, sqlite3_stmt **out,
                                 mc_error *error);

#endif
