#include "import/mc_deferred_indexes.h"

#include <limits.h>
#include <string.h>

#include "base/mc_memory.h"

enum { ROWS_DECISIVE = 4096 };

/// Prepares a statement whose parameters ?1 and ?2 are the table's name and a number.
static mc_status prepare(sqlite3 *db, sqlite3_str *sql, const char *table, sqlite3_stmt **out, mc_error *error)
{
    char *const text = sqlite3_str_finish(sql);
    if (text == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", table);
    int result = sqlite3_prepare_v2(db, text, -1, out, NULL);
    sqlite3_free(text);
    if (result == SQLITE_OK && sqlite3_bind_parameter_count(*out) > 0)
        result = sqlite3_bind_text(*out, 1, table, -1, SQLITE_STATIC);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\", its indexes", table);
}

/// Whether the table has at most `limit` rows. Reads no more than that.
static mc_status has_at_most(sqlite3 *db, const char *table, int64_t limit, bool *few, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendf(sql, "SELECT count(*) FROM (SELECT 1 FROM \"%w\" LIMIT %lld)", table, (long long)limit + 1);
    const mc_status status = prepare(db, sql, table, &statement, error);
    if (status != MC_OK)
        return status;
    const int step = sqlite3_step(statement);
    *few = step == SQLITE_ROW && sqlite3_column_int64(statement, 0) <= limit;
    sqlite3_finalize(statement);
    return step == SQLITE_ROW ? MC_OK : mc_fail_sqlite(error, db, step, "import of \"%.80s\", its indexes", table);
}

/// Appends what drops and what makes the indexes again, a NUL behind each. A temporary table of the same name hides the one whose
/// indexes could be dropped: then there are none.
static mc_status find_indexes(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_byte_buffer *drops, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendall(sql,
                          "SELECT 'DROP INDEX main.\"' || replace(name, '\"', '\"\"') || '\"', sql FROM main.sqlite_schema "
                          "WHERE type='index' AND tbl_name=?1 COLLATE NOCASE AND sql IS NOT NULL "
                          "AND name NOT IN (SELECT name FROM pragma_index_list(?1) WHERE \"unique\") "
                          "AND NOT EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE name=?1 COLLATE NOCASE)");
    mc_status status = prepare(db, sql, table, &statement, error);
    int step = SQLITE_DONE;
    while (status == MC_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *const drop = (const char *)sqlite3_column_text(statement, 0),
                          *const make = (const char *)sqlite3_column_text(statement, 1);
        if (drop == NULL || make == NULL || mc_byte_buffer_append(drops, drop, strlen(drop) + 1) != MC_OK
            || mc_byte_buffer_append(&indexes->sql, make, strlen(make) + 1) != MC_OK)
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its indexes", table);
    }
    if (status == MC_OK && step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\", its indexes", table);
    sqlite3_finalize(statement);
    return status;
}

/// Runs the statements, each with a NUL behind it, and counts them. Stops at one that fails.
static int run_all(sqlite3 *db, const mc_byte_buffer *statements, size_t *count)
{
    int result = SQLITE_OK;
    size_t at = 0;
    for (*count = 0; at < statements->length; ++*count) {
        const char *const sql = (const char *)statements->bytes + at;
        result = sqlite3_exec(db, sql, NULL, NULL, NULL);
        if (result != SQLITE_OK)
            break;
        at += strlen(sql) + 1;
    }
    return result;
}

/// Forgets all statements but the first `count`.
static void keep_first(mc_byte_buffer *statements, size_t count)
{
    size_t at = 0;
    for (; count > 0; count--)
        at += strlen((const char *)statements->bytes + at) + 1;
    statements->length = at;
}

mc_status mc_deferred_indexes_drop(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, int64_t inserted, bool *has_dropped,
                                   mc_error *error)
{
    if (indexes->looked || inserted < ROWS_DECISIVE)
        return MC_OK;
    indexes->looked = true;
    indexes->sql.maximum = INT_MAX;
    mc_byte_buffer drops = {.maximum = INT_MAX};
    bool few = false;
    size_t dropped = 0;
    mc_status status = has_at_most(db, table, inserted + ROWS_DECISIVE, &few, error);
    if (status != MC_OK || !few)
        return status;
    status = find_indexes(indexes, db, table, &drops, error);
    if (status == MC_OK) {
        const int result = run_all(db, &drops, &dropped);
        if (result != SQLITE_OK && (result & 0xFF) != SQLITE_LOCKED)
            status = mc_fail_sqlite(error, db, result, "import of \"%.80s\", its indexes", table);
    }
    *has_dropped = dropped > 0;
    if (status == MC_OK)
        keep_first(&indexes->sql, dropped);
    mc_byte_buffer_free(&drops);
    return status;
}

mc_status mc_deferred_indexes_make(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_error *error)
{
    size_t made;
    const int result = run_all(db, &indexes->sql, &made);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\", its indexes", table);
}

void mc_deferred_indexes_free(mc_deferred_indexes *indexes)
{
    mc_byte_buffer_free(&indexes->sql);
}
