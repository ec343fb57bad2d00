/// mc_import_savepoint.h: the part of a transaction that an import is: all of it or nothing. Internal.
///
/// From its beginning to its end nobody else commits; see base/mc_commits.h.
#ifndef MC_IMPORT_SAVEPOINT_H
#define MC_IMPORT_SAVEPOINT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/mc_commits.h"

enum { MC_IMPORT_SAVEPOINT_STATEMENTS = 7 };

/// Zeroed memory with `db` is one that has not begun. Functions return SQLite's result code.
typedef struct mc_import_savepoint {
    sqlite3 *MC_NONNULL db;  // borrowed
    bool has_begun;
    mc_commits *MC_NULLABLE commits;  // of `db`
    bool holds_commits;
    uint64_t rollbacks;  // `commits->rollbacks` at its beginning
    sqlite3_stmt *MC_NULLABLE statements[MC_IMPORT_SAVEPOINT_STATEMENTS];
} mc_import_savepoint;

/// Begins it, in the running transaction or as one of its own. Everything that ends it is prepared before.
int mc_import_savepoint_begin(mc_import_savepoint *MC_NONNULL savepoint);

/// Ends it and keeps the work.
int mc_import_savepoint_release(mc_import_savepoint *MC_NONNULL savepoint);

/// Whether its commit would be that of another import's work as well, which is not finished.
bool mc_import_savepoint_is_shared(const mc_import_savepoint *MC_NONNULL savepoint);

/// Commits the work together with the transaction around it, tells the observers, and begins anew in a transaction of the same kind.
/// `*committed` tells whether the work was committed, also where beginning anew failed. It must not be shared.
int mc_import_savepoint_commit(mc_import_savepoint *MC_NONNULL savepoint, bool *MC_NONNULL committed);

/// Takes the work back, if it has begun; where that alone cannot be done, the transaction around it as well, so that no part of the work
/// stays.
void mc_import_savepoint_undo(mc_import_savepoint *MC_NONNULL savepoint);

/// Whether the transaction has been rolled back since `mc_import_savepoint_begin`, by whomever; there may be a new one.
bool mc_import_savepoint_is_lost(const mc_import_savepoint *MC_NONNULL savepoint);

void mc_import_savepoint_close(mc_import_savepoint *MC_NONNULL savepoint);

#endif
