#include "base/mc_transaction_control.h"

int mc_transaction_control_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement)
{
    return *statement != NULL ? SQLITE_OK : sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
}

int mc_transaction_control_run(sqlite3_stmt *statement)
{
    (void)sqlite3_step(statement);
    return sqlite3_reset(statement);
}

/// Resets all running statements but the handles of large values: those have no text, and a reset would take their cursor from them.
static void reset_running(sqlite3 *db)
{
    for (sqlite3_stmt *statement = sqlite3_next_stmt(db, NULL); statement != NULL; statement = sqlite3_next_stmt(db, statement)) {
        if (sqlite3_stmt_busy(statement) && sqlite3_sql(statement) != NULL)
            (void)sqlite3_reset(statement);
    }
}

/// SQLite checks for an interrupt only before it begins such a statement, and clears it when nothing else runs: so another try
/// fails by another interrupt only.
int mc_transaction_control_end(sqlite3 *db, sqlite3_stmt *statement)
{
    enum { TRIES = 1000 };
    int code = mc_transaction_control_run(statement);
    for (int i = 0; i < TRIES && (code & 0xFF) == SQLITE_INTERRUPT; i++) {
        reset_running(db);
        code = mc_transaction_control_run(statement);
    }
    return code;
}
