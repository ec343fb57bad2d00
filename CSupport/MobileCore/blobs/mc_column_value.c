#include "mc_column_value.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"

struct mc_column_value {
    sqlite3 *db;
    sqlite3_blob *blob;
    bool is_writable;
};

/// SQLite reports a missing row as SQLITE_ERROR, as every other failure to open a value: only its message distinguishes them.
static mc_status open_failure(sqlite3 *db, int code, int64_t rowid, mc_error *error)
{
    if (code == SQLITE_ERROR && sqlite3_strlike("no such rowid%", sqlite3_errmsg(db), 0) == 0)
        return mc_fail(error, MC_ERROR_NOT_FOUND, "there is no row %lld", (long long)rowid);
    return mc_fail_sqlite(error, db, code, "open the value in row %lld", (long long)rowid);
}

static mc_status open_value(sqlite3 *db, const char *table, const char *column, int64_t rowid, bool is_writable, mc_column_value **out,
                            mc_error *error)
{
    *out = NULL;
    mc_column_value *value = mc_allocate_zeroed(1, sizeof *value);
    if (!value)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "open a value: no memory");
    value->db = db;
    value->is_writable = is_writable;
    const int code = sqlite3_blob_open(db, "main", table, column, rowid, is_writable, &value->blob);
    if (code != SQLITE_OK) {
        const mc_status status = open_failure(db, code, rowid, error);
        mc_column_value_free(value);
        return status;
    }
    *out = value;
    return MC_OK;
}

mc_status mc_column_value_open(sqlite3 *db, const char *table, const char *column, int64_t rowid, mc_column_value **out, mc_error *error)
{
    return open_value(db, table, column, rowid, false, out, error);
}

mc_status mc_column_value_open_writable(sqlite3 *db, const char *table, const char *column, int64_t rowid, mc_column_value **out,
                                        mc_error *error)
{
    return open_value(db, table, column, rowid, true, out, error);
}

mc_status mc_column_value_move(mc_column_value *value, int64_t rowid, mc_error *error)
{
    const int code = sqlite3_blob_reopen(value->blob, rowid);
    return code == SQLITE_OK ? MC_OK : open_failure(value->db, code, rowid, error);
}

int64_t mc_column_value_length(const mc_column_value *value)
{
    return sqlite3_blob_bytes(value->blob);
}

/// Whether a piece is within the value.
static bool is_within(const mc_column_value *value, int64_t offset, size_t length)
{
    const int64_t bytes = sqlite3_blob_bytes(value->blob);
    return offset >= 0 && offset <= bytes && length <= (uint64_t)(bytes - offset);
}

mc_status mc_column_value_read(mc_column_value *value, int64_t offset, void *buffer, size_t length, mc_error *error)
{
    if (!is_within(value, offset, length))
        return mc_fail(error, MC_ERROR_MISUSE, "read a value of %lld bytes: %zu bytes from %lld", (long long)mc_column_value_length(value),
                       length, (long long)offset);
    // Both numbers fit into an int: a value has at most INT_MAX bytes.
    const int code = sqlite3_blob_read(value->blob, buffer, (int)length, (int)offset);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, value->db, code, "read a value at byte %lld", (long long)offset);
}

mc_status mc_column_value_write(mc_column_value *value, int64_t offset, const void *bytes, size_t length, mc_error *error)
{
    if (!value->is_writable)
        return mc_fail(error, MC_ERROR_MISUSE, "write a value that was opened for reading");
    if (!is_within(value, offset, length))
        return mc_fail(error, MC_ERROR_MISUSE, "write a value of %lld bytes: %zu bytes from %lld", (long long)mc_column_value_length(value),
                       length, (long long)offset);
    const int code = sqlite3_blob_write(value->blob, bytes, (int)length, (int)offset);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, value->db, code, "write a value at byte %lld", (long long)offset);
}

void mc_column_value_free(mc_column_value *value)
{
    if (!value)
        return;
    sqlite3_blob_close(value->blob);
    mc_free(value);
}
