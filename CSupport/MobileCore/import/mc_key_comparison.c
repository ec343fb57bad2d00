#include "import/mc_key_comparison.h"

#include "base/mc_memory.h"

/// SQLite's affinities, and ANY, which converts in STRICT tables nothing and in others as NUMERIC does.
typedef enum affinity {
    AFFINITY_UNKNOWN,
    AFFINITY_INTEGER,
    AFFINITY_TEXT,
    AFFINITY_BLOB,
    AFFINITY_REAL,
    AFFINITY_NUMERIC,
    AFFINITY_ANY
} affinity;

/// SQLite's rules for declared types (datatype3.html, section 3.1), in their order.
static affinity affinity_of_type(const char *type)
{
    static const struct {
        const char *pattern;
        affinity affinity;
    } rules[] = {
        {"%INT%", AFFINITY_INTEGER}, {"%CHAR%", AFFINITY_TEXT}, {"%CLOB%", AFFINITY_TEXT},
        {"%TEXT%", AFFINITY_TEXT},   {"%BLOB%", AFFINITY_BLOB}, {"%REAL%", AFFINITY_REAL},
        {"%FLOA%", AFFINITY_REAL},   {"%DOUB%", AFFINITY_REAL}, {"ANY", AFFINITY_ANY},
    };
    if (type == NULL || *type == '\0')
        return AFFINITY_BLOB;
    for (size_t index = 0; index < sizeof rules / sizeof rules[0]; index++) {
        if (sqlite3_strlike(rules[index].pattern, type, 0) == 0)
            return rules[index].affinity;
    }
    return AFFINITY_NUMERIC;
}

/// The affinity and the collation of a column; unknown for a view, or if there is no such column. SQLite owns the collation until the
/// schema changes.
static affinity column_affinity(sqlite3 *db, const char *table, const char *column, const char **collation)
{
    const char *type = NULL;
    *collation = NULL;
    return sqlite3_table_column_metadata(db, NULL, table, column, &type, collation, NULL, NULL, NULL) == SQLITE_OK ? affinity_of_type(type)
                                                                                                                   : AFFINITY_UNKNOWN;
}

static bool is_strict(sqlite3 *db, const char *table)
{
    sqlite3_stmt *statement = NULL;
    const bool is_known = sqlite3_prepare_v2(db, "SELECT strict FROM pragma_table_list(?1)", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW;
    const bool strict = is_known && sqlite3_column_int(statement, 0) != 0;
    sqlite3_finalize(statement);
    return strict;
}

bool mc_import_makes_numbers(sqlite3 *db, const char *table, const char *column)
{
    const char *collation;
    switch (column_affinity(db, table, column, &collation)) {
    case AFFINITY_INTEGER:
    case AFFINITY_REAL:
    case AFFINITY_NUMERIC: return true;
    case AFFINITY_ANY: return !is_strict(db, table);
    default: return false;
    }
}

/// The kind of keys that two columns of these affinities have. `compares_bytes`: equal texts have the same bytes.
static mc_keys kind_of_keys(affinity target, affinity pending, bool compares_bytes)
{
    if (target != pending)
        return MC_KEYS_OTHER;
    switch (target) {
    // Numbers are compared as such in any collation, and a text that looks like one is never stored.
    case AFFINITY_INTEGER:
    case AFFINITY_NUMERIC: return MC_KEYS_NUMBERS;
    case AFFINITY_REAL: return MC_KEYS_REALS;
    case AFFINITY_TEXT: return compares_bytes ? MC_KEYS_TEXTS : MC_KEYS_OTHER;
    case AFFINITY_BLOB: return compares_bytes ? MC_KEYS_AS_THEY_ARE : MC_KEYS_OTHER;
    case AFFINITY_ANY: return compares_bytes ? MC_KEYS_NUMBERS : MC_KEYS_OTHER;
    default: return MC_KEYS_OTHER;
    }
}

/// Reads one text, of memory that the caller frees, with a statement that is freed. Without a row `*text` is NULL.
static int read_text(sqlite3 *db, sqlite3_str *sql, char **text)
{
    char *const statement_text = sqlite3_str_finish(sql);
    sqlite3_stmt *statement = NULL;
    int result = statement_text != NULL ? sqlite3_prepare_v2(db, statement_text, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(statement_text);
    *text = NULL;
    if (result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *const found = (const char *)sqlite3_column_text(statement, 0);
        *text = found != NULL ? mc_copy_text(found) : NULL;
        result = *text != NULL ? SQLITE_OK : SQLITE_NOMEM;
    }
    const int end = sqlite3_finalize(statement);
    return result == SQLITE_OK ? end : result;
}

/// The collation by which the key of a column meets a row: the unique index of exactly the key columns may have another one than the
/// column. Deletions compare by that of the column.
static int key_collation(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, const char *column,
                         const char *declared, char **collation)
{
    char *of_index = NULL;
    int result = SQLITE_OK;
    *collation = mc_copy_text(declared);  // SQLite's text is valid until another statement is prepared
    if (*collation == NULL)
        return SQLITE_NOMEM;
    if (table->mode != MC_IMPORT_DELETE) {
        sqlite3_str *const sql = sqlite3_str_new(db);
        sqlite3_str_appendf(
            sql,
            "SELECT x.coll FROM pragma_index_list(%Q) AS l, pragma_index_xinfo(l.name) AS x WHERE l.\"unique\" AND NOT l.partial "
            "AND x.key AND x.name=%Q COLLATE NOCASE AND (SELECT count(*) FROM pragma_index_xinfo(l.name) AS y WHERE y.key)=%d",
            table->table, column, (int)key_count);
        sqlite3_str_appendall(sql,
                              " AND NOT EXISTS (SELECT 1 FROM pragma_index_xinfo(l.name) AS y WHERE y.key AND (y.name IS NULL OR y.name "
                              "COLLATE NOCASE NOT IN (");
        for (size_t key = 0; key < key_count; key++)
            sqlite3_str_appendf(sql, "%s%Q", key == 0 ? "" : ",", table->columns[key_columns[key]].name);
        sqlite3_str_appendf(sql, "))) ORDER BY x.coll=%Q COLLATE NOCASE DESC LIMIT 1", *collation);
        result = read_text(db, sql, &of_index);
    }
    if (of_index != NULL) {
        mc_free(*collation);
        *collation = of_index;
    }
    return result;
}

static int compare_column(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, size_t key, bool is_utf8,
                          mc_key_comparison *comparison)
{
    const char *const name = table->columns[key_columns[key]].name, *const pending_name = mc_import_pending_key(table, key_columns, key);
    const char *declared, *pending_collation;
    const affinity target = column_affinity(db, table->table, name, &declared);
    if (target == AFFINITY_UNKNOWN)
        return SQLITE_OK;
    const int result = key_collation(db, table, key_columns, key_count, name, declared, &comparison->collation);
    if (result != SQLITE_OK)
        return result;
    const affinity pending = column_affinity(db, table->pending->table, pending_name, &pending_collation);
    const bool is_same = pending_collation != NULL && sqlite3_stricmp(comparison->collation, pending_collation) == 0;
    comparison->makes_reals = target == AFFINITY_REAL;
    comparison->kind = kind_of_keys(target, pending, is_utf8 && is_same && sqlite3_stricmp(comparison->collation, "BINARY") == 0);
    // Without a collation of its own the condition finds rows by the index.
    if (is_same) {
        mc_free(comparison->collation);
        comparison->collation = NULL;
    }
    return SQLITE_OK;
}

mc_status mc_import_compare_keys(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                 mc_key_comparison *comparisons, mc_error *error)
{
    char *encoding = NULL;
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendall(sql, "PRAGMA encoding");
    int result = read_text(db, sql, &encoding);
    // SQLite writes some code points as U+FFFD when it converts a text to UTF-16.
    const bool is_utf8 = encoding != NULL && sqlite3_stricmp(encoding, "UTF-8") == 0;
    mc_free(encoding);
    for (size_t key = 0; key < key_count && result == SQLITE_OK; key++)
        result = compare_column(db, table, key_columns, key_count, key, is_utf8, &comparisons[key]);
    if (result == SQLITE_NOMEM)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for its keys", table->table);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\", its keys", table->table);
}

const char *mc_import_pending_key(const mc_import_table *table, const size_t *key_columns, size_t key)
{
    return table->pending->keys != NULL ? table->pending->keys[key] : table->columns[key_columns[key]].name;
}

/// Appends the value that the target stores for a parameter, as far as a comparison with its column does not convert it likewise:
/// an integer, also one in a text, becomes a real.
static void append_stored(sqlite3_str *sql, int parameter, const mc_key_comparison *comparison)
{
    if (comparison->makes_reals)
        sqlite3_str_appendf(sql,
                            "CASE WHEN typeof(?%d)='integer' OR typeof(?%d)='text' AND CAST(?%d AS NUMERIC)=?%d "
                            "THEN CAST(?%d AS REAL) ELSE ?%d END",
                            parameter, parameter, parameter, parameter, parameter, parameter);
    else
        sqlite3_str_appendf(sql, "?%d", parameter);
}

void mc_import_append_key(sqlite3_str *sql, const char *name, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                          const mc_key_comparison *comparisons, bool is_pending)
{
    for (size_t key = 0; key < key_count; key++) {
        const char *const column = is_pending ? mc_import_pending_key(table, key_columns, key) : table->columns[key_columns[key]].name;
        sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"=", key == 0 ? "" : " AND ", name, column);
        append_stored(sql, (int)key_columns[key] + 1, &comparisons[key]);
        if (comparisons[key].collation != NULL)
            sqlite3_str_appendf(sql, " COLLATE \"%w\"", comparisons[key].collation);
    }
}
