/// mc_set_aside.h: takes the pending rows at the end of a table out of it while an import adds rows before them. Internal.
///
/// A B-tree is filled fastest at its end: its pages get full, and none is split. A few rows that lie among the incoming keys
/// take that away: every page before one of them is split in the middle. That costs a fifth of an import (30,000 x 12 rows, 120
/// pending ones: 57 ms instead of 45). It is what a client meets that loads everything anew and has kept its pending
/// changes, or that has made rows of its own, whose keys are greater than all of the server's. So these rows wait in memory, and are
/// put back when the import finishes.
///
/// The rule is: when an import has inserted four times as many rows as are pending, the rows from the end of the table to the last one
/// that is not pending are taken out, if they are 1,024 and 1 MB at most.
#ifndef MC_SET_ASIDE_H
#define MC_SET_ASIDE_H

#include <stdbool.h>

#include "base/mc_fail.h"
#include "import/mc_key_set.h"

/// Zeroed memory is an empty one.
typedef struct mc_set_aside {
    bool has_looked;
    sqlite3_value **values;  // row by row
    size_t row_count, column_count;
    sqlite3_stmt *put_back;  // inserts one row; NULL when nothing was set aside
} mc_set_aside;

/// Sets rows of `table` aside if the rule says so, once, and taking them out touches nothing else (the caller has looked for triggers
/// and enforced foreign keys). `key` is the table's key; `inserted` counts the rows that the import has inserted. Runs in the
/// caller's savepoint, which takes it back on failure.
mc_status mc_set_aside_take(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                            int64_t inserted, mc_error *error);

/// Puts the rows back.
mc_status mc_set_aside_put_back(mc_set_aside *aside, sqlite3 *db, const char *table, mc_error *error);

void mc_set_aside_free(mc_set_aside *aside);

#endif
