/// mc_commits.h: the commits of a connection: who holds them back, and who hears of those that an import makes. Internal.
///
/// While an import is open, indexes and rows of its table may be out of it: whoever committed then would lose them for good. SQLite's
/// commit hook is of no use here: there is one per connection, and what it refuses is rolled back. So a virtual table without rows takes
/// part in the transaction. SQLite asks it before each commit, by COMMIT or by the release of the outermost savepoint, whoever prepared the
/// statement; it answers SQLITE_BUSY and `MC_COMMITS_REFUSAL`, and the transaction goes on as if nobody had tried.
#ifndef MC_COMMITS_H
#define MC_COMMITS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "mc_error.h"

#define MC_COMMITS_REFUSAL "an import is open: finish or free it first"

/// What takes part in a transaction. It changes no row.
#define MC_COMMITS_JOIN "DELETE FROM \"mc_commits\" WHERE 0"

/// One per connection, which owns it.
typedef struct mc_commits {
    int held;            ///< how many hold the commit of this transaction, each after MC_COMMITS_JOIN; of no transaction after its end
    uint64_t rollbacks;  ///< of transactions that somebody took part in
    bool has_refused;    ///< a commit, since this was set to false
    void (*MC_NULLABLE committed)(void *MC_NULLABLE context);  ///< called behind the commits that an import makes
    void *MC_NULLABLE context;
} mc_commits;

/// Finds the connection's, or makes it. Returns SQLite's result code.
int mc_commits_find(sqlite3 *MC_NONNULL db, mc_commits *MC_NULLABLE *MC_NONNULL out);

#endif
