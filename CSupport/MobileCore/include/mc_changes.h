/// mc_changes.h: reports to observers what each commit has changed.
///
/// Changes are noted while the writer works, and only while the pool has an observer; otherwise they cost nothing. Each transaction causes
/// one call, also the transaction of an import; an import that commits in batches causes one call per commit. Changes that were rolled
/// back are not reported; changes that only a savepoint undid may be.
///
/// A row that gets another rowid is reported under both, a row that another one replaces (REPLACE) under its own. SQLite names no rows of
/// WITHOUT ROWID tables and of virtual tables: such a commit is reported as one that may have changed any table. A build of SQLite without
/// the preupdate hook (SQLITE_ENABLE_PREUPDATE_HOOK) names neither old rowids nor replaced rows nor those of a DELETE without WHERE: there
/// each UPDATE is reported as a change of any row of its table, and replaced rows are not reported. Writes of other pools and processes are
/// not seen. The update hook and the preupdate hook of the writer belong to the pool, which sets them with its first observer.
#ifndef MC_CHANGES_H
#define MC_CHANGES_H

#include "mc_pool.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The largest number of keys that are reported per table; beyond it, only the table is reported.
enum { MC_CHANGED_KEYS_MAXIMUM = 4096 };

/// The changes of one table of the main database.
typedef struct mc_table_changes {
    const char *table;
    const int64_t *MC_NULLABLE keys;  ///< rowids of the rows inserted, updated and deleted: each once, in ascending order
    size_t key_count;
    bool any_key;  ///< any row may have changed, as after more than MC_CHANGED_KEYS_MAXIMUM changes: there are no keys
} mc_table_changes;

/// The changes of a commit, as far as the observer requested them. Valid during the call.
typedef struct mc_changes {
    const mc_table_changes *MC_NULLABLE tables;  ///< in the order of their first change
    size_t table_count;
    bool any_table;  ///< rows were changed that SQLite does not report: any table may have changed further, also one that is listed
} mc_changes;

/// Called after each commit, in the order of the commits, on the thread that committed and still holds the writer. Keep it
/// short, and take no other connection than a reader.
typedef void (*mc_changed)(void *MC_NULLABLE context, const mc_changes *changes);

typedef struct mc_observer mc_observer;

/// The tables that an observer observes, and its callback.
typedef struct mc_observation {
    const char *MC_NONNULL const *MC_NULLABLE tables;  ///< names as in the schema, copied; NULL: all tables
    size_t table_count;
    mc_changed changed;
    void *MC_NULLABLE context;
} mc_observation;

/// Observes from the next check-out of the writer on. A caller that begins to observe and then reads misses no change: a transaction that
/// is already running is reported as one that may have changed any table. On success `*out` goes to `mc_pool_unobserve`, before the pool
/// is freed. Any thread. Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_pool_observe(mc_pool *pool, const mc_observation *observation, mc_observer *MC_NULLABLE *MC_NONNULL out,
                                      mc_error *MC_NULLABLE error);

/// Ends an observation. The observer is not called afterwards: a call on another thread is waited for, a call on this thread is the last.
/// NULL is allowed.
void mc_pool_unobserve(mc_pool *pool, mc_observer *MC_NULLABLE observer);

/// Reports none of the writer's changes to observers until `mc_changes_resume` or the end of its check-out; pauses may nest. For content that follows
/// from other tables, whose changes are reported: an index of words (FTS5) writes rows that SQLite does not name, so that each commit
/// would be reported as one that may have changed any table. FTS5 writes a part of it at the next savepoint or commit: set a savepoint
/// before `mc_changes_resume`.
void mc_changes_pause(mc_connection *writer);

/// Ends the innermost pause. Without one it does nothing.
void mc_changes_resume(mc_connection *writer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
