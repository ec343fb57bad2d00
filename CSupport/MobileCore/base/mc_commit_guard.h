/// mc_commit_guard.h: holds back the commits of a connection, and reports those that an import makes. Internal.
///
/// While an import is open, indexes and rows of its table may be removed from it; a commit would then lose them for good. SQLite's
/// commit hook is of no use here: there is one per connection, and a commit that it refuses is rolled back. So a virtual table without rows
/// takes part in the transaction. SQLite asks it before each commit, by COMMIT or by the release of the outermost savepoint, regardless of
/// the code that prepared the statement. The table answers SQLITE_BUSY and `MC_COMMIT_GUARD_REFUSAL`, and the transaction continues
/// unchanged.
#ifndef MC_COMMIT_GUARD_H
#define MC_COMMIT_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "mc_error.h"

#define MC_COMMIT_GUARD_REFUSAL "an import is open: finish or free it first"

/// The statement that makes the table take part in a transaction. It changes no row.
#define MC_COMMIT_GUARD_JOIN "DELETE FROM \"mc_commit_guard\" WHERE 0"

/// The guard of one connection, which owns this record.
typedef struct mc_commit_guard {
    int held;  ///< number of imports that hold back the commit of this transaction, each after MC_COMMIT_GUARD_JOIN; 0 after its end
    uint64_t rollbacks;  ///< number of transactions that the table took part in and that were rolled back
    bool has_refused;    ///< a commit was refused since this was set to false
    void (*MC_NULLABLE committed)(void *MC_NULLABLE context);  ///< called after the commits that an import makes
    void *MC_NULLABLE context;
} mc_commit_guard;

/// Finds the guard of a connection, or makes it. Returns SQLite's result code.
int mc_commit_guard_find(sqlite3 *MC_NONNULL db, mc_commit_guard *MC_NULLABLE *MC_NONNULL out);

#endif
