/// mc_import_sql.c: the SQL of an import. In expressions columns are named with their tables: a name in double quotes that is no
/// column would be taken for a string.
#include "import/mc_import_sql.h"

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

/// Binds a constant, which the statement keeps a copy of.
static int bind_constant(sqlite3_stmt *statement, int index, const mc_value *cell)
{
    if (cell->kind == MC_VALUE_TEXT)
        return sqlite3_bind_text(statement, index, cell->value.bytes, (int)cell->length, SQLITE_TRANSIENT);
    if (cell->kind == MC_VALUE_BLOB)
        return sqlite3_bind_blob(statement, index, cell->value.bytes, (int)cell->length, SQLITE_TRANSIENT);
    return mc_import_bind(statement, index, cell);
}

/// Prepares what was written into `sql`, and takes it over.
static mc_status prepare(sqlite3 *db, sqlite3_str *sql, const char *table, sqlite3_stmt **out, mc_error *error)
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

/// The name of the key in the table of original states.
static const char *pending_key(const mc_import_table *table, const size_t *key_columns, size_t key)
{
    return table->pending->keys != NULL ? table->pending->keys[key] : table->columns[key_columns[key]].name;
}

/// ON CONFLICT(key) DO UPDATE SET: every column but the key, and never the constants for new rows.
static void append_update(sqlite3_str *sql, const mc_import_table *table, const size_t *key_columns, size_t key_count)
{
    for (size_t key = 0; key < key_count; key++)
        sqlite3_str_appendf(sql, "%s\"%w\"", key == 0 ? " ON CONFLICT(" : ",", table->columns[key_columns[key]].name);
    sqlite3_str_appendall(sql, ") DO UPDATE SET ");
    // A row that is nothing but its key is set to itself, so that it is counted.
    const bool only_key = table->column_count == key_count;
    const char *separator = "";
    for (size_t column = 0; column < table->column_count; column++) {
        if (is_key(column, key_columns, key_count) && !only_key)
            continue;
        sqlite3_str_appendf(sql, "%s\"%w\"=excluded.\"%w\"", separator, table->columns[column].name, table->columns[column].name);
        separator = ",";
    }
    sqlite3_str_appendall(sql, " WHERE mc_incoming_updated(?1)");
}

static void append_insert(sqlite3_str *sql, const mc_import_table *table, size_t size)
{
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\"(", table->table);
    for (size_t column = 0; column < table->column_count; column++)
        sqlite3_str_appendf(sql, "%s\"%w\"", column == 0 ? "" : ",", table->columns[column].name);
    for (size_t index = 0; index < table->on_insert_count; index++)
        sqlite3_str_appendf(sql, ",\"%w\"", table->on_insert[index].column);
    sqlite3_str_appendall(sql, ") SELECT ");
    for (size_t column = 0; column < table->column_count; column++)
        sqlite3_str_appendf(sql, "%sc%d", column == 0 ? "" : ",", (int)column);
    for (size_t index = 0; index < table->on_insert_count; index++)
        sqlite3_str_appendf(sql, ",?%d", (int)index + 2);
    // Without the WHERE clause the parser takes ON for the beginning of a join.
    sqlite3_str_appendf(sql, " FROM mc_incoming_%d(?1) WHERE true", (int)size);
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
        return prepare(db, sql, table->table, out, error);
    }
    append_insert(sql, table, size);
    if (table->mode == MC_IMPORT_UPSERT)
        append_update(sql, table, key_columns, key_count);
    const mc_status status = prepare(db, sql, table->table, out, error);
    if (status != MC_OK)
        return status;
    const int result = sqlite3_bind_pointer(*out, 1, incoming, MC_INCOMING_POINTER, NULL);
    if (result != SQLITE_OK)
        return mc_fail_sqlite(error, db, result, "import of \"%.80s\"", table->table);
    return bind_constants(db, *out, 2, table->on_insert, table->on_insert_count, table->table, error);
}

mc_status mc_import_prepare_divert(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                   sqlite3_stmt **out, mc_error *error)
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
    for (size_t key = 0; key < key_count; key++)
        sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"=?%d", key == 0 ? " WHERE " : " AND ", pending->table, pending_key(table, key_columns, key),
                            (int)key_columns[key] + 1);
    const mc_status status = prepare(db, sql, pending->table, out, error);
    return status == MC_OK ? bind_constants(db, *out, first, pending->assignments, pending->assignment_count, pending->table, error)
                           : status;
}

mc_status mc_import_prepare_keys(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                 sqlite3_stmt **out, mc_error *error)
{
    const char *const from = table->pending->table;
    sqlite3_str *const sql = sqlite3_str_new(db);
    for (size_t key = 0; key < key_count; key++)
        sqlite3_str_appendf(sql, "%s\"%w\".\"%w\"", key == 0 ? "SELECT " : ",", from, pending_key(table, key_columns, key));
    sqlite3_str_appendf(sql, " FROM \"%w\"", from);
    return prepare(db, sql, from, out, error);
}

mc_status mc_import_has_triggers(sqlite3 *db, const char *table, bool *has_triggers, mc_error *error)
{
    sqlite3_str *const sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql,
                        "SELECT 1 FROM sqlite_schema WHERE type='trigger' AND tbl_name=%Q COLLATE NOCASE UNION ALL "
                        "SELECT 1 FROM sqlite_temp_schema WHERE type='trigger' AND tbl_name=%Q COLLATE NOCASE",
                        table, table);
    sqlite3_stmt *statement = NULL;
    mc_status status = prepare(db, sql, table, &statement, error);
    if (status != MC_OK)
        return status;
    const int step = sqlite3_step(statement);
    *has_triggers = step == SQLITE_ROW;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\"", table);
    sqlite3_finalize(statement);
    return status;
}
