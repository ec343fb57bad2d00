/// mc_connection.c: opens and closes one connection of a pool.
#if !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L  // for nanosleep, which standard C does not have
#endif
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "pool/mc_pool_internal.h"

#include "base/mc_memory.h"
#include "decimal/mc_decimal_register.h"
#include "digest/mc_row_digest_register.h"
#include "lists/mc_text_list_register.h"
#include "json/mc_exact_internal.h"
#include "json/mc_plain_time_internal.h"
#include "json/mc_text_check_register.h"

enum { NS_PER_MS = 1000000 };

/// Called by SQLite while another connection holds a lock: waits 1 to 50 ms, longer each time, up to the limit.
static int wait_while_busy(void *context, int count)
{
    static const int64_t steps_ms[] = {1, 1, 2, 2, 5, 5, 10, 10, 20, 20, 50};
    mc_connection *connection = context;
    const int64_t now = mc_monotonic_ns();
    if (count == 0)
        connection->busy_since_ns = now;
    const int64_t left = connection->busy_limit_ns - (now - connection->busy_since_ns);
    if (left <= 0 || atomic_load(&connection->interrupted))
        return 0;
    const size_t last = sizeof steps_ms / sizeof steps_ms[0] - 1;
    int64_t pause = steps_ms[(size_t)count < last ? (size_t)count : last] * NS_PER_MS;
    if (pause > left)
        pause = left;
    const struct timespec span = {.tv_sec = 0, .tv_nsec = (long)pause};
    (void)nanosleep(&span, NULL);
    return 1;
}

/// SQLite calls this before a statement runs, and passes the subprograms of triggers as comments.
static int trace(unsigned kind, void *context, void *statement, void *text)
{
    const mc_connection *connection = context;
    const mc_pool_options *options = &connection->pool->options;
    const char *sql = text;
    (void)kind;
    if (connection->trace_mode == MC_TRACE_VALUES && strncmp(sql, "--", 2) != 0) {
        char *expanded = sqlite3_expanded_sql(statement);
        if (expanded != NULL)
            options->trace(options->trace_context, expanded, strlen(expanded));
        sqlite3_free(expanded);
        return 0;
    }
    options->trace(options->trace_context, sql, strlen(sql));
    return 0;
}

mc_status mc_connection_pragma(mc_connection *connection, const char *name, int64_t *value, mc_error *error)
{
    char sql[64];
    sqlite3_stmt *statement = NULL;
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA main.%s", name);
    int code = sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW)
            *value = sqlite3_column_int64(statement, 0);
        code = sqlite3_finalize(statement);
    }
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, connection->db, code, "read the setting %s", name);
}

static mc_status set(mc_connection *connection, const char *name, int64_t value, mc_error *error)
{
    char sql[64];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA main.%s = %lld", name, (long long)value);  // not of databases that `opened` has attached
    const int code = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, connection->db, code, "set %s to %" PRId64, name, value);
}

/// Switches to WAL. A read-only connection cannot, and keeps the file's mode.
static mc_status set_journal(mc_connection *connection, mc_error *error)
{
    const mc_pool_options *options = &connection->pool->options;
    if (!connection->is_writer || options->journal == MC_JOURNAL_UNCHANGED)
        return MC_OK;
    sqlite3_stmt *statement = NULL;
    bool is_wal = false;
    int code = sqlite3_prepare_v2(connection->db, "PRAGMA main.journal_mode = WAL", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW) {
            const unsigned char *mode = sqlite3_column_text(statement, 0);
            is_wal = mode != NULL && strcmp((const char *)mode, "wal") == 0;
        }
        code = sqlite3_finalize(statement);
    }
    if (code != SQLITE_OK)
        return mc_fail_sqlite(error, connection->db, code, "switch \"%s\" to WAL", connection->pool->path);
    if (!is_wal)
        return mc_fail(error, MC_ERROR_SQLITE, "\"%s\" cannot be switched to WAL: its storage has no shared memory",
                       connection->pool->path);
    return MC_OK;
}

static mc_status apply_options(mc_connection *connection, mc_error *error)
{
    const mc_pool_options *options = &connection->pool->options;
    int64_t page_size = 0;
    mc_status status = MC_OK;
    if (connection->is_writer)  // before the first read: a new file gets this size, an existing one keeps its own
        status = set(connection, "page_size", options->page_size < 0 ? 4096 : options->page_size, error);
    if (status == MC_OK)
        status = mc_file_probe(connection, error);  // before the switch to WAL, which does not report an invalid database file
    if (status == MC_OK)
        status = set_journal(connection, error);
    if (status == MC_OK)
        status = mc_connection_pragma(connection, "page_size", &page_size, error);
    if (status == MC_OK) {
        const int64_t pages = page_size > 0 ? options->cache_bytes / page_size : 0;
        status = set(connection, "cache_size", pages > 0 ? (pages < INT32_MAX ? pages : INT32_MAX) : 1, error);
    }
    if (status == MC_OK)
        status = set(connection, "mmap_size", options->mmap_bytes, error);
    if (status == MC_OK)
        status = set(connection, "synchronous", options->synchronous, error);
    if (status == MC_OK)
        status = set(connection, "journal_size_limit", options->journal_size_limit, error);
    if (status == MC_OK)
        status = set(connection, "foreign_keys", options->foreign_keys, error);
    if (status == MC_OK && options->secure_delete >= 0)
        status = set(connection, "secure_delete", options->secure_delete, error);
    if (status == MC_OK && !connection->is_writer)
        status = set(connection, "query_only", 1, error);
    return status;
}

static void rolled_back(void *context)
{
    mc_connection *const writer = context;
    writer->is_rolled_back = true;
    mc_changes_forget(writer);
}

/// Called by SQLite before a commit; a value other than 0 makes it a rollback. Without memory, a statement that is out of date can fail to
/// undo itself. SQLite then rolls its transaction back and repeats the statement, which would commit by itself.
static int may_not_commit(void *context)
{
    const mc_connection *const writer = context;
    return writer->has_transaction && writer->is_rolled_back;
}

static void committed_within(void *context)
{
    mc_changes_tell_within(context);
}

/// Watches the writer's transactions.
static mc_status watch(mc_connection *writer, mc_error *error)
{
    const int code = mc_commit_guard_find(writer->db, &writer->guard);
    if (code != SQLITE_OK)
        return mc_fail_sqlite(error, writer->db, code, "open \"%s\"", writer->pool->path);
    writer->guard->committed = committed_within;
    writer->guard->context = writer;
    mc_log_watch(writer);
    (void)sqlite3_rollback_hook(writer->db, rolled_back, writer);
    (void)sqlite3_commit_hook(writer->db, may_not_commit, writer);
    return MC_OK;
}

/// Lets the program prepare the connection.
static mc_status call_opened(const mc_connection *connection, mc_error *error)
{
    const mc_pool *const pool = connection->pool;
    mc_error failure = {.byte_offset = -1};
    if (pool->options.opened == NULL)
        return MC_OK;
    const mc_status status = pool->options.opened(pool->options.opened_context, connection->db, connection->is_writer, &failure);
    if (status == MC_OK && sqlite3_get_autocommit(connection->db) == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "open \"%s\": the callback for connections has left a transaction open; end it", pool->path);
    if (status == MC_OK || error == NULL)
        return status;
    const int code = sqlite3_extended_errcode(connection->db);
    failure.message[MC_ERROR_MESSAGE_SIZE - 1] = '\0';
    if (failure.message[0] != '\0')
        *error = failure;
    else if (code != SQLITE_OK)
        (void)mc_fail_sqlite(error, connection->db, code, "open \"%s\": the callback for connections", pool->path);
    else
        (void)mc_fail(error, status, "open \"%s\": the callback for connections has failed without a reason", pool->path);
    error->code = status;
    return status;
}

mc_status mc_connection_open(mc_pool *pool, bool writer, mc_connection **out, mc_error *error)
{
    *out = NULL;
    mc_connection *connection = mc_allocate(sizeof *connection);
    if (connection == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a connection");
    memset(connection, 0, sizeof *connection);
    connection->pool = pool;
    connection->is_writer = writer;
    connection->busy_limit_ns = pool->options.busy_timeout_ns;
    atomic_init(&connection->interrupted, false);

    mc_status status = mc_file_open(connection, error);
    if (status == MC_OK && sqlite3_busy_handler(connection->db, wait_while_busy, connection) != SQLITE_OK)
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a connection");
    if (status == MC_OK)
        status = call_opened(connection, error);
    if (status == MC_OK)
        status = apply_options(connection, error);
    if (status == MC_OK)
        status = mc_decimal_register(connection->db, error);
    if (status == MC_OK)
        status = mc_exact_register(connection->db, error);
    if (status == MC_OK)
        status = mc_plain_time_register(connection->db, error);
    if (status == MC_OK)
        status = mc_row_digest_register(connection->db, error);
    if (status == MC_OK)
        status = mc_text_list_register(connection->db, error);
    if (status == MC_OK)
        status = mc_text_check_register(connection->db, error);
    if (status == MC_OK)
        status = mc_pool_hooks_open(connection, error);
    if (status == MC_OK)
        status = mc_statement_cache_open(connection, pool->options.statement_cache, error);
    if (status == MC_OK && writer)
        status = watch(connection, error);
    if (status == MC_OK) {
        // A misspelt "column" in double quotes is an error, not a string.
        (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
        *out = connection;
        connection = NULL;
    }
    mc_connection_close(connection);
    return status;
}

void mc_connection_follow_trace(mc_connection *connection)
{
    const mc_trace_mode mode = connection->pool->trace_mode;
    if (connection->trace_mode == mode)
        return;
    connection->trace_mode = mode;
    (void)sqlite3_trace_v2(connection->db, mode == MC_TRACE_OFF ? 0 : SQLITE_TRACE_STMT, mode == MC_TRACE_OFF ? NULL : trace, connection);
}

void mc_connection_close(mc_connection *connection)
{
    if (connection == NULL)
        return;
    for (int i = 0; i < MC_CONTROL_COUNT; i++)
        (void)sqlite3_finalize(connection->control[i]);
    mc_statement_cache_close(connection);
    (void)sqlite3_close(connection->db);  // calls the rollback hook if a transaction is still open
    mc_changes_close(connection);
    mc_free(connection);
}

struct sqlite3 *mc_connection_sqlite(mc_connection *connection)
{
    return connection->db;
}

mc_pool *mc_connection_pool(mc_connection *connection)
{
    return connection->pool;
}

bool mc_connection_is_writer(const mc_connection *connection)
{
    return connection->is_writer;
}

int mc_connection_depth(const mc_connection *connection)
{
    return connection->depth;
}

int64_t mc_connection_last_inserted_key(mc_connection *connection)
{
    return sqlite3_last_insert_rowid(connection->db);
}

int64_t mc_connection_changes(mc_connection *connection)
{
    return sqlite3_changes64(connection->db);
}
