/// mc_statement.c: prepares, binds, steps and reads statements.
#include <limits.h>
#include <string.h>

#include "pool/mc_pool_internal.h"

#include "base/mc_memory.h"

/// The part of an SQL text that a message shows: at most 80 bytes of its first line.
typedef struct sql_excerpt {
    char text[96];
} sql_excerpt;

static sql_excerpt excerpt_of(const char *sql, size_t length)
{
    enum { LONGEST = 80 };
    sql_excerpt excerpt;
    size_t count = 0;
    while (count < length && count < LONGEST && sql[count] != '\n' && sql[count] != '\0')
        count++;
    const bool is_cut = count < length;
    while (is_cut && count > 0 && ((unsigned char)sql[count] & 0xC0) == 0x80)  // not within a character
        count--;
    memcpy(excerpt.text, sql, count);
    memcpy(excerpt.text + count, is_cut ? "..." : "", is_cut ? 4 : 1);
    return excerpt;
}

/// Whether a text has only space, comments and semicolons.
static bool is_blank(sqlite3 *db, const char *sql, size_t length)
{
    while (length > 0) {
        const char *tail = sql;
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(db, sql, (int)length, &statement, &tail) != SQLITE_OK)
            return false;
        if (statement != NULL) {
            (void)sqlite3_finalize(statement);
            return false;
        }
        if (tail == sql)
            return true;
        length -= (size_t)(tail - sql);
        sql = tail;
    }
    return true;
}

static mc_status prepare_first(mc_connection *connection, const char *sql, size_t length, sqlite3_stmt **out, const char **tail,
                               mc_error *error)
{
    *out = NULL;
    *tail = sql + length;
    if (length > INT_MAX)
        return mc_fail(error, MC_ERROR_LIMIT, "an SQL text of %zu bytes is too long", length);
    // SQLite ends a text there, and would run a part of it.
    const char *const zero = memchr(sql, 0, length);
    if (zero != NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "\"%s\": byte %td of the SQL text is zero; bind it as a value", excerpt_of(sql, length).text,
                       zero - sql);
    const int code = sqlite3_prepare_v3(connection->db, sql, (int)length, SQLITE_PREPARE_PERSISTENT, out, tail);
    if (code == SQLITE_OK)
        return MC_OK;
    return mc_fail_sqlite(error, connection->db, code, "\"%s\"", excerpt_of(sql, length).text);
}

mc_status mc_statement_prepare(mc_connection *connection, const char *sql, size_t length, mc_statement **out, mc_error *error)
{
    *out = mc_statement_cache_take(connection, sql, length, mc_statement_hash(sql, length));
    if (*out != NULL)
        return MC_OK;
    sqlite3_stmt *handle = NULL;
    const char *tail = NULL;
    mc_status status = prepare_first(connection, sql, length, &handle, &tail, error);
    if (status != MC_OK)
        return status;
    const size_t rest = length - (size_t)(tail - sql);
    if (handle == NULL)
        return mc_fail(error, MC_ERROR_MISUSE, "\"%s\": there is no statement", excerpt_of(sql, length).text);
    if (rest > 0 && !is_blank(connection->db, tail, rest)) {
        (void)sqlite3_finalize(handle);
        return mc_fail(error, MC_ERROR_MISUSE, "\"%s\": one statement is expected, more follow", excerpt_of(sql, length).text);
    }
    return mc_statement_adopt(connection, handle, sql, length, out, error);
}

struct sqlite3_stmt *mc_statement_sqlite(mc_statement *statement)
{
    return statement->handle;
}

int mc_statement_parameter_count(mc_statement *statement)
{
    return sqlite3_bind_parameter_count(statement->handle);
}

/// Resets a statement that is on a row, because SQLite refuses values until then.
static void leave_row(mc_statement *statement)
{
    if (statement->stepping)
        mc_statement_reset(statement);
}

static mc_status bound(mc_statement *statement, int index, int code, mc_error *error)
{
    if (code == SQLITE_OK)
        return MC_OK;
    const sql_excerpt sql = excerpt_of(statement->sql, statement->length);
    if (code == SQLITE_RANGE)
        return mc_fail(error, MC_ERROR_MISUSE, "\"%s\": there is no parameter %d, only %d", sql.text, index,
                       sqlite3_bind_parameter_count(statement->handle));
    if (code == SQLITE_TOOBIG)
        return mc_fail(error, MC_ERROR_LIMIT, "\"%s\": the value of parameter %d is too long", sql.text, index);
    return mc_fail_sqlite(error, statement->connection->db, code, "\"%s\": bind parameter %d", sql.text, index);
}

mc_status mc_statement_bind_null(mc_statement *statement, int index, mc_error *error)
{
    leave_row(statement);
    return bound(statement, index, sqlite3_bind_null(statement->handle, index), error);
}

mc_status mc_statement_bind_integer(mc_statement *statement, int index, int64_t value, mc_error *error)
{
    leave_row(statement);
    return bound(statement, index, sqlite3_bind_int64(statement->handle, index, value), error);
}

mc_status mc_statement_bind_real(mc_statement *statement, int index, double value, mc_error *error)
{
    leave_row(statement);
    return bound(statement, index, sqlite3_bind_double(statement->handle, index, value), error);
}

mc_status mc_statement_bind_text(mc_statement *statement, int index, const char *text, size_t length, mc_error *error)
{
    leave_row(statement);
    const char *start = text != NULL ? text : "";
    return bound(statement, index, sqlite3_bind_text64(statement->handle, index, start, length, SQLITE_TRANSIENT, SQLITE_UTF8), error);
}

mc_status mc_statement_bind_blob(mc_statement *statement, int index, const void *bytes, size_t length, mc_error *error)
{
    leave_row(statement);
    const int code = length == 0 ? sqlite3_bind_zeroblob(statement->handle, index, 0)
                                 : sqlite3_bind_blob64(statement->handle, index, bytes, length, SQLITE_TRANSIENT);
    return bound(statement, index, code, error);
}

/// The error of a statement that was run. A commit that an import holds back counts as misuse.
static mc_status fail_statement(mc_error *error, mc_connection *connection, int sqlite_code, sql_excerpt sql)
{
    const mc_status status = mc_fail_sqlite(error, connection->db, sqlite_code, "\"%s\"", sql.text);
    if (connection->guard == NULL || !connection->guard->has_refused)
        return status;
    connection->guard->has_refused = false;
    if (sqlite_code != SQLITE_BUSY)
        return status;
    if (error != NULL)
        error->code = MC_ERROR_MISUSE;
    return MC_ERROR_MISUSE;
}

static mc_status step_failed(mc_statement *statement, int code, mc_error *error)
{
    mc_connection *connection = statement->connection;
    const mc_status status = fail_statement(error, connection, code, excerpt_of(statement->sql, statement->length));
    mc_statement_reset(statement);
    mc_changes_end_statement(connection, true);
    return status;
}

static mc_status step_as_deferred(mc_statement *statement, mc_error *error)
{
    const mc_error failure = *statement->deferred;
    mc_statement_reset(statement);
    if (error != NULL)
        *error = failure;
    return failure.code;
}

bool mc_statement_defer(mc_statement *statement, const mc_error *failure)
{
    mc_error *deferred = mc_allocate(sizeof *deferred);
    if (deferred == NULL)
        return false;
    mc_statement_reset(statement);
    *deferred = *failure;
    statement->deferred = deferred;
    return true;
}

/// Before a statement runs: one that is a transaction of its own, or begins one, begins to write.
static mc_status check_write(mc_connection *connection, sqlite3_stmt *handle, mc_error *error)
{
    if (!connection->is_writer || sqlite3_get_autocommit(connection->db) == 0)
        return MC_OK;
    // BEGIN and SAVEPOINT have no columns, and write nothing themselves.
    const bool reads = sqlite3_stmt_readonly(handle) != 0 && sqlite3_column_count(handle) > 0;
    return reads ? MC_OK : mc_connection_begin_write(connection, error);
}

mc_status mc_statement_step(mc_statement *statement, bool *has_row, mc_error *error)
{
    *has_row = false;
    mc_status status = mc_connection_check(statement->connection, error);
    if (status == MC_OK && !statement->stepping && statement->deferred == NULL)
        status = check_write(statement->connection, statement->handle, error);
    if (status != MC_OK)
        return status;
    if (statement->deferred != NULL)
        return step_as_deferred(statement, error);
    if (!statement->stepping)
        mc_changes_begin_statement(statement->connection);
    statement->stepping = true;
    const int code = sqlite3_step(statement->handle);
    if (code == SQLITE_ROW) {
        *has_row = true;
        return MC_OK;
    }
    if (code != SQLITE_DONE)
        return step_failed(statement, code, error);
    mc_statement_reset(statement);
    mc_changes_end_statement(statement->connection, false);
    mc_changes_tell(statement->connection);
    return MC_OK;
}

bool mc_statement_is_on_row(const mc_statement *statement)
{
    return statement->stepping;
}

void mc_statement_reset(mc_statement *statement)
{
    (void)sqlite3_reset(statement->handle);  // returns the failure of the last step again
    statement->stepping = false;
    mc_free(statement->deferred);
    statement->deferred = NULL;
}

/// Steps to the end, and adds the number of changed rows. SQLite keeps the number of an earlier statement if this one changes no rows.
static int run_to_end(sqlite3 *db, sqlite3_stmt *statement, int64_t *changes)
{
    const sqlite3_int64 before = sqlite3_total_changes64(db);
    int code;
    do {
        code = sqlite3_step(statement);
    } while (code == SQLITE_ROW);
    if (code == SQLITE_DONE && sqlite3_total_changes64(db) != before)
        *changes += sqlite3_changes64(db);
    return code;
}

mc_status mc_statement_run(mc_statement *statement, int64_t *changes, mc_error *error)
{
    int64_t changed = 0;
    mc_status status = mc_connection_check(statement->connection, error);
    leave_row(statement);
    if (status == MC_OK)
        status = check_write(statement->connection, statement->handle, error);
    if (status != MC_OK)
        return status;
    mc_changes_begin_statement(statement->connection);
    const int code = run_to_end(statement->connection->db, statement->handle, &changed);
    if (code != SQLITE_DONE)
        return step_failed(statement, code, error);
    mc_statement_reset(statement);
    mc_changes_end_statement(statement->connection, false);
    mc_changes_tell(statement->connection);
    if (changes != NULL)
        *changes = changed;
    return MC_OK;
}

/// Whether the text after a statement has only space and semicolons: the cheap check.
static bool is_space(const char *sql, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (sql[i] != ';' && sql[i] != ' ' && sql[i] != '\n' && sql[i] != '\t' && sql[i] != '\r')
            return false;
    }
    return true;
}

static mc_status run_and_release(mc_statement *statement, int64_t *changes, mc_error *error)
{
    const mc_status status = mc_statement_run(statement, changes, error);
    mc_statement_return(statement);
    return status;
}

/// Runs several statements, which are not added to the cache.
static mc_status run_script(mc_connection *connection, const char *sql, size_t length, int64_t *changes, mc_error *error)
{
    mc_status status = MC_OK;
    while (length > 0 && status == MC_OK) {
        sqlite3_stmt *handle = NULL;
        const char *tail = NULL;
        status = mc_connection_check(connection, error);
        if (status == MC_OK)
            status = prepare_first(connection, sql, length, &handle, &tail, error);
        if (status != MC_OK || (handle == NULL && tail == sql))
            break;
        if (handle != NULL)
            status = check_write(connection, handle, error);
        if (status != MC_OK) {
            (void)sqlite3_finalize(handle);
        } else if (handle != NULL) {
            mc_changes_begin_statement(connection);
            const int code = run_to_end(connection->db, handle, changes);
            if (code != SQLITE_DONE)
                status = fail_statement(error, connection, code, excerpt_of(sql, (size_t)(tail - sql)));
            (void)sqlite3_finalize(handle);
            mc_changes_end_statement(connection, code != SQLITE_DONE);
            mc_changes_tell(connection);
        }
        length -= (size_t)(tail - sql);
        sql = tail;
    }
    return status;
}

mc_status mc_connection_exec(mc_connection *connection, const char *sql, size_t length, int64_t *changes, mc_error *error)
{
    int64_t changed = 0;
    mc_statement *statement = mc_statement_cache_take(connection, sql, length, mc_statement_hash(sql, length));
    sqlite3_stmt *first = NULL;
    const char *tail = NULL;
    mc_status status = MC_OK;
    if (statement == NULL) {
        status = prepare_first(connection, sql, length, &first, &tail, error);
        if (status == MC_OK && first != NULL && is_space(tail, length - (size_t)(tail - sql)))
            status = mc_statement_adopt(connection, first, sql, length, &statement, error);
        else
            (void)sqlite3_finalize(first);  // the script prepares it again: a microsecond, for one way to run all texts
    }
    if (status == MC_OK)
        status = statement != NULL ? run_and_release(statement, &changed, error) : run_script(connection, sql, length, &changed, error);
    if (status == MC_OK && changes != NULL)
        *changes = changed;
    return status;
}

int mc_statement_column_count(mc_statement *statement)
{
    return sqlite3_column_count(statement->handle);
}

const char *mc_statement_column_name(mc_statement *statement, int column)
{
    return sqlite3_column_name(statement->handle, column);
}

mc_type mc_statement_column_type(mc_statement *statement, int column)
{
    return (mc_type)sqlite3_column_type(statement->handle, column);
}

int64_t mc_statement_column_integer(mc_statement *statement, int column)
{
    return sqlite3_column_int64(statement->handle, column);
}

double mc_statement_column_real(mc_statement *statement, int column)
{
    return sqlite3_column_double(statement->handle, column);
}

const char *mc_statement_column_text(mc_statement *statement, int column, size_t *length)
{
    const char *text = (const char *)sqlite3_column_text(statement->handle, column);
    *length = text != NULL ? (size_t)sqlite3_column_bytes(statement->handle, column) : 0;
    return text;
}

const void *mc_statement_column_blob(mc_statement *statement, int column, size_t *length)
{
    // As a blob, a text of a database in UTF-16 would be the bytes of that.
    bool is_text = sqlite3_column_type(statement->handle, column) == SQLITE_TEXT;
    const void *bytes =
        is_text ? (const void *)sqlite3_column_text(statement->handle, column) : sqlite3_column_blob(statement->handle, column);
    *length = (size_t)sqlite3_column_bytes(statement->handle, column);
    if (bytes == NULL && sqlite3_column_type(statement->handle, column) != SQLITE_NULL)
        return "";  // SQLite returns NULL for an empty blob as well
    return bytes;
}
