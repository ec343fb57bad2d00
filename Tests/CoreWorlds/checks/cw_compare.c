#include "checks/cw_compare.h"

#include <stdlib.h>
#include <string.h>

bool cw_same_column(sqlite3_stmt *left, int left_column, sqlite3_stmt *right, int right_column)
{
    const int type = sqlite3_column_type(left, left_column);
    if (type != sqlite3_column_type(right, right_column))
        return false;
    if (type == SQLITE_INTEGER)
        return sqlite3_column_int64(left, left_column) == sqlite3_column_int64(right, right_column);
    if (type == SQLITE_FLOAT) {
        const double a = sqlite3_column_double(left, left_column), b = sqlite3_column_double(right, right_column);
        return memcmp(&a, &b, sizeof a) == 0;
    }
    if (type == SQLITE_NULL)
        return true;
    const void *const a = sqlite3_column_blob(left, left_column), *const b = sqlite3_column_blob(right, right_column);
    const int length = sqlite3_column_bytes(left, left_column);
    return length == sqlite3_column_bytes(right, right_column) && (length == 0 || memcmp(a, b, (size_t)length) == 0);
}

bool cw_same_cell(const mc_row_page *page, size_t row, size_t column, sqlite3_value *value)
{
    const mc_cell *const cell = mc_row_page_cell(page, row, column);
    if ((int)cell->type != sqlite3_value_type(value))
        return false;
    if (cell->type == MC_TYPE_INTEGER)
        return cell->value.integer == sqlite3_value_int64(value);
    if (cell->type == MC_TYPE_REAL) {
        const double real = sqlite3_value_double(value);
        return memcmp(&cell->value.real, &real, sizeof real) == 0;
    }
    if (cell->type == MC_TYPE_NULL)
        return true;
    // UTF-8 first: the length of a text is counted in its encoding.
    const void *const bytes =
        cell->type == MC_TYPE_TEXT ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    const size_t length = (size_t)sqlite3_value_bytes(value);
    return cell->length == length && (length == 0 || memcmp(mc_row_page_bytes(page, cell), bytes, length) == 0);
}

void cw_add_column(cw_text *text, sqlite3_stmt *statement, int column)
{
    enum { MOST = 40 };
    const int length = sqlite3_column_bytes(statement, column);
    const unsigned char *bytes = NULL;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: cw_add(text, "NULL"); break;
    case SQLITE_INTEGER: cw_add(text, "%lld", sqlite3_column_int64(statement, column)); break;
    case SQLITE_FLOAT: cw_add(text, "%.17g", sqlite3_column_double(statement, column)); break;
    case SQLITE_TEXT:
        cw_add(text, "'%.*s'%s", length < MOST ? length : MOST, (const char *)sqlite3_column_text(statement, column),
               length > MOST ? "..." : "");
        break;
    default:
        bytes = sqlite3_column_blob(statement, column);
        cw_add(text, "x'");
        for (int index = 0; index < length && index < MOST; index++)
            cw_add(text, "%02x", bytes[index]);
        cw_add(text, length > MOST ? "... (%d)'" : "'", length);
    }
}

static void add_row(cw_text *text, sqlite3_stmt *statement, bool has_row)
{
    if (!has_row) {
        cw_add(text, "no row");
        return;
    }
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        cw_add(text, column == 0 ? "" : ", ");
        cw_add_column(text, statement, column);
    }
}

static sqlite3_stmt *prepare(cw_run *run, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        cw_fail(run, "content", "\"%s\" on the %s: %s", sql, db == run->reference ? "reference" : "core",
                sqlite3_errmsg(db));
    return statement;
}

char *cw_rows_sql(sqlite3 *db, const char *schema, const char *table, bool *has_rowid)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT rowid, * FROM \"%w\".\"%w\" NOT INDEXED ORDER BY rowid", schema, table);
    *has_rowid = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK;
    (void)sqlite3_finalize(statement);
    if (*has_rowid)
        return sql;
    sqlite3_free(sql);
    return sqlite3_mprintf("SELECT * FROM \"%w\".\"%w\" NOT INDEXED", schema, table);
}

bool cw_is_large(const cw_run *run, const char *table, const char *column)
{
    for (size_t index = 0; index < run->large_count; index++) {
        if (sqlite3_stricmp(run->large[index].table, table) == 0
            && sqlite3_stricmp(run->large[index].column, column) == 0)
            return true;
    }
    return false;
}

bool cw_large_content(sqlite3 *db, int64_t id, cw_text *content)
{
    static const char value[] = "SELECT bytes FROM _mc_value WHERE id=? AND state=1",
                      chunks[] = "SELECT content FROM _mc_chunk WHERE id>=?1<<24 AND id<(?1+1)<<24 ORDER BY id";
    sqlite3_stmt *statement = NULL;
    int64_t length = -1;
    cw_clear(content);
    if (sqlite3_prepare_v2(db, value, -1, &statement, NULL) == SQLITE_OK
        && sqlite3_bind_int64(statement, 1, id) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        length = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    if (length < 0 || sqlite3_prepare_v2(db, chunks, -1, &statement, NULL) != SQLITE_OK
        || sqlite3_bind_int64(statement, 1, id) != SQLITE_OK)
        return false;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const void *const bytes = sqlite3_column_blob(statement, 0);
        cw_add_bytes(content, bytes, (size_t)sqlite3_column_bytes(statement, 0));
    }
    (void)sqlite3_finalize(statement);
    return (int64_t)content->length == length;
}

/// The bytes of a text or blob; a text as UTF-8, also where the database has UTF-16.
static const void *utf8_bytes(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, column)
                                                                 : sqlite3_column_blob(statement, column);
}

/// Whether the core's id leads to the content that the reference has.
static bool same_large(sqlite3 *core_db, sqlite3_stmt *core, sqlite3_stmt *reference, int column)
{
    cw_text content = {0};
    if (sqlite3_column_type(reference, column) == SQLITE_NULL || sqlite3_column_type(core, column) != SQLITE_INTEGER)
        return sqlite3_column_type(reference, column) == sqlite3_column_type(core, column);
    const bool is_there = cw_large_content(core_db, sqlite3_column_int64(core, column), &content);
    const void *const bytes = utf8_bytes(reference, column);
    const size_t length = (size_t)sqlite3_column_bytes(reference, column);
    const bool is_same =
        is_there && content.length == length && (length == 0 || memcmp(content.bytes, bytes, length) == 0);
    cw_text_free(&content);
    return is_same;
}

static void compare_rows(cw_run *run, sqlite3 *core_db, const char *schema, const char *table)
{
    bool has_rowid = false;
    char *const sql = cw_rows_sql(run->reference, schema, table, &has_rowid);
    sqlite3_stmt *const core = prepare(run, core_db, sql), *const reference = prepare(run, run->reference, sql);
    bool more = true;
    while (run->kind == NULL && more) {
        const bool left = sqlite3_step(core) == SQLITE_ROW, right = sqlite3_step(reference) == SQLITE_ROW;
        bool is_same = left == right && sqlite3_column_count(core) == sqlite3_column_count(reference);
        more = left && right;
        for (int column = 0; more && is_same && column < sqlite3_column_count(core); column++)
            is_same = run->large_count > 0 && cw_is_large(run, table, sqlite3_column_name(core, column))
                ? same_large(core_db, core, reference, column)
                : cw_same_column(core, column, reference, column);
        if (is_same)
            continue;
        cw_text text = {0};
        add_row(&text, core, left);
        cw_add(&text, " instead of ");
        add_row(&text, reference, right);
        cw_fail(run, "content", "%s.%s: %s", schema, table, cw_string(&text));
        cw_text_free(&text);
    }
    (void)sqlite3_finalize(core);
    (void)sqlite3_finalize(reference);
    sqlite3_free(sql);
}

/// The tables and other objects of a schema, without SQLite's own and the core's own.
static char *objects_sql(const char *schema)
{
    return sqlite3_mprintf("SELECT type, name, tbl_name, sql FROM \"%w\".sqlite_schema WHERE substr(name,1,4)<>'_mc_' "
                           "AND tbl_name NOT GLOB '_mc_*' AND name NOT GLOB 'sqlite_s*' ORDER BY type, name",
                           schema);
}

static void compare_schema(cw_run *run, sqlite3 *core_db, const char *schema)
{
    char *const sql = objects_sql(schema);
    sqlite3_stmt *const core = prepare(run, core_db, sql), *const reference = prepare(run, run->reference, sql);
    bool more = true;
    while (run->kind == NULL && more) {
        const bool left = sqlite3_step(core) == SQLITE_ROW, right = sqlite3_step(reference) == SQLITE_ROW;
        bool is_same = left == right;
        more = left && right;
        for (int column = 0; more && is_same && column < 4; column++)
            is_same = cw_same_column(core, column, reference, column);
        if (!is_same)
            cw_fail(run, "schema", "%s: the core has %s %s, the reference %s %s", schema,
                    left ? (const char *)sqlite3_column_text(core, 0) : "no",
                    left ? (const char *)sqlite3_column_text(core, 1) : "more",
                    right ? (const char *)sqlite3_column_text(reference, 0) : "no",
                    right ? (const char *)sqlite3_column_text(reference, 1) : "more");
        if (is_same && more && strcmp((const char *)sqlite3_column_text(reference, 0), "table") == 0)
            compare_rows(run, core_db, schema, (const char *)sqlite3_column_text(reference, 1));
    }
    (void)sqlite3_finalize(core);
    (void)sqlite3_finalize(reference);
    sqlite3_free(sql);
}

void cw_compare_databases(cw_run *run, sqlite3 *core)
{
    sqlite3_stmt *const databases = prepare(run, run->reference, "SELECT name FROM pragma_database_list");
    while (run->kind == NULL && sqlite3_step(databases) == SQLITE_ROW)
        compare_schema(run, core, (const char *)sqlite3_column_text(databases, 0));
    (void)sqlite3_finalize(databases);
    if (run->kind == NULL && (sqlite3_get_autocommit(core) == 0) != (sqlite3_get_autocommit(run->reference) == 0))
        cw_fail(run, "status", "the core is %s a transaction, the reference is not",
                sqlite3_get_autocommit(core) == 0 ? "in" : "outside of");
}

static uint64_t digest_column(uint64_t digest, const cw_run *run, sqlite3 *db, const char *table, sqlite3_stmt *rows,
                              int column, bool is_core)
{
    int type = sqlite3_column_type(rows, column);
    if (type != SQLITE_NULL && run->large_count > 0 && cw_is_large(run, table, sqlite3_column_name(rows, column))) {
        cw_text content = {0};
        type = SQLITE_BLOB;
        if (is_core && cw_large_content(db, sqlite3_column_int64(rows, column), &content))
            digest = cw_digest(digest, cw_string(&content), content.length);
        if (!is_core) {
            const void *const bytes = utf8_bytes(rows, column);
            digest = cw_digest(digest, bytes, (size_t)sqlite3_column_bytes(rows, column));
        }
        cw_text_free(&content);
    } else if (type == SQLITE_FLOAT) {
        const double real = sqlite3_column_double(rows, column);
        digest = cw_digest(digest, &real, sizeof real);
    } else if (type != SQLITE_NULL) {
        const void *const bytes = utf8_bytes(rows, column);
        digest = cw_digest(digest, bytes, (size_t)sqlite3_column_bytes(rows, column));
    }
    return cw_digest(digest, &type, sizeof type);
}

uint64_t cw_database_digest(const cw_run *run, sqlite3 *db, bool is_core)
{
    char *const sql = objects_sql("main");
    uint64_t digest = CW_DIGEST;
    sqlite3_stmt *objects = NULL, *rows = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &objects, NULL) != SQLITE_OK)
        digest = 0;
    while (objects != NULL && sqlite3_step(objects) == SQLITE_ROW) {
        const char *const name = (const char *)sqlite3_column_text(objects, 1);
        bool has_rowid = false;
        digest = cw_digest(digest, name, strlen(name));
        if (strcmp((const char *)sqlite3_column_text(objects, 0), "table") != 0)
            continue;
        char *const select = cw_rows_sql(db, "main", name, &has_rowid);
        if (sqlite3_prepare_v2(db, select, -1, &rows, NULL) == SQLITE_OK) {
            while (sqlite3_step(rows) == SQLITE_ROW) {
                for (int column = 0; column < sqlite3_column_count(rows); column++)
                    digest = digest_column(digest, run, db, name, rows, column, is_core);
            }
        }
        (void)sqlite3_finalize(rows);
        rows = NULL;
        sqlite3_free(select);
    }
    (void)sqlite3_finalize(objects);
    sqlite3_free(sql);
    return digest;
}
