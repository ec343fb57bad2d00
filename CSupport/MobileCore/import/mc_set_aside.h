/// mc_set_aside.h: removes the pending rows at the end of a table while an import adds rows before them. Internal.
///
/// A B-tree is filled fastest at its end: its pages get full, and no page is split. A small number of rows after the incoming keys
/// prevents that: every page before one of them is split in the middle. That costs a fifth of an import (30,000 x 12 rows, 120
/// pending ones: 57 ms instead of 45). It affects a client that loads all rows again and has kept its pending changes, and a
/// client with rows of its own, whose keys are greater than the server's. So these rows wait in memory, and are put back when
/// the import finishes.
///
/// The rule is: when an import has inserted four times the number of pending rows, the pending rows after the last row that is not
/// pending are taken out of the table, if they are at most 1,024 rows and 1 MB.
#ifndef MC_SET_ASIDE_H
#define MC_SET_ASIDE_H

#include <stdbool.h>

#include "base/mc_fail.h"
#include "import/mc_key_set.h"

/// The rows set aside. Zeroed memory has no rows.
typedef struct mc_set_aside {
    bool has_looked;
    sqlite3_value **values;  // row by row
    size_t row_count, column_count;
    sqlite3_stmt *put_back;  // inserts one row; NULL when nothing was set aside
} mc_set_aside;

/// Sets rows of `table` aside if the rule applies, once. The caller ensures that their removal has no other effect (no triggers, no
/// enforced foreign keys). `key` is the table's key; `inserted` is the number of rows that the import has inserted. Runs in the
/// caller's savepoint, which undoes it on failure.
mc_status mc_set_aside_take(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                            int64_t inserted, mc_error *error);

/// Puts the rows back.
mc_status mc_set_aside_put_back(mc_set_aside *aside, sqlite3 *db, const char *table, mc_error *error);

void mc_set_aside_free(mc_set_aside *aside);

#endif
