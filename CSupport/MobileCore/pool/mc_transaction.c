/// mc_transaction.c: begins and ends a connection's transactions and savepoints.
#include "base/mc_transaction_control.h"
#include "pool/mc_pool_internal.h"

enum { LOOK_AT_FILE_AFTER_NS = 100 * 1000 * 1000 };

static const char LOST_TRANSACTION[] = "the transaction has been rolled back already, by SQLite after an earlier error or by a statement";

mc_status mc_connection_check(mc_connection *connection, mc_error *error)
{
    atomic_store_explicit(&connection->user, mc_thread_number(), memory_order_relaxed);
    if (atomic_load_explicit(&connection->interrupted, memory_order_relaxed))
        return mc_fail(error, MC_ERROR_INTERRUPTED, "the work on this connection was interrupted");
    // A further statement would commit by itself, and the transaction would be done in part.
    if (connection->has_transaction && sqlite3_get_autocommit(connection->db) != 0)
        return mc_fail(error, MC_ERROR_MISUSE, LOST_TRANSACTION);
    return MC_OK;
}

/// Prepares one of the pool's own statements. Returns SQLite's result code.
static int prepare_control(mc_connection *connection, mc_control control)
{
    static const char *const sql[MC_CONTROL_COUNT] = {
        [MC_CONTROL_COMMIT] = "COMMIT",
        [MC_CONTROL_ROLLBACK] = "ROLLBACK",
        [MC_CONTROL_SAVEPOINT] = "SAVEPOINT \"mc\"",
        [MC_CONTROL_RELEASE] = "RELEASE \"mc\"",
        [MC_CONTROL_ROLLBACK_TO] = "ROLLBACK TO \"mc\"",
    };
    const char *text = control != MC_CONTROL_BEGIN ? sql[control] : connection->is_writer ? "BEGIN IMMEDIATE" : "BEGIN";
    return mc_transaction_control_prepare(connection->db, text, &connection->control[control]);
}

static int run_control(mc_connection *connection, mc_control control)
{
    const int code = prepare_control(connection, control);
    return code == SQLITE_OK ? mc_transaction_control_run(connection->control[control]) : code;
}

/// Runs a statement that begins work, after the statements that end it are prepared: the end then needs no memory.
static int run_beginning(mc_connection *connection, mc_control begin, mc_control end, mc_control undo)
{
    int code = prepare_control(connection, end);
    if (code == SQLITE_OK)
        code = prepare_control(connection, undo);
    return code == SQLITE_OK ? run_control(connection, begin) : code;
}

static int run_end(mc_connection *connection, mc_control control)
{
    const int code = prepare_control(connection, control);
    return code == SQLITE_OK ? mc_transaction_control_end(connection->db, connection->control[control]) : code;
}

/// Checks that the file is still the one of its path: a write to a file without a name is lost with the last connection. Not before each
/// write, because the question takes a tenth of the time of a small transaction.
static mc_status check_file(mc_connection *writer, mc_error *error)
{
    int has_moved = 0;
    const int64_t now = mc_monotonic_ns();
    if (now - writer->file_checked_ns < LOOK_AT_FILE_AFTER_NS)
        return MC_OK;
    if (sqlite3_file_control(writer->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && has_moved != 0)
        return mc_file_fail_moved(writer->pool, error);
    writer->file_checked_ns = now;
    return MC_OK;
}

mc_status mc_connection_begin_write(mc_connection *writer, mc_error *error)
{
    const mc_status status = check_file(writer, error);
    return status == MC_OK ? mc_log_make_room(writer, error) : status;
}

mc_status mc_connection_begin(mc_connection *connection, mc_error *error)
{
    mc_status status = mc_connection_check(connection, error);
    if (status != MC_OK)
        return status;
    if (connection->is_writer && (status = mc_connection_begin_write(connection, error)) != MC_OK)
        return status;
    const int code = run_beginning(connection, MC_CONTROL_BEGIN, MC_CONTROL_COMMIT, MC_CONTROL_ROLLBACK);
    if (code == SQLITE_OK) {
        connection->has_transaction = true;
        connection->is_rolled_back = false;
        return MC_OK;
    }
    if ((code & 0xFF) != SQLITE_BUSY)
        return mc_fail_sqlite(error, connection->db, code, "begin a transaction");
    if (atomic_load(&connection->interrupted))
        return mc_connection_check(connection, error);
    (void)mc_fail_sqlite(error, connection->db, code, "no write lock within %.1f s: another process or pool writes to \"%s\"",
                         (double)connection->busy_limit_ns / 1e9, connection->pool->path);
    return MC_ERROR_TIMEOUT;
}

static void roll_back(mc_connection *connection)
{
    mc_statement_reset_all(connection);
    if (sqlite3_get_autocommit(connection->db) == 0)
        (void)run_end(connection, MC_CONTROL_ROLLBACK);
}

mc_status mc_connection_commit(mc_connection *connection, mc_error *error)
{
    if (connection->guard != NULL && connection->guard->held > 0)
        return mc_fail(error, MC_ERROR_MISUSE, "commit: %s", MC_COMMIT_GUARD_REFUSAL);
    const bool has_begun = connection->has_transaction;
    connection->has_transaction = false;
    if (sqlite3_get_autocommit(connection->db) != 0)
        return mc_fail(error, MC_ERROR_MISUSE, "commit: %s", has_begun ? LOST_TRANSACTION : "there is no transaction");
    mc_statement_reset_all(connection);
    const int code = run_end(connection, MC_CONTROL_COMMIT);
    if (code == SQLITE_OK) {
        mc_changes_tell(connection);
        return MC_OK;
    }
    const mc_status status = mc_fail_sqlite(error, connection->db, code, "commit");
    roll_back(connection);
    return status;
}

void mc_connection_rollback(mc_connection *connection)
{
    connection->has_transaction = false;
    roll_back(connection);
}

mc_status mc_connection_savepoint(mc_connection *connection, mc_error *error)
{
    const mc_status status = mc_connection_check(connection, error);
    if (status != MC_OK)
        return status;
    if (sqlite3_get_autocommit(connection->db) != 0)
        return mc_fail(error, MC_ERROR_MISUSE, "savepoint: there is no transaction");
    const int code = run_beginning(connection, MC_CONTROL_SAVEPOINT, MC_CONTROL_RELEASE, MC_CONTROL_ROLLBACK_TO);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, connection->db, code, "savepoint");
}

mc_status mc_connection_release_savepoint(mc_connection *connection, mc_error *error)
{
    if (sqlite3_get_autocommit(connection->db) != 0)
        return mc_fail(error, MC_ERROR_MISUSE, "release: %s", LOST_TRANSACTION);
    const int code = run_end(connection, MC_CONTROL_RELEASE);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, connection->db, code, "release the savepoint");
}

void mc_connection_rollback_savepoint(mc_connection *connection)
{
    // Statements stay on their rows: the caller may continue to read after a part of the work was undone.
    if (sqlite3_get_autocommit(connection->db) != 0)
        return;
    if (run_end(connection, MC_CONTROL_ROLLBACK_TO) != SQLITE_OK)
        roll_back(connection);  // all of it, because a part is impossible; further statements fail
    else
        (void)run_end(connection, MC_CONTROL_RELEASE);
}
