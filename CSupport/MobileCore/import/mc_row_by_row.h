/// mc_row_by_row.h: decides whether each row of an import needs a statement of its own. Internal.
///
/// A statement of many rows has one result: which row was refused, ignored or updated is known only as long as SQLite writes and checks one
/// row after the other. It does not
///   - next to triggers, also of a temporary or attached schema: it reads all rows before it writes the first one;
///   - where a conflict clause or a trigger ignores rows;
///   - where foreign keys are enforced: SQLite checks them at the end of the statement, when a later row may have repaired the break
///     of an earlier one. That concerns tables with references, and those whose referred keys an import may change or remove.
#ifndef MC_ROW_BY_ROW_H
#define MC_ROW_BY_ROW_H

#include <stdbool.h>

#include "base/mc_fail.h"
#include "mc_import.h"

/// Whether foreign keys are enforced.
bool mc_import_enforces_foreign_keys(sqlite3 *db);

/// Sets `*row_by_row`. Tables of this name in all schemas count. Fails as SQLite does.
mc_status mc_import_runs_row_by_row(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                    bool *row_by_row, mc_error *error);

#endif
