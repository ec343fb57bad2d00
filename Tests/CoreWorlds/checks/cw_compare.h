/// cw_compare.h: compares the database of the core with the reference, by plain SQLite.
#ifndef CW_COMPARE_H
#define CW_COMPARE_H

#include "running/cw_run.h"

/// Compares the schema and all rows, with their rowids, of all databases of both connections.
void cw_compare_databases(cw_run *run, sqlite3 *core);

/// A digest of all rows of the main database. In the core's, large values count with their content.
uint64_t cw_database_digest(const cw_run *run, sqlite3 *db, bool is_core);

/// Appends the value of a column as SQL, cut at some length.
void cw_add_column(cw_text *text, sqlite3_stmt *statement, int column);
/// Whether two columns have the same value and type.
bool cw_same_column(sqlite3_stmt *left, int left_column, sqlite3_stmt *right, int right_column);

/// Whether a cell of a page has this value and type.
bool cw_same_cell(const mc_row_page *page, size_t row, size_t column, sqlite3_value *value);

/// The SELECT of all rows of a table in the order of its keys; `*has_rowid`: column 0 is the rowid. Free it.
char *cw_rows_sql(sqlite3 *db, const char *schema, const char *table, bool *has_rowid);

#endif
