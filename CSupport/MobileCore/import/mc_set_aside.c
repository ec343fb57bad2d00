#include "import/mc_set_aside.h"

#include "base/mc_memory.h"
#include "import/mc_import_sql.h"

/// The limits of the memory, and the number of inserted rows per pending row from which on rows are set aside: a small import should not
/// move more rows than it inserts.
enum { ROWS_MAXIMUM = 1024, BYTES_MAXIMUM = 1 << 20, ROWS_DECISIVE = 4 };

/// Prepares the SELECT of the rows, from the end of the table on.
static mc_status prepare_rows(sqlite3 *db, const char *table, const char *key, sqlite3_stmt **out, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "SELECT t.\"%w\", t.* FROM \"%w\" AS t ORDER BY t.\"%w\" DESC LIMIT %d", key, table, key, ROWS_MAXIMUM + 1);
    return mc_import_prepare(db, sql, table, out, error);
}

/// Prepares the INSERT of one row. NULL if the table does not take the values of all its columns, because some are generated.
static sqlite3_stmt *prepare_put_back(sqlite3 *db, const char *table, size_t column_count)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES(", table);
    for (size_t column = 0; column < column_count; column++)
        sqlite3_str_appendall(sql, column == 0 ? "?" : ",?");
    sqlite3_str_appendall(sql, ")");
    return mc_import_prepare(db, sql, table, &statement, NULL) == MC_OK ? statement : NULL;
}

/// Copies the current row of `rows`; false without memory.
static bool copy_row(mc_set_aside *aside, sqlite3_stmt *rows)
{
    const size_t used = aside->row_count * aside->column_count;
    sqlite3_value **const grown = mc_reallocate(aside->values, used + aside->column_count, sizeof *grown);
    if (grown == NULL)
        return false;
    aside->values = grown;
    for (size_t column = 0; column < aside->column_count; column++)
        aside->values[used + column] = NULL;
    aside->row_count++;
    for (size_t column = 0; column < aside->column_count; column++) {
        // The key precedes the columns.
        aside->values[used + column] = sqlite3_value_dup(sqlite3_column_value(rows, (int)column + 1));
        if (aside->values[used + column] == NULL)
            return false;
    }
    return true;
}

/// The number of bytes of the texts and blobs in the current row of `rows`.
static size_t row_bytes(const mc_set_aside *aside, sqlite3_stmt *rows)
{
    size_t bytes = 0;
    for (int column = 1; column <= (int)aside->column_count; column++) {
        const int type = sqlite3_column_type(rows, column);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            bytes += (size_t)sqlite3_column_bytes(rows, column);
    }
    return bytes;
}

static void forget_rows(mc_set_aside *aside)
{
    for (size_t index = 0; index < aside->row_count * aside->column_count; index++)
        sqlite3_value_free(aside->values[index]);
    mc_free(aside->values);
    aside->values = NULL;
    aside->row_count = 0;
}

/// Copies the rows from the end to the first one that is not pending; copies none if they are too many or too large.
static mc_status copy_rows(mc_set_aside *aside, sqlite3 *db, const char *table, sqlite3_stmt *rows, const mc_key_set *pending,
                           int64_t *first, mc_error *error)
{
    size_t bytes = 0;
    int step;
    while ((step = sqlite3_step(rows)) == SQLITE_ROW) {
        const bool is_pending =
            sqlite3_column_type(rows, 0) == SQLITE_INTEGER && mc_key_set_contains(pending, sqlite3_column_int64(rows, 0));
        if (!is_pending)
            return MC_OK;
        bytes += row_bytes(aside, rows);
        if (aside->row_count == ROWS_MAXIMUM || bytes > BYTES_MAXIMUM) {
            forget_rows(aside);
            return MC_OK;
        }
        if (!copy_row(aside, rows))
            return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its pending rows", table);
        *first = sqlite3_column_int64(rows, 0);
    }
    if ((step & 0xFF) == SQLITE_TOOBIG)
        forget_rows(aside);
    else if (step != SQLITE_DONE)
        return mc_fail_sqlite(error, db, step, "import of \"%.80s\", its pending rows", table);
    return MC_OK;
}

/// Copies the same rows with SQLite's length limit reduced to ours, so that SQLite refuses a larger row before it reads it.
static mc_status copy_bounded_rows(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                                   int64_t *first, mc_error *error)
{
    sqlite3_stmt *rows = NULL;
    mc_status status = prepare_rows(db, table, key, &rows, error);
    if (status != MC_OK)
        return status;
    aside->column_count = (size_t)sqlite3_column_count(rows) - 1;
    const int limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit < BYTES_MAXIMUM ? limit : BYTES_MAXIMUM);
    status = copy_rows(aside, db, table, rows, pending, first, error);
    sqlite3_finalize(rows);
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, limit);
    return status;
}

/// Deletes the copied rows: all from `first` on.
static mc_status delete_rows(sqlite3 *db, const char *table, const char *key, int64_t first, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(sql, "DELETE FROM \"%w\" WHERE \"%w\".\"%w\">=%lld", table, table, key, (long long)first);
    mc_status status = mc_import_prepare(db, sql, table, &statement, error);
    if (status != MC_OK)
        return status;
    const int step = sqlite3_step(statement);
    if (step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\", its pending rows", table);
    sqlite3_finalize(statement);
    return status;
}

mc_status mc_set_aside_take(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                            int64_t inserted, mc_error *error)
{
    int64_t first = 0;
    if (aside->has_looked || pending->count == 0 || inserted / ROWS_DECISIVE < (int64_t)pending->count)
        return MC_OK;
    aside->has_looked = true;
    const mc_status status = copy_bounded_rows(aside, db, table, key, pending, &first, error);
    if (status != MC_OK || aside->row_count == 0)
        return status;
    aside->put_back = prepare_put_back(db, table, aside->column_count);
    if (aside->put_back == NULL) {
        forget_rows(aside);
        return MC_OK;
    }
    return delete_rows(db, table, key, first, error);
}

mc_status mc_set_aside_put_back(mc_set_aside *aside, sqlite3 *db, const char *table, mc_error *error)
{
    for (size_t row = 0; row < aside->row_count; row++) {
        int result = SQLITE_OK;
        for (size_t column = 0; column < aside->column_count && result == SQLITE_OK; column++)
            result = sqlite3_bind_value(aside->put_back, (int)column + 1, aside->values[row * aside->column_count + column]);
        if (result == SQLITE_OK)
            (void)sqlite3_step(aside->put_back);
        const int reset = sqlite3_reset(aside->put_back);
        if (result != SQLITE_OK || reset != SQLITE_OK)
            return mc_fail_sqlite(error, db, result != SQLITE_OK ? result : reset, "import of \"%.80s\", its pending rows", table);
    }
    return MC_OK;
}

void mc_set_aside_free(mc_set_aside *aside)
{
    forget_rows(aside);
    sqlite3_finalize(aside->put_back);
    aside->put_back = NULL;
}
