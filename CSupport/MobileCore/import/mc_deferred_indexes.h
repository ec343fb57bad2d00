/// mc_deferred_indexes.h: drops secondary indexes of a table while an import fills it, and makes them again at its end. Internal.
///
/// An index receives its keys in any order. Each key costs a search, and often a page that is read and written again. An index that is
/// made at the end is sorted once and written once: 30,000 x 12 rows with three indexes take 0.42 of the time, 150,000 rows 0.27
/// (cache 10 MB). If the table already has many rows, it is the reverse: 3,000 rows into 30,000 take 1.8 of the time.
///
/// So the rule is: when an import has inserted 4,096 rows, and the table has at most the same number of other rows, its indexes that are
/// not unique are dropped, in the import's savepoint. Unique indexes stay, because they find and refuse rows.
///
/// The statistics of ANALYZE for these indexes are kept in its tables under other names, because they would be dropped with them. They
/// describe the table before the import: the pool's close analyzes the table again (pool/mc_optimize.c).
#ifndef MC_DEFERRED_INDEXES_H
#define MC_DEFERRED_INDEXES_H

#include <stdbool.h>

#include "base/mc_byte_buffer.h"
#include "base/mc_fail.h"

/// The dropped indexes of a table. Zeroed memory is valid, without dropped indexes.
typedef struct mc_deferred_indexes {
    bool looked;
    bool have_statistics;
    mc_byte_buffer names, sql;  // of the dropped indexes: the names, and the statements that make them; a NUL after each
} mc_deferred_indexes;

/// Drops the indexes of `table` if the rule applies, once; `inserted` is the number of rows that the import has inserted. An index that
/// a running statement of the connection uses stays, as do all after it. `*has_dropped` is set if the schema has changed.
mc_status mc_deferred_indexes_drop(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, int64_t inserted, bool *has_dropped,
                                   mc_error *error);

/// Makes the dropped indexes again.
mc_status mc_deferred_indexes_make(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_error *error);

void mc_deferred_indexes_free(mc_deferred_indexes *indexes);

#endif
