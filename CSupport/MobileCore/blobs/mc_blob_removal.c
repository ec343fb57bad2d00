/// mc_blob_removal.c: drops values and frees their space.
///
/// Removal takes two steps, because a reader may open a value at any time. The first step marks the value as dropped, and commits the
/// mark; from then on no reader can open it. An earlier reader has pinned the value before it read its row. The second step sees
/// that pin, and leaves the value to a later removal.
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_pool.h"
#include "pool/mc_pool_internal.h"

enum { CHUNKS_PER_TRANSACTION = 64 };

mc_status mc_blob_drop_one(mc_connection *connection, int64_t value, mc_error *error)
{
    connection->has_dropped_values = true;
    return mc_blob_run(connection, "UPDATE \"_mc_value\" SET \"state\" = 2 WHERE \"id\" = ?", &value, 1, NULL, error);
}

mc_status mc_blob_drop_unfinished(mc_connection *connection, int64_t value, int64_t owner, mc_error *error)
{
    const int64_t values[] = {value, owner};
    connection->has_dropped_values = true;
    return mc_blob_run(connection, "UPDATE \"_mc_value\" SET \"state\" = 2 WHERE \"id\" = ? AND \"state\" = 0 AND \"bytes\" = ?", values, 2,
                       NULL, error);
}

bool mc_blob_has_dropped(const mc_connection *connection)
{
    return connection->has_dropped_values;
}

mc_status mc_blob_drop(mc_connection *connection, const int64_t *values, size_t count, mc_error *error)
{
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status = mc_blob_drop_one(connection, values[i], error);
    return status;
}

/// Makes the SELECT of the complete values to which no column refers. NULL without memory; the caller frees it.
static char *unreferenced_sql(const mc_blob_reference *references, size_t count)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT \"id\" FROM \"_mc_value\" WHERE \"state\" = 1");
    for (size_t i = 0; i < count; i++)
        sqlite3_str_appendf(sql, "%s SELECT \"%w\" FROM \"%w\" WHERE \"%w\" IS NOT NULL", i == 0 ? " AND \"id\" NOT IN (" : " UNION ALL",
                            references[i].column, references[i].table, references[i].column);
    if (count > 0)
        sqlite3_str_appendall(sql, ")");
    return sqlite3_str_finish(sql);
}

typedef struct unreferenced_sweep {
    const char *sql;  ///< finds them
    int64_t dropped;
} unreferenced_sweep;

static mc_status sweep_unreferenced(mc_connection *connection, void *context, mc_error *error)
{
    mc_pool *const pool = mc_connection_pool(connection);
    unreferenced_sweep *const sweep = context;
    mc_statement *statement = NULL;
    bool has_row = false;
    mc_status status = mc_statement_prepare(connection, sweep->sql, strlen(sweep->sql), &statement, error);
    while (status == MC_OK) {
        status = mc_statement_step(statement, &has_row, error);
        if (status != MC_OK || !has_row)
            break;
        const int64_t value = mc_statement_column_integer(statement, 0);
        if (mc_blob_is_pinned(pool, value))
            continue;
        status = mc_blob_drop_one(connection, value, error);
        sweep->dropped++;
    }
    mc_statement_return(statement);
    return status;
}

mc_status mc_blob_drop_unreferenced(mc_connection *connection, const mc_blob_reference *references, size_t count, int64_t *dropped,
                                    mc_error *error)
{
    int64_t one = 0;
    bool found = false;
    char *const sql = unreferenced_sql(references, count);
    unreferenced_sweep sweep = {.sql = sql};
    if (sql == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory to look for unreferenced values");
    mc_status status = mc_blob_find(connection, "SELECT 1 FROM \"_mc_value\" WHERE \"state\" = 1 LIMIT 1", NULL, 0, &one, &found, error);
    if (status == MC_OK && found)
        status = mc_blob_sweep(connection, sweep_unreferenced, &sweep, error);
    sqlite3_free(sql);
    if (status == MC_OK && dropped != NULL)
        *dropped = sweep.dropped;
    return status;
}

/// Finds the next dropped value after `*value`; `*found` is false after the last.
static mc_status next_dropped(mc_connection *connection, int64_t *value, bool *found, mc_error *error)
{
    return mc_blob_find(connection, "SELECT \"id\" FROM \"_mc_value\" WHERE \"id\" > ? AND \"state\" = 2 ORDER BY \"id\" LIMIT 1", value, 1,
                        value, found, error);
}

/// Removes the last chunks of a value. If none is left, removes the value itself and sets `*is_gone`.
static mc_status remove_some(mc_connection *connection, int64_t value, bool *is_gone, mc_error *error)
{
    const int64_t range[] = {mc_chunk_key(value, 0), mc_chunk_key(value, MC_CHUNKS_MAXIMUM - 1)};
    int64_t last = 0;
    bool found = false;
    *is_gone = false;
    mc_status status =
        mc_blob_find(connection, "SELECT \"id\" FROM \"_mc_chunk\" WHERE \"id\" BETWEEN ? AND ? ORDER BY \"id\" DESC LIMIT 1", range, 2,
                     &last, &found, error);
    if (status != MC_OK)
        return status;
    if (found) {
        const int64_t least = last - CHUNKS_PER_TRANSACTION + 1;
        const int64_t part[] = {least > range[0] ? least : range[0], last};
        status = mc_blob_run(connection, "DELETE FROM \"_mc_chunk\" WHERE \"id\" BETWEEN ? AND ?", part, 2, NULL, error);
        found = part[0] > range[0];
    }
    if (status == MC_OK && !found) {
        status = mc_blob_run(connection, "DELETE FROM \"_mc_value\" WHERE \"id\" = ?", &value, 1, NULL, error);
        *is_gone = true;
    }
    return status;
}

static mc_status has_tables(mc_connection *connection, bool *has, mc_error *error)
{
    int64_t one = 0;
    return mc_blob_find(connection, "SELECT 1 FROM sqlite_schema WHERE \"name\" = '_mc_value'", NULL, 0, &one, has, error);
}

/// Runs one short transaction of the collection: some chunks of the first dropped value from `*value` on that is not pinned.
static mc_status collect_some(mc_pool *pool, int64_t *value, bool *is_gone, bool *is_done, mc_error *error)
{
    mc_short_write write;
    bool found = false;
    *is_gone = false;
    mc_status status = mc_short_write_begin(pool, "removal of large values", MC_WAIT_FOREVER, &write, error);
    if (status != MC_OK)
        return status;
    status = has_tables(write.connection, &found, error);
    if (status == MC_OK && found) {
        (*value)--;
        do {
            status = next_dropped(write.connection, value, &found, error);
        } while (status == MC_OK && found && mc_blob_is_pinned(pool, *value));
    }
    if (status == MC_OK && found)
        status = remove_some(write.connection, *value, is_gone, error);
    *is_done = !found;
    return mc_short_write_end(&write, status, error);
}

mc_status mc_blob_collect(mc_pool *pool, int64_t *removed, mc_error *error)
{
    int64_t value = 1, number = 0;
    bool is_done = false;
    mc_status status = MC_OK;
    while (status == MC_OK && !is_done) {
        bool is_gone = false;
        status = collect_some(pool, &value, &is_gone, &is_done, error);
        if (is_gone)
            number++;
    }
    if (removed != NULL)
        *removed = number;
    return status;
}
