/// mc_statement.h: SQL on a connection that was checked out of a pool.
///
/// Threads: the thread that holds the connection. Nothing here may be called after the connection's return.
/// Text is UTF-8 with a length, never NUL-terminated; parameters count from 1, columns from 0, as in SQLite.
#ifndef MC_STATEMENT_H
#define MC_STATEMENT_H

#include "mc_pool.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct sqlite3_stmt;

/// A prepared statement of one connection's cache, used by one caller.
typedef struct mc_statement mc_statement;

/// Returns the SQLite connection, borrowed: for `mc_import_open`, and for SQLite's own interface.
struct sqlite3 *mc_connection_sqlite(mc_connection *connection);

/// Returns the pool of the connection.
mc_pool *mc_connection_pool(mc_connection *connection);

/// Returns whether this is the pool's writer.
bool mc_connection_is_writer(const mc_connection *connection);

/// Returns the number of nested check-outs of the thread that holds it: 1 for the outermost.
int mc_connection_depth(const mc_connection *connection);

/// Opens a transaction: BEGIN IMMEDIATE on the writer, which waits for writers of other processes; BEGIN on a reader
/// (its snapshot is that of its first statement). If the transaction is rolled back before its end, by SQLite or by an SQL text, every
/// statement fails with MC_ERROR_MISUSE until `mc_connection_rollback`: it would commit by itself.
/// Fails with MC_ERROR_TIMEOUT, MC_ERROR_INTERRUPTED, MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_connection_begin(mc_connection *connection, mc_error *MC_NULLABLE error);

/// Commits. On failure the transaction has been rolled back. Fails with MC_ERROR_MISUSE without a transaction, because SQLite
/// or other code has already ended it, for example after an earlier error; and with everything that writing fails with.
/// While an import is open on the connection it fails with MC_ERROR_MISUSE and does nothing: transaction and import continue.
MC_MUST_USE mc_status mc_connection_commit(mc_connection *connection, mc_error *MC_NULLABLE error);

/// Rolls back the transaction, if there is one. Statements in use are reset. Cannot fail.
void mc_connection_rollback(mc_connection *connection);

/// Begins, or releases, a savepoint within the transaction. Savepoints nest; each is ended by one of the two functions below.
MC_MUST_USE mc_status mc_connection_savepoint(mc_connection *connection, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_connection_release_savepoint(mc_connection *connection, mc_error *MC_NULLABLE error);
/// Undoes everything since the innermost savepoint and ends it. Without effect if SQLite has rolled the transaction back. Statements
/// stay on their rows, unless the work was interrupted: then they are reset. If only a part could be undone, all is rolled back.
void mc_connection_rollback_savepoint(mc_connection *connection);

/// Runs one statement, or several separated by semicolons, and discards their rows. `*changes` (may be NULL): rows inserted, updated
/// and deleted, those of triggers not counted. Fails with the first statement that fails; those before it have run.
MC_MUST_USE mc_status mc_connection_exec(mc_connection *connection, const char *sql, size_t length, int64_t *MC_NULLABLE changes,
                                         mc_error *MC_NULLABLE error);

/// Returns the key of the last row inserted on this connection; 0 before the first.
int64_t mc_connection_last_inserted_key(mc_connection *connection);

/// Returns the number of rows changed by the last INSERT, UPDATE or DELETE of this connection.
int64_t mc_connection_changes(mc_connection *connection);

/// Returns the counters of the statement cache since the connection was opened.
mc_statement_statistics mc_connection_statement_statistics(const mc_connection *connection);

/// Takes the statement of this SQL text out of the cache, or prepares it. On success `*out` is returned with
/// `mc_statement_return`; a text that is already in use is prepared a second time.
/// Fails with MC_ERROR_MISUSE (no statement, or more than one), MC_ERROR_SQLITE (the message has SQLite's reason).
MC_MUST_USE mc_status mc_statement_prepare(mc_connection *connection, const char *sql, size_t length,
                                           mc_statement *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Resets the statement, clears its values and returns it to the cache. NULL is allowed.
void mc_statement_return(mc_statement *MC_NULLABLE statement);

/// Returns the SQLite statement, borrowed.
struct sqlite3_stmt *mc_statement_sqlite(mc_statement *statement);

/// Sets parameter `index`. Text and bytes are copied; the pointer NULL with the length 0 is the empty text or blob, not the value NULL.
/// Resets a statement that has been stepped, and so discards its row.
/// Fails with MC_ERROR_MISUSE (no such parameter), MC_ERROR_LIMIT (too long), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_statement_bind_null(mc_statement *statement, int index, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_statement_bind_integer(mc_statement *statement, int index, int64_t value, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_statement_bind_real(mc_statement *statement, int index, double value, mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_statement_bind_text(mc_statement *statement, int index, const char *MC_NULLABLE text, size_t length,
                                             mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_statement_bind_blob(mc_statement *statement, int index, const void *MC_NULLABLE bytes, size_t length,
                                             mc_error *MC_NULLABLE error);

/// Returns the number of parameters.
int mc_statement_parameter_count(mc_statement *statement);

/// Steps to the next row. `*has_row` is false after the last one; the statement is then reset and may be run again.
MC_MUST_USE mc_status mc_statement_step(mc_statement *statement, bool *has_row, mc_error *MC_NULLABLE error);

/// Resets the statement and makes its next step fail with `failure`: for callers that have stepped further than was requested.
/// Returns false without memory; the statement is then unchanged.
MC_MUST_USE bool mc_statement_defer(mc_statement *statement, const mc_error *failure);

/// Returns whether there is a current row: the statement was stepped, is not at the end, and was not reset since.
bool mc_statement_is_on_row(const mc_statement *statement);

/// Resets the statement to before the first row; values stay bound.
void mc_statement_reset(mc_statement *statement);

/// Runs to the end, discards the rows, and resets. `*changes` (may be NULL) as in `mc_connection_exec`.
MC_MUST_USE mc_status mc_statement_run(mc_statement *statement, int64_t *MC_NULLABLE changes, mc_error *MC_NULLABLE error);

/// The kinds of values. The numbers are SQLite's.
typedef enum mc_type { MC_TYPE_INTEGER = 1, MC_TYPE_REAL = 2, MC_TYPE_TEXT = 3, MC_TYPE_BLOB = 4, MC_TYPE_NULL = 5 } mc_type;

/// Read the current row. Without a row, or for a column that does not exist, the value is NULL, 0 and empty.
/// Pointers are valid until the next call for this statement.
int mc_statement_column_count(mc_statement *statement);
const char *MC_NULLABLE mc_statement_column_name(mc_statement *statement, int column);
mc_type mc_statement_column_type(mc_statement *statement, int column);
int64_t mc_statement_column_integer(mc_statement *statement, int column);
double mc_statement_column_real(mc_statement *statement, int column);
/// Return text (numbers as text) or bytes; NULL for NULL. An empty value is a pointer and the length 0.
const char *MC_NULLABLE mc_statement_column_text(mc_statement *statement, int column, size_t *length);
const void *MC_NULLABLE mc_statement_column_blob(mc_statement *statement, int column, size_t *length);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
