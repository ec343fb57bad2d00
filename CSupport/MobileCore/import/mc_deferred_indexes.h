/// mc_deferred_indexes.h: takes secondary indexes off a table while an import fills it, and makes them again at its end. Internal.
///
/// Keys come to an index in any order, and each one costs a search and sooner or later a page that is read and written again. Made at
/// the end, an index is sorted once and written once: 30,000 x 12 rows with three indexes in 0.42 of the time, 150,000 in 0.27
/// (cache 10 MB). Where the table has many rows already it is the other way round: 3,000 rows into 30,000 take 1.8 of the time.
///
/// So the rule is: when an import has inserted 4,096 rows, and the table has at most as many others, its indexes that are not unique
/// are dropped, in the import's savepoint. Unique ones stay, because rows are found and refused by them.
///
/// What ANALYZE has found out about them waits in its tables under other names, because it would be dropped with them. It is
/// that of before the import: to look at the table anew is for the close of the pool (pool/mc_optimize.c).
#ifndef MC_DEFERRED_INDEXES_H
#define MC_DEFERRED_INDEXES_H

#include <stdbool.h>

#include "base/mc_byte_buffer.h"
#include "base/mc_fail.h"

/// Zeroed memory is one that has dropped nothing.
typedef struct mc_deferred_indexes {
    bool looked;
    bool have_statistics;
    mc_byte_buffer names, sql;  // of the dropped ones, and what makes them again; a NUL behind each
} mc_deferred_indexes;

/// Drops the indexes of `table` if the rule says so, once; `inserted` counts the rows that the import has inserted. One that
/// a running statement of the connection uses stays, as all behind it. `*has_dropped` is set where the schema has changed.
mc_status mc_deferred_indexes_drop(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, int64_t inserted, bool *has_dropped,
                                   mc_error *error);

/// Makes again what was dropped.
mc_status mc_deferred_indexes_make(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_error *error);

void mc_deferred_indexes_free(mc_deferred_indexes *indexes);

#endif
