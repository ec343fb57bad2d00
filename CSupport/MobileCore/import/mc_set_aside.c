#include "import/mc_set_aside.h"

#include <stdbool.h>

#include "base/mc_memory.h"
// Beyond these the memory would no longer be bounded, and the table no longer as good as empty.
enum { ROWS_MAXIMUM = 1024, BYTES_MAXIMUM = 1 << 20 };

static mc_status prepare(sqlite3 *db, sqlite3_str *sql, const char *table, sqlite3_stmt **out, mc_error *error)
{
    char *const text = sqlite3_str_finish(sql);
    if (text == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", table);
    const int result = sqlite3_prepare_v2(db, text, -1, out, NULL);
    sqlite3_free(text);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\"", table);
}

static mc_status prepare_rows(sqlite3 *db, const char *table, const char *key, sqlite3_stmt **out, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "SELECT \"%w\".\"%w\", * FROM \"%w\" LIMIT %d", table, key, table, ROWS_MAXIMUM + 1);
    return prepare(db, sql, table, out, error);
}

/// NULL where the table does not take the values of all its columns: some are generated.
static sqlite3_stmt *prepare_put_back(sqlite3 *db, const char *table, size_t column_count)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" VALUES(", table);
    for (size_t column = 0; column < column_count; column++)
        sqlite3_str_appendall(sql, column == 0 ? "?" : ",?");
    sqlite3_str_appendall(sql, ")");
    return prepare(db, sql, table, &statement, NULL) == MC_OK ? statement : NULL;
}

/// Copies the row that `rows` stands on; false without memory.
static bool copy_row(mc_set_aside *aside, sqlite3_stmt *rows, size_t *bytes)
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
        // The key stands in front of the columns.
        *bytes += (size_t)sqlite3_column_bytes(rows, (int)column + 1);
        aside->values[used + column] = sqlite3_value_dup(sqlite3_column_value(rows, (int)column + 1));
        if (aside->values[used + column] == NULL)
            return false;
    }
    return true;
}

static void forget_rows(mc_set_aside *aside)
{
    for (size_t index = 0; index < aside->row_count * aside->column_count; index++)
        sqlite3_value_free(aside->values[index]);
    mc_free(aside->values);
    aside->values = NULL;
    aside->row_count = 0;
}

/// Copies all rows of the table, or none where one of them is not pending or they are too many or too large.
static mc_status copy_rows(mc_set_aside *aside, sqlite3 *db, const char *table, sqlite3_stmt *rows, const mc_key_set *pending,
                           mc_error *error)
{
    size_t bytes = 0;
    int step;
    while ((step = sqlite3_step(rows)) == SQLITE_ROW) {
        const bool is_pending =
            sqlite3_column_type(rows, 0) == SQLITE_INTEGER && mc_key_set_contains(pending, sqlite3_column_int64(rows, 0));
        if (!is_pending || aside->row_count == ROWS_MAXIMUM || bytes > BYTES_MAXIMUM) {
            forget_rows(aside);
            return MC_OK;
        }
        if (!copy_row(aside, rows, &bytes))
            return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its pending rows", table);
    }
    return step == SQLITE_DONE ? MC_OK : mc_fail_sqlite(error, db, step, "import of \"%.80s\", its pending rows", table);
}

static mc_status delete_rows(sqlite3 *db, const char *table, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(sql, "DELETE FROM \"%w\"", table);
    mc_status status = prepare(db, sql, table, &statement, error);
    if (status != MC_OK)
        return status;
    const int step = sqlite3_step(statement);
    if (step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\", its pending rows", table);
    sqlite3_finalize(statement);
    return status;
}

mc_status mc_set_aside_take(mc_set_aside *aside, sqlite3 *db, const char *table, const char *key, const mc_key_set *pending,
                            mc_error *error)
{
    if (pending->count == 0)
        return MC_OK;
    sqlite3_stmt *rows = NULL;
    mc_status status = prepare_rows(db, table, key, &rows, error);
    if (status != MC_OK)
        return status;
    aside->column_count = (size_t)sqlite3_column_count(rows) - 1;
    status = copy_rows(aside, db, table, rows, pending, error);
    sqlite3_finalize(rows);
    if (status != MC_OK || aside->row_count == 0)
        return status;
    aside->put_back = prepare_put_back(db, table, aside->column_count);
    if (aside->put_back == NULL) {
        forget_rows(aside);
        return MC_OK;
    }
    return delete_rows(db, table, error);
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
