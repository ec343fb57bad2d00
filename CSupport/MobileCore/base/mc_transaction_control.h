/// mc_transaction_control.h: statements that begin and end transactions and savepoints. Internal.
///
/// They are prepared before the work begins, so that ending it needs no memory: work that can be neither finished nor rolled back would
/// stay half done.
#ifndef MC_TRANSACTION_CONTROL_H
#define MC_TRANSACTION_CONTROL_H

#include <sqlite3.h>

#include "mc_error.h"

/// Prepares `sql` unless `*statement` already exists. Returns SQLite's result code. The caller finalizes it.
int mc_transaction_control_prepare(sqlite3 *MC_NONNULL db, const char *MC_NONNULL sql, sqlite3_stmt *MC_NULLABLE *MC_NONNULL statement);

/// Runs a statement once. Returns SQLite's result code.
int mc_transaction_control_run(sqlite3_stmt *MC_NONNULL statement);

/// Runs a statement that ends a transaction or a savepoint, in spite of interrupts of the connection: otherwise a part of the work would
/// stay. On an interrupt the running statements of `db` are reset. Returns SQLite's result code.
int mc_transaction_control_end(sqlite3 *MC_NONNULL db, sqlite3_stmt *MC_NONNULL statement);

#endif
