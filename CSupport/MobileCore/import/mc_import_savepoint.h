/// mc_import_savepoint.h: the import's part of a transaction, which is done completely or not at all. Internal.
///
/// From its beginning to its end no other commit is possible; see base/mc_commit_guard.h.
#ifndef MC_IMPORT_SAVEPOINT_H
#define MC_IMPORT_SAVEPOINT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/mc_commit_guard.h"

enum { MC_IMPORT_SAVEPOINT_STATEMENTS = 7 };

/// An import's savepoint. Zeroed memory with `db` is one that has not begun. Functions return SQLite's result code.
typedef struct mc_import_savepoint {
    sqlite3 *MC_NONNULL db;  // borrowed
    bool has_begun;
    mc_commit_guard *MC_NULLABLE guard;  // of `db`
    bool holds_commits;
    uint64_t rollbacks;  // `guard->rollbacks` at its beginning
    sqlite3_stmt *MC_NULLABLE statements[MC_IMPORT_SAVEPOINT_STATEMENTS];
} mc_import_savepoint;

/// Begins it, in the running transaction or as its own transaction. The statements that end it are prepared before.
int mc_import_savepoint_begin(mc_import_savepoint *MC_NONNULL savepoint);

/// Ends it and keeps the work.
int mc_import_savepoint_release(mc_import_savepoint *MC_NONNULL savepoint);

/// Whether its commit would also commit the work of another, unfinished import.
bool mc_import_savepoint_is_shared(const mc_import_savepoint *MC_NONNULL savepoint);

/// Commits the work together with the transaction around it, notifies the observers, and begins again in a transaction of the same kind.
/// `*committed` reports whether the work was committed, even if the new beginning failed. The savepoint must not be shared.
int mc_import_savepoint_commit(mc_import_savepoint *MC_NONNULL savepoint, bool *MC_NONNULL committed);

/// Undoes the work, if it has begun. If that fails, rolls back the transaction around it as well, so that no part of the work
/// stays.
void mc_import_savepoint_undo(mc_import_savepoint *MC_NONNULL savepoint);

/// Whether the transaction has been rolled back since `mc_import_savepoint_begin`, by any caller or by SQLite; a new one may have begun.
bool mc_import_savepoint_is_lost(const mc_import_savepoint *MC_NONNULL savepoint);

void mc_import_savepoint_close(mc_import_savepoint *MC_NONNULL savepoint);

#endif
