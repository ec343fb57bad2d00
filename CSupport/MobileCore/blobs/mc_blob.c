/// mc_blob.c: the tables of large values, and the contents of their rows.
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_lease.h"
#include "pool/mc_pool_internal.h"

// The state is 0 while a value is written, 1 when it is complete, 2 when it is dropped. Until it is complete, `bytes` has the number of its
// writer, and `length` the bytes that are there: so a writer finds out that a rollback has taken its value, or the last parts of it.
static const char SQL_SCHEMA[] =
    "CREATE TABLE IF NOT EXISTS \"_mc_value\"("
    "\"id\" INTEGER PRIMARY KEY AUTOINCREMENT, "  // ids are never reused: a stale reference finds no value
    "\"unit\" INTEGER NOT NULL, \"chunk\" INTEGER NOT NULL, \"state\" INTEGER NOT NULL, "
    "\"length\" INTEGER NOT NULL, \"bytes\" INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS \"_mc_chunk\"(\"id\" INTEGER PRIMARY KEY, \"start\" INTEGER, \"content\" BLOB NOT NULL);";

mc_status mc_short_write_begin(mc_pool *pool, const char *label, int64_t timeout_ns, mc_short_write *write, mc_error *error)
{
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true, .timeout_ns = timeout_ns, .label = label};
    mc_connection *connection = NULL;
    mc_status status = mc_pool_checkout(pool, &checkout, &connection, error);
    if (status != MC_OK)
        return status;
    *write = (mc_short_write){.pool = pool, .connection = connection, .is_part = mc_connection_depth(connection) > 1};
    status = write->is_part ? mc_connection_savepoint(connection, error) : mc_connection_begin(connection, error);
    if (status != MC_OK)
        mc_pool_return(pool, connection);
    return status;
}

void mc_short_write_postpone_checkpoint(mc_short_write *write)
{
    write->postpones_checkpoint = !write->is_part;
    if (write->postpones_checkpoint)
        mc_log_postpone(write->connection, true);
}

mc_status mc_short_write_end(mc_short_write *write, mc_status status, mc_error *error)
{
    mc_connection *connection = write->connection;
    if (status == MC_OK)
        status = write->is_part ? mc_connection_release_savepoint(connection, error) : mc_connection_commit(connection, error);
    else if (write->is_part)
        mc_connection_rollback_savepoint(connection);
    else
        mc_connection_rollback(connection);
    if (write->postpones_checkpoint)
        mc_log_postpone(connection, false);
    mc_pool_return(write->pool, connection);
    write->connection = NULL;
    return status;
}

mc_status mc_blob_sweep(mc_connection *connection, mc_status (*sweep)(mc_connection *connection, void *context, mc_error *error),
                        void *context, mc_error *error)
{
    mc_pool *const pool = mc_connection_pool(connection);
    const bool is_own = sqlite3_get_autocommit(mc_connection_sqlite(connection)) != 0;
    bool alone = false;
    mc_status status = is_own ? mc_connection_begin(connection, error) : MC_OK;
    if (status != MC_OK)
        return status;
    status = mc_blob_lease_begin_alone(pool, &alone, error);
    if (alone) {
        status = sweep(connection, context, error);
        const mc_status end = mc_blob_lease_end_alone(pool, status == MC_OK ? error : NULL);
        status = status == MC_OK ? end : status;
    }
    if (is_own && status == MC_OK)
        return mc_connection_commit(connection, error);
    if (is_own)
        mc_connection_rollback(connection);
    return status;
}

static mc_status prepare_with(mc_connection *connection, const char *sql, const int64_t *values, int count, mc_statement **out,
                              mc_error *error)
{
    mc_status status = mc_statement_prepare(connection, sql, strlen(sql), out, error);
    for (int i = 0; i < count && status == MC_OK; i++)
        status = mc_statement_bind_integer(*out, i + 1, values[i], error);
    return status;
}

mc_status mc_blob_run(mc_connection *connection, const char *sql, const int64_t *values, int count, int64_t *changes, mc_error *error)
{
    mc_statement *statement = NULL;
    mc_status status = prepare_with(connection, sql, values, count, &statement, error);
    if (status == MC_OK)
        status = mc_statement_run(statement, changes, error);
    mc_statement_return(statement);
    return status;
}

mc_status mc_blob_find(mc_connection *connection, const char *sql, const int64_t *values, int count, int64_t *result, bool *found,
                       mc_error *error)
{
    mc_statement *statement = NULL;
    mc_status status = prepare_with(connection, sql, values, count, &statement, error);
    if (status == MC_OK)
        status = mc_statement_step(statement, found, error);
    if (status == MC_OK && *found)
        *result = mc_statement_column_integer(statement, 0);
    mc_statement_return(statement);
    return status;
}

/// Drops all unfinished values, unless this pool holds the lease: its own values may be among them.
static mc_status drop_unfinished(mc_connection *connection, void *context, mc_error *error)
{
    (void)context;
    if (mc_blob_lease_is_held(mc_connection_pool(connection)))
        return MC_OK;
    return mc_blob_run(connection, "UPDATE \"_mc_value\" SET \"state\" = 2 WHERE \"state\" = 0", NULL, 0, NULL, error);
}

static mc_status drop_leftovers(mc_connection *connection, mc_error *error)
{
    int64_t one = 0;
    bool found = false;
    const mc_status status =
        mc_blob_find(connection, "SELECT 1 FROM \"_mc_value\" WHERE \"state\" = 0 LIMIT 1", NULL, 0, &one, &found, error);
    return status == MC_OK && found ? mc_blob_sweep(connection, drop_unfinished, NULL, error) : status;
}

mc_status mc_blob_prepare(mc_connection *connection, mc_error *error)
{
    mc_status status = mc_connection_exec(connection, SQL_SCHEMA, sizeof SQL_SCHEMA - 1, NULL, error);
    if (status != MC_OK)
        return status;
    return drop_leftovers(connection, error);
}

static mc_status check_description(int64_t value, const mc_blob_description *description, mc_error *error)
{
    const bool is_text = description->unit == MC_BLOB_SCALARS;
    const bool is_sound = (is_text || description->unit == MC_BLOB_BYTES) && description->chunk_size > 0
        && description->chunk_size <= INT32_MAX && description->length >= 0 && description->bytes >= description->length
        && (is_text || description->bytes == description->length) && description->bytes / description->chunk_size < MC_CHUNKS_MAXIMUM;
    return is_sound ? MC_OK : mc_fail(error, MC_ERROR_CORRUPT, "large value %" PRId64 ": its length contradicts itself", value);
}

mc_status mc_blob_describe(mc_connection *connection, int64_t value, mc_blob_description *description, mc_error *error)
{
    static const char sql[] = "SELECT \"unit\", \"length\", \"bytes\", \"chunk\" FROM \"_mc_value\" WHERE \"id\" = ? AND \"state\" = 1";
    mc_statement *statement = NULL;
    bool found = false;
    mc_status status = prepare_with(connection, sql, &value, 1, &statement, error);
    if (status == MC_OK)
        status = mc_statement_step(statement, &found, error);
    if (status == MC_OK && !found)
        status = mc_fail(error, MC_ERROR_NOT_FOUND, "large value %" PRId64 " does not exist", value);
    if (status == MC_OK) {
        *description = (mc_blob_description){
            .unit = (mc_blob_unit)mc_statement_column_integer(statement, 0),
            .length = mc_statement_column_integer(statement, 1),
            .bytes = mc_statement_column_integer(statement, 2),
            .chunk_size = mc_statement_column_integer(statement, 3),
        };
        status = check_description(value, description, error);
    }
    mc_statement_return(statement);
    return status;
}

/// A row of a rowid table keeps the beginning of a long payload in its leaf and the rest on overflow pages of `usable - 4` bytes.
/// If that rest fills its last page exactly, the leaf part has its minimum size, and several chunks share one leaf page
/// (SQLite's file format, section 1.6). The record's header takes 6 bytes: its own size, NULL for the key, the type of
/// `start`, and 3 for the type of `content`; the value of `start` up to 6 more.
size_t mc_blob_chunk_size(mc_connection *connection, mc_blob_unit unit)
{
    enum { WANTED = 65536, LEAST_PAGES = 4, HEADER = 6, START = 6 };
    sqlite3 *db = mc_connection_sqlite(connection);
    mc_pool_settings settings;
    mc_pool_get_settings(mc_connection_pool(connection), &settings);
    int reserved = -1;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved) != SQLITE_OK || reserved < 0)
        reserved = 0;
    const int usable = settings.page_size - reserved;
    const int in_leaf = (usable - 12) * 32 / 255 - 23;
    int pages = (WANTED + usable - 5) / (usable - 4);
    if (pages < LEAST_PAGES)
        pages = LEAST_PAGES;
    return (size_t)(in_leaf + pages * (usable - 4) - HEADER - (unit == MC_BLOB_SCALARS ? START : 0));
}
