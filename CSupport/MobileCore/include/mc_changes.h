/// mc_changes.h: what a commit changed, told to those who want to know.
///
/// Changes are noted while the writer works, and only while somebody observes: otherwise nothing of this costs anything. One
/// transaction is one call, also an import's; one that commits on the way makes several. What was rolled back is not told; what only a
/// savepoint undid may be.
///
/// SQLite names no rows of WITHOUT ROWID tables and of virtual tables, and none of a DELETE without WHERE: such a commit says
/// that any table may have changed. A row that makes way for another one (REPLACE) is not named. Writes of other pools and
/// processes are not seen.
#ifndef MC_CHANGES_H
#define MC_CHANGES_H

#include "mc_pool.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// So many keys of a table are told; beyond them only that the table has changed.
enum { MC_CHANGED_KEYS_MAXIMUM = 4096 };

/// What changed in one table of the main database.
typedef struct mc_table_changes {
    const char *table;
    const int64_t *MC_NULLABLE keys;  ///< rowids of the rows inserted, updated and deleted: each once, in ascending order
    size_t key_count;
    bool any_key;  ///< there are more than MC_CHANGED_KEYS_MAXIMUM: no keys
} mc_table_changes;

/// What a commit changed, as far as the observer asked for it. Valid during the call.
typedef struct mc_changes {
    const mc_table_changes *MC_NULLABLE tables;  ///< in the order of their first change
    size_t table_count;
    bool any_table;  ///< rows were changed that nobody can name: any table, also one that is listed, may have changed beyond that
} mc_changes;

/// Called behind the commit, in the order of the commits, on the thread that committed and still holds the writer. Keep it
/// short, and take no other connection than a reader.
typedef void (*mc_changed)(void *MC_NULLABLE context, const mc_changes *changes);

typedef struct mc_observer mc_observer;

/// What an observer wants.
typedef struct mc_observation {
    const char *MC_NONNULL const *MC_NULLABLE tables;  ///< their names as in the schema, copied; none: all tables
    size_t table_count;
    mc_changed changed;
    void *MC_NULLABLE context;
} mc_observation;

/// Observes from the next check-out of the writer on. Who reads now and observes from now on misses nothing: a transaction that is under
/// way is told as one that may have changed any table. On success `*out` goes to `mc_pool_unobserve`, before the pool is freed. Any thread.
/// Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_pool_observe(mc_pool *pool, const mc_observation *observation, mc_observer *MC_NULLABLE *MC_NONNULL out,
                                      mc_error *MC_NULLABLE error);

/// Ends it. Afterwards it is not called any more: a call on another thread is waited for, one on this thread is the last.
/// NULL is allowed.
void mc_pool_unobserve(mc_pool *pool, mc_observer *MC_NULLABLE observer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
