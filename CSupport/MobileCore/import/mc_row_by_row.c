#include "import/mc_row_by_row.h"

#include "import/mc_import_sql.h"

bool mc_import_enforces_foreign_keys(sqlite3 *db)
{
    int enforces = 0;
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, -1, &enforces);
    return enforces != 0;
}

/// Appends a SELECT with a row if, in a schema, the table has triggers or ignores rows.
static void append_triggers(sqlite3_str *sql, const char *schema, const char *table)
{
    sqlite3_str_appendf(sql,
                        "%sSELECT 1 FROM \"%w\".sqlite_schema WHERE type='trigger' AND tbl_name=%Q COLLATE NOCASE OR type='table' AND "
                        "name=%Q COLLATE NOCASE AND sql LIKE '%%conflict%%ignore%%'",
                        sqlite3_str_length(sql) == 0 ? "" : " UNION ALL ", schema, table, table);
}

/// Appends the columns that an upsert assigns, as texts: all but the key.
static void append_assigned(sqlite3_str *sql, const mc_import_table *table, const size_t *key_columns, size_t key_count)
{
    const char *separator = "";
    for (size_t column = 0; column < table->column_count; column++) {
        size_t key = 0;
        while (key < key_count && key_columns[key] != column)
            key++;
        if (key < key_count && table->column_count > key_count)
            continue;
        sqlite3_str_appendf(sql, "%s%Q", separator, table->columns[column].name);
        separator = ",";
    }
}

/// Appends a SELECT with a row if, in a schema, a row of the import can break a foreign key.
static void append_foreign_keys(sqlite3_str *sql, const char *schema, const mc_import_table *table, const size_t *key_columns,
                                size_t key_count)
{
    const char *const name = table->table;
    sqlite3_str_appendf(sql, " UNION ALL SELECT 1 FROM pragma_foreign_key_list(%Q,%Q)", name, schema);
    // A reference without a column is to the primary key.
    sqlite3_str_appendf(sql,
                        " UNION ALL SELECT 1 FROM \"%w\".sqlite_schema AS c, pragma_foreign_key_list(c.name,%Q) AS f WHERE c.type='table' "
                        "AND f.\"table\"=%Q COLLATE NOCASE AND (EXISTS (SELECT 1 FROM \"%w\".sqlite_schema AS p WHERE p.type='table' "
                        "AND p.name=%Q COLLATE NOCASE AND p.sql LIKE '%%conflict%%replace%%')",
                        schema, schema, name, schema, name);
    if (table->mode == MC_IMPORT_UPSERT) {
        sqlite3_str_appendf(sql,
                            " OR EXISTS (SELECT 1 FROM pragma_table_info(%Q,%Q) AS i WHERE (i.name=f.\"to\" COLLATE NOCASE OR "
                            "f.\"to\" IS NULL AND i.pk) AND i.name COLLATE NOCASE IN (",
                            name, schema);
        append_assigned(sql, table, key_columns, key_count);
        sqlite3_str_appendall(sql, "))");
    }
    sqlite3_str_appendall(sql, ")");
}

mc_status mc_import_runs_row_by_row(sqlite3 *db, const mc_import_table *table, const size_t *key_columns, size_t key_count,
                                    bool *row_by_row, mc_error *error)
{
    const bool has_foreign_keys = mc_import_enforces_foreign_keys(db);
    sqlite3_str *const sql = sqlite3_str_new(db);
    const char *schema;
    // Main, temporary and attached ones, in SQLite's numbers.
    for (int number = 0; (schema = sqlite3_db_name(db, number)) != NULL; number++) {
        append_triggers(sql, schema, table->table);
        if (has_foreign_keys)
            append_foreign_keys(sql, schema, table, key_columns, key_count);
    }
    sqlite3_stmt *statement = NULL;
    mc_status status = mc_import_prepare(db, sql, table->table, &statement, error);
    if (status != MC_OK)
        return status;
    const int step = sqlite3_step(statement);
    *row_by_row = step == SQLITE_ROW;
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        status = mc_fail_sqlite(error, db, step, "import of \"%.80s\"", table->table);
    sqlite3_finalize(statement);
    return status;
}
