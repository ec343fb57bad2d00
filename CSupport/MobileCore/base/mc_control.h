/// mc_control.h: statements that begin and end transactions and savepoints. Internal.
///
/// Prepared before the work begins, they end it without memory: work that can be neither finished nor taken back would stay half done.
#ifndef MC_CONTROL_H
#define MC_CONTROL_H

#include <sqlite3.h>

#include "mc_error.h"

/// Prepares `sql` unless `*statement` is there already. Returns SQLite's result code. The caller finalizes it.
int mc_control_prepare(sqlite3 *MC_NONNULL db, const char *MC_NONNULL sql, sqlite3_stmt *MC_NULLABLE *MC_NONNULL statement);

/// Runs it once. Returns SQLite's result code.
int mc_control_run(sqlite3_stmt *MC_NONNULL statement);

/// Runs one that ends a transaction or a savepoint, whoever interrupts the connection: a part of the work would stay otherwise. On an
/// interrupt the running statements of `db` are reset. Returns SQLite's result code.
int mc_control_end(sqlite3 *MC_NONNULL db, sqlite3_stmt *MC_NONNULL statement);

#endif
