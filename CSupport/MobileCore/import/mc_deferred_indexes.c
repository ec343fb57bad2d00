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

/// Whether the table has at most `limit` rows. Reads at most `limit` + 1 rows.
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

/// Finds the names of the indexes to drop, and the statements that make them; a NUL after each. A temporary table of the same name hides
/// the table whose indexes could be dropped: then no index is found.
static mc_status find_indexes(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_stmt *statement = NULL;
    sqlite3_str_appendall(sql,
                          "SELECT name, sql FROM main.sqlite_schema "
                          "WHERE type='index' AND tbl_name=?1 COLLATE NOCASE AND sql IS NOT NULL "
                          "AND name NOT IN (SELECT name FROM pragma_index_list(?1) WHERE \"unique\") "
                          "AND NOT EXISTS (SELECT 1 FROM sqlite_temp_schema WHERE name=?1 COLLATE NOCASE)");
    mc_status status = prepare(db, sql, table, &statement, error);
    int step = SQLITE_DONE;
    while (status == MC_OK && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *const name = (const char *)sqlite3_column_text(statement, 0),
                          *const make = (const char *)sqlite3_column_text(statement, 1);
        if (name == NULL || make == NULL || mc_byte_buffer_append(&indexes->names, name, strlen(name) + 1) != MC_OK
            || mc_byte_buffer_append(&indexes->sql, make, strlen(make) + 1) != MC_OK)
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its indexes", table);
    }
    if (status == MC_OK && step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\", its indexes", table);
    sqlite3_finalize(statement);
    return status;
}

static int drop(sqlite3 *db, const char *name)
{
    char *const sql = sqlite3_mprintf("DROP INDEX main.\"%w\"", name);
    const int result = sql != NULL ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result;
}

/// Renames the planner's statistics of an index, in each existing table of statistics: the prefix `from` of its name becomes `to`. SQLite
/// deletes the statistics of a dropped index, but only under its name.
static int rename_statistics(sqlite3 *db, const char *name, const char *from, const char *to, bool *are_there)
{
    static const char *const tables[] = {"sqlite_stat1", "sqlite_stat4"};
    int result = SQLITE_OK;
    for (size_t index = 0; index < sizeof tables / sizeof tables[0] && result == SQLITE_OK; index++) {
        if (sqlite3_table_column_metadata(db, "main", tables[index], "idx", NULL, NULL, NULL, NULL, NULL) != SQLITE_OK)
            continue;
        char *const sql = sqlite3_mprintf("UPDATE main.%s SET idx=%Q||%Q WHERE idx=%Q||%Q", tables[index], to, name, from, name);
        result = sql != NULL ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        *are_there = *are_there || (result == SQLITE_OK && sqlite3_changes(db) > 0);
    }
    return result;
}

/// A prefix that no index has: SQLite reserves names with this beginning.
static const char PUT_ASIDE[] = "sqlite_mc_import:";

/// Drops the indexes, and counts them. Stops at an index that cannot be dropped.
static int drop_all(mc_deferred_indexes *indexes, sqlite3 *db, size_t *count)
{
    int result = SQLITE_OK;
    size_t at = 0;
    for (*count = 0; at < indexes->names.length; ++*count) {
        const char *const name = (const char *)indexes->names.bytes + at;
        bool has_statistics = false;
        result = rename_statistics(db, name, "", PUT_ASIDE, &has_statistics);
        if (result == SQLITE_OK)
            result = drop(db, name);
        if (result != SQLITE_OK) {
            const int undone = rename_statistics(db, name, PUT_ASIDE, "", &has_statistics);
            return undone == SQLITE_OK ? result : undone;
        }
        indexes->have_statistics |= has_statistics;
        at += strlen(name) + 1;
    }
    return result;
}

/// Keeps only the first `count` texts.
static void keep_first(mc_byte_buffer *texts, size_t count)
{
    size_t at = 0;
    for (; count > 0; count--)
        at += strlen((const char *)texts->bytes + at) + 1;
    texts->length = at;
}

mc_status mc_deferred_indexes_drop(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, int64_t inserted, bool *has_dropped,
                                   mc_error *error)
{
    if (indexes->looked || inserted < ROWS_DECISIVE)
        return MC_OK;
    indexes->looked = true;
    indexes->sql.maximum = indexes->names.maximum = INT_MAX;
    bool few = false;
    size_t dropped = 0;
    mc_status status = has_at_most(db, table, inserted + ROWS_DECISIVE, &few, error);
    if (status != MC_OK || !few)
        return status;
    status = find_indexes(indexes, db, table, error);
    if (status != MC_OK)
        return status;
    const int result = drop_all(indexes, db, &dropped);
    keep_first(&indexes->names, dropped);
    keep_first(&indexes->sql, dropped);
    *has_dropped = dropped > 0;
    if (result == SQLITE_OK || (result & 0xFF) == SQLITE_LOCKED)
        return MC_OK;
    return mc_fail_sqlite(error, db, result, "import of \"%.80s\", its indexes", table);
}

mc_status mc_deferred_indexes_make(mc_deferred_indexes *indexes, sqlite3 *db, const char *table, mc_error *error)
{
    int result = SQLITE_OK;
    bool are_there = false;
    const char *name = (const char *)indexes->names.bytes;
    for (size_t at = 0; at < indexes->sql.length && result == SQLITE_OK;) {
        const char *const sql = (const char *)indexes->sql.bytes + at;
        result = sqlite3_exec(db, sql, NULL, NULL, NULL);
        if (result == SQLITE_OK && indexes->have_statistics)
            result = rename_statistics(db, name, PUT_ASIDE, "", &are_there);
        at += strlen(sql) + 1;
        name += strlen(name) + 1;
    }
    // Other connections read the statistics with the changed schema. This connection made the change, and reads them only on request.
    if (result == SQLITE_OK && are_there)
        result = sqlite3_exec(db, "ANALYZE main.sqlite_schema", NULL, NULL, NULL);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\", its indexes", table);
}

void mc_deferred_indexes_free(mc_deferred_indexes *indexes)
{
    mc_byte_buffer_free(&indexes->names);
    mc_byte_buffer_free(&indexes->sql);
}
