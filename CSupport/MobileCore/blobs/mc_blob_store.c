/// mc_blob_store.c: writes the rows of a value, for `mc_blob_writer` and for imports, which have their own transactions.
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_blob_pool.h"

mc_status mc_blob_insert_value(mc_connection *connection, mc_blob_unit unit, size_t chunk_size, int64_t owner, int64_t *value,
                               mc_error *error)
{
    // AUTOINCREMENT alone gives an id again after a rollback, to which a writer and the application may still refer.
    static const char insert[] = "INSERT INTO \"_mc_value\"(\"id\", \"unit\", \"chunk\", \"state\", \"length\", \"bytes\") VALUES "
                                 "(1 + max(?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = '_mc_value'), 0)), ?, ?, 0, 0, ?)";
    mc_blob_pool *const blobs = mc_blob_pool_of(mc_connection_pool(connection));
    const int64_t values[] = {atomic_load(&blobs->last_value), unit, (int64_t)chunk_size, owner};
    const mc_status status = mc_blob_run(connection, insert, values, 4, NULL, error);
    if (status != MC_OK)
        return status;
    const int64_t inserted = mc_connection_last_inserted_key(connection);
    if (inserted >= MC_VALUES_MAXIMUM)
        return mc_fail(error, MC_ERROR_LIMIT, "there are no ids left for large values");
    // One thread at a time has the writer.
    atomic_store(&blobs->last_value, inserted);
    *value = inserted;
    return MC_OK;
}

mc_status mc_blob_store_chunk(mc_connection *connection, const mc_blob_chunk *chunk, mc_error *error)
{
    static const char insert[] = "INSERT INTO \"_mc_chunk\" VALUES (?, ?, ?)";
    static const char replace[] = "REPLACE INTO \"_mc_chunk\" VALUES (?, ?, ?)";
    const char *const sql = chunk->replaces ? replace : insert;
    mc_statement *statement = NULL;
    if (chunk->number >= MC_CHUNKS_MAXIMUM)
        return mc_fail(error, MC_ERROR_LIMIT, "large value %" PRId64 ": more than %" PRId64 " chunks", chunk->value, MC_CHUNKS_MAXIMUM);
    mc_status status = mc_statement_prepare(connection, sql, strlen(sql), &statement, error);
    if (status == MC_OK)
        status = mc_statement_bind_integer(statement, 1, mc_chunk_key(chunk->value, chunk->number), error);
    if (status == MC_OK && chunk->unit == MC_BLOB_SCALARS)
        status = mc_statement_bind_integer(statement, 2, chunk->start, error);
    if (status == MC_OK) {
        const int code = sqlite3_bind_blob64(mc_statement_sqlite(statement), 3, chunk->bytes, chunk->length, SQLITE_STATIC);
        if (code != SQLITE_OK)
            status = mc_fail_sqlite(error, mc_connection_sqlite(connection), code, "bind chunk %" PRId64, chunk->number);
    }
    if (status == MC_OK)
        status = mc_statement_run(statement, NULL, error);
    mc_statement_return(statement);
    return status;
}

mc_status mc_blob_complete_value(mc_connection *connection, int64_t value, int64_t units, int64_t bytes, mc_error *error)
{
    const int64_t values[] = {units, bytes, value};
    return mc_blob_run(connection, "UPDATE \"_mc_value\" SET \"state\" = 1, \"length\" = ?, \"bytes\" = ? WHERE \"id\" = ?", values, 3,
                       NULL, error);
}
