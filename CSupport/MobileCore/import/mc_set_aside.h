/// mc_set_aside.h: takes the pending rows out of a table that holds nothing else while an import fills it. Internal.
///
/// A B-tree is filled fastest at its end: its pages get full, and none is split. A few rows that lie among the incoming keys
/// take that away: every page before one of them is split in the middle. That costs a third of an import (30,000 x 12 rows, 120
/// pending ones: 1.30 of a plain insert instead of 1.00). It is what a client meets that loads everything anew and has kept
/// its pending changes. So these rows wait in memory, and are put back when the import finishes.
#ifndef MC_SET_ASIDE_H
#define MC_SET_ASIDE_H

#include "base/mc_fail.h"
#include "import/mc_key_set.h"

/// Zeroed memory is an empty one.
typedef struct mc_set_aside {
    sqlite3_value **values;  // row by row
    size_t row_count, column_count;
    sqlite3_stmt *put_back;  // inserts one row; NULL when nothing was set aside
} mc_set_aside;

/// Sets the rows of `table` aside if there are few, all of them are in `pending`, and taking them out touches nothing else (the
/// caller has looked for triggers and enforced foreign keys). Otherwise does nothing. `key` is the table's integer key. Runs
/// in the caller's savepoint, which takes it back on failure.
mc_status mc_set_aside_take(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                            mc_error *error);

/// Puts the rows back.
mc_status mc_set_aside_put_back(mc_set_aside *aside, sqlite3 *db, const char *table, mc_error *error);

void mc_set_aside_free(mc_set_aside *aside);

#endif
