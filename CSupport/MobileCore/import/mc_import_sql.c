/// mc_import_sql.c: the SQL of an import. In expressions columns are named with their tables: SQLite takes a name in double quotes
/// for a string if it names no column.
#include "import/mc_import_sql.h"

#include <string.h>

int mc_import_bind(sqlite3_stmt *statement, int index, const mc_value *cell)
{
    switch (cell->kind) {
    case MC_VALUE_INTEGER: return sqlite3_bind_int64(statement, index, cell->value.integer);
    case MC_VALUE_REAL: return sqlite3_bind_double(statement, index, cell->value.real);
    case MC_VALUE_TEXT: return sqlite3_bind_text(statement, index, cell->value.bytes, (int)cell->length, SQLITE_STATIC);
    case MC_VALUE_BLOB: return sqlite3_bind_blob(statement, index, cell->value.bytes, (int)cell->length, SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, index);
    }
}

/// Binds a constant. The statement keeps a copy.
static int bind_constant(sqlite3_stmt *statement, int index, const mc_value *cell)
{
    if (cell->kind == MC_VALUE_TEXT)
        return sqlite3_bind_text(statement, index, cell->value.bytes, (int)cell->length, SQLITE_TRANSIENT);
    if (cell->kind == MC_VALUE_BLOB)
        return sqlite3_bind_blob(statement, index, cell->value.bytes, (int)cell->length, SQLITE_TRANSIENT);
    return mc_import_bind(statement, index, cell);
}

mc_status mc_import_prepare(sqlite3 *db, sqlite3_str *sql, const char *table, sqlite3_stmt **out, mc_error *error)
{
    char *const text = sqlite3_str_finish(sql);
    if (text == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", table);
    const int result = sqlite3_prepare_v2(db, text, -1, out, NULL);
    sqlite3_free(text);
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\"", table);
}

/// Binds constants to the parameters from `first` on.
static mc_status bind_constants(sqlite3 *db, sqlite3_stmt *statement, int first, const mc_import_assignment *assignments, size_t count,
                                const char *table, mc_error *error)
{
    for (size_t index = 0; index < count; index++) {
        const int result = bind_constant(statement, first + (int)index, &assignments[index].value);
        if (result != SQLITE_OK)
            return mc_fail_sqlite(error, db, result, "import of \"%.80s\", column \"%.80s\"", table, assignments[index].column);
    }
    return MC_OK;
}

static bool is_key(size_t column, const size_t *key_columns, size_t key_count)
{
    size_t key = 0;
    while (key < key_count && key_columns[key] != column)
        key++;
    return key < key_count;
}

/// ON CONFLICT(key) DO UPDATE SET: every column but the key, and never the constants for new rows.
static void append_update(sqlite3_str *sql, const mc_import_table *table, const size_t *key_columns, size_t key_count)
{
    for (size_t key = 0; key < key_count; key++)
        sqlite3_str_appendf(sql, "%s\"%w\"", key == 0 ? " ON CONFLICT(" : ",", table->columns[key_columns[key]].name);
    sqlite3_str_appendall(sql, ") DO UPDATE SET ");
    // A row that has only its key is set to itself, so that it is counted.
    const bool only_key = table->column_count == key_count;
    const char *separator = "";
    for (size_t column = 0; column < table->column_count; column++) {
        if (is_key(column, key_columns, key_count) && !only_key)
            continue;
        sqlite3_str_appendf(sql, "%s\"%w\"=excluded.\"%w\"", separator, table->columns[column].name, table->columns[column].name);
        separator = ",";
    }
    sqlite3_str_appendall(sql, " WHERE mc_incoming_updated(?1");
    for (size_t column = 0; column < table->column_count; column++) {
        if (table->columns[column].type >= MC_COLUMN_LARGE_TEXT)
            sqlite3_str_appendf(sql, ",\"%w\".\"%w\"", table->table, table->columns[column].name);
    }
    sqlite3_str_appendall(sql, ")");
}

/// Whether an expression is NULL, a number or a string, as most defaults are: then its meaning does not depend on its place.
static bool is_literal(const char *text)
{
    const size_t length = strlen(text);
    if (length >= 2 && text[0] == '\'')
        return strchr(text + 1, '\'') == text + length - 1;
    const char *const digits = text + (text[0] == '-');
    return sqlite3_stricmp(text, "NULL") == 0 || (*digits != '\0' && digits[strspn(digits, ".0123456789")] == '\0');
}

/// Appends the value of a new row for the column `name` of the target. Returns the number of the import's columns and constants with
/// that name: if it is 0, the value is the default.
static size_t append_value(sqlite3_str *sql, const mc_import_table *table, const char *name, const char *literal)
{
    size_t found = 0;
    for (size_t column = 0; column < table->column_count; column++) {
        if (sqlite3_stricmp(table->columns[column].name, name) == 0 && found++ == 0)
            sqlite3_str_appendf(sql, "c%d", (int)column);
    }
    for (size_t index = 0; index < table->on_insert_count; index++) {
        if (sqlite3_stricmp(table->on_insert[index].column, name) == 0 && found++ == 0)
            sqlite3_str_appendf(sql, "?%d", (int)index + 2);
    }
    if (found == 0)
        sqlite3_str_appendall(sql, literal != NULL ? literal : "NULL");
    return found;
}

/// Appends the names and the values of all columns of the table, in its order: then SQLite makes the values in the registers of the
/// row. With only the columns of the import it copies each value first, which is a twentieth of an import.
/// `*possible` is false if a column is generated or has a computed default, or if the import names a column that the table does
/// not have.
static mc_status append_all(sqlite3 *db, sqlite3_str *names, sqlite3_str *values, const mc_import_table *table, bool *possible,
                            mc_error *error)
{
    // A default of an INTEGER PRIMARY KEY, which SQLite never uses, counts as computed: SQLite then gives the key.
    static const char sql[] = "SELECT name, dflt_value, hidden OR pk AND dflt_value IS NOT NULL FROM pragma_table_xinfo(?1)";
    sqlite3_stmt *columns = NULL;
    size_t named = 0;
    int result = sqlite3_prepare_v2(db, sql, -1, &columns, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(columns, 1, table->table, -1, SQLITE_STATIC);
    *possible = true;
    while (result == SQLITE_OK && *possible && (result = sqlite3_step(columns)) == SQLITE_ROW) {
        const char *const name = (const char *)sqlite3_column_text(columns, 0),
                          *const literal = (const char *)sqlite3_column_text(columns, 1);
        const char *const separator = sqlite3_str_length(names) == 0 ? "" : ",";
        *possible = name != NULL && sqlite3_column_int(columns, 2) == 0 && (literal == NULL || is_literal(literal));
        sqlite3_str_appendf(names, "%s\"%w\"", separator, name);
        sqlite3_str_appendall(values, separator);
        named += *possible ? append_value(values, table, name, literal) : 0;
        result = SQLITE_OK;
    }
    *possible = *possible && named == table->column_count + table->on_insert_count;
    const int end = sqlite3_finalize(columns);
    if (result == SQLITE_DONE || result == SQLITE_OK)
        result = end;
    return result == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, result, "import of \"%.80s\", its columns", table->table);
}

/// Appends the names and the values of the import's columns and constants.
static void append_named(sqlite3_str *names, sqlite3_str *values, const mc_import_table *table)
{
    for (size_t column = 0; column < table->column_count; column++) {
        sqlite3_str_appendf(names, "%s\"%w\"", column == 0 ? "" : ",", table->columns[column].name);
        sqlite3_str_appendf(values, "%sc%d", column == 0 ? "" : ",", (int)column);
    }
    for (size_t index = 0; index < table->on_insert_count; index++) {
        sqlite3_str_appendf(names, ",\"%w\"", table->on_insert[index].column);
        sqlite3_str_appendf(values, ",?%d", (int)index + 2);
    }
}

static mc_status append_insert(sqlite3 *db, sqlite3_str *sql, const mc_import_table *table, size_t size, mc_error *error)
{
    sqlite3_str *const names = sqlite3_str_new(db), *const values = sqlite3_str_new(db);
    bool possible = false;
    mc_status status = append_all(db, names, values, table, &possible, error);
    if (status == MC_OK && !possible) {
        sqlite3_str_reset(names);
        sqlite3_str_reset(values);
        append_named(names, values, table);
    }
    if (status == MC_OK && (sqlite3_str_errcode(names) != SQLITE_OK || sqlite3_str_errcode(values) != SQLITE_OK))
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory", table->table);
    // Without the WHERE clause the parser takes ON for the beginning of a join.
    if (status == MC_OK)
        sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(%s) SELECT %s FROM mc_incoming_%d(?1) WHERE true", table->table,
                            sqlite3_str_value(names), sqlite3_str_value(values), (int)size);
    sqlite3_free(sqlite3_str_finish(names));
    sqlite3_free(sqlite3_str_finish(values));
    return status;
}

static mc_status check_assignments(const mc_import_table *table, const mc_import_assignment *assignments, size_t count, mc_error *error)
{
    for (size_t index = 0; index < count; index++) {
        const char *const name = assignments[index].column;
        for (size_t column = 0; column < table->column_count; column++) {
            if (sqlite3_stricmp(table->columns[column].name, name) == 0)
                return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": \"%.80s\" is a column of the rows, and has one value for all",
                               table->table, name);
        }
        for (size_t other = 0; other < index; other++) {
            if (sqlite3_stricmp(assignments[other].column, name) == 0)
                return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": \"%.80s\" has two values for all rows", table->table, name);
        }
    }
    return MC_OK;
}

mc_status mc_import_check_assignments(const mc_import_table *table, mc_error *error)
{
    const mc_status status = check_assignments(table, table->on_insert, table->on_insert_count, error);
    if (status != MC_OK || table->pending == NULL)
        return status;
    return check_assignments(table, table->pending->assignments, table->pending->assignment_count, error);
}

mc_status mc_import_prepare_write(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, size_t size,
                                  mc_incoming *incoming, sqlite3_stmt **out, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    if (table->mode == MC_IMPORT_DELETE) {
        sqlite3_str_appendf(sql, "DELETE FROM \"%w\"", table->table);
        for (size_t column = 0; column < table->column_count; column++)
            sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"=?%d", column == 0 ? " WHERE " : " AND ", table->table, table->columns[column].name,
                                (int)column + 1);
        for (size_t index = 0; index < table->large_count; index++)
            sqlite3_str_appendf(sql, "%s\"%w\"", index == 0 ? " RETURNING " : ",", table->large[index]);
        return mc_import_prepare(db, sql, table->table, out, error);
    }
    mc_status status = append_insert(db, sql, table, size, error);
    if (status != MC_OK) {
        sqlite3_free(sqlite3_str_finish(sql));
        return status;
    }
    if (table->mode == MC_IMPORT_UPSERT)
        append_update(sql, table, key_columns, key_count);
    status = mc_import_prepare(db, sql, table->table, out, error);
    if (status != MC_OK)
        return status;
    (void)sqlite3_bind_pointer(*out, 1, incoming, MC_INCOMING_POINTER, NULL);  // cannot fail: the text has this parameter
    return bind_constants(db, *out, 2, table->on_insert, table->on_insert_count, table->table, error);
}

mc_status mc_import_prepare_divert(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                   const mc_key_comparison *comparisons, sqlite3_stmt **out, mc_error *error)
{
    const mc_import_pending *const pending = table->pending;
    if (table->column_count + pending->assignment_count < key_count + 1)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": nothing would be written to \"%.80s\"; name an assignment",
                       table->table, pending->table);
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "UPDATE \"%w\" SET ", pending->table);
    const char *separator = "";
    for (size_t column = 0; column < table->column_count; column++) {
        if (is_key(column, key_columns, key_count))
            continue;
        sqlite3_str_appendf(sql, "%s\"%w\"=?%d", separator, table->columns[column].name, (int)column + 1);
        separator = ",";
    }
    const int first = (int)table->column_count + 1;
    for (size_t index = 0; index < pending->assignment_count; index++) {
        sqlite3_str_appendf(sql, "%s\"%w\"=?%d", separator, pending->assignments[index].column, first + (int)index);
        separator = ",";
    }
    sqlite3_str_appendall(sql, " WHERE ");
    mc_import_append_key(sql, pending->table, table, key_columns, key_count, comparisons, true);
    const mc_status status = mc_import_prepare(db, sql, pending->table, out, error);
    return status == MC_OK ? bind_constants(db, *out, first, pending->assignments, pending->assignment_count, pending->table, error)
                           : status;
}

mc_status mc_import_prepare_released(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                     const mc_key_comparison *comparisons, const mc_large_columns *large, sqlite3_stmt **out,
                                     mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    for (size_t index = 0; index < large->count; index++) {
        const char *const column = table->columns[large->columns[index].number].name;
        sqlite3_str_appendf(sql, "%sSELECT o.\"%w\" FROM \"%w\" AS o WHERE o.\"%w\" IS NOT NULL AND ", index == 0 ? "" : " UNION ALL ",
                            column, table->pending->table, column);
        mc_import_append_key(sql, "o", table, key_columns, key_count, comparisons, true);
        sqlite3_str_appendf(sql, " AND NOT EXISTS (SELECT 1 FROM \"%w\" AS t WHERE t.\"%w\"=o.\"%w\" AND ", table->table, column, column);
        mc_import_append_key(sql, "t", table, key_columns, key_count, comparisons, false);
        sqlite3_str_appendall(sql, ")");
    }
    return mc_import_prepare(db, sql, table->pending->table, out, error);
}

mc_status mc_import_prepare_is_pending(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                       const mc_key_comparison *comparisons, sqlite3_stmt **out, mc_error *error)
{
    const char *const from = table->pending->table;
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "SELECT 1 FROM \"%w\" WHERE ", from);
    mc_import_append_key(sql, from, table, key_columns, key_count, comparisons, true);
    return mc_import_prepare(db, sql, from, out, error);
}

mc_status mc_import_prepare_keys(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count, sqlite3_stmt **out,
                                 mc_error *error)
{
    const char *const from = table->pending->table;
    sqlite3_str *const sql = sqlite3_str_new(db);
    for (size_t key = 0; key < key_count; key++)
        sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", key == 0 ? "SELECT " : ",", from, mc_import_pending_key(table, key_columns, key));
    sqlite3_str_appendf(sql, " FROM \"%w\"", from);
    return mc_import_prepare(db, sql, from, out, error);
}
