/// cw_tables.c: draws tables with all that SQLite offers.
#include <stdio.h>
#include <string.h>

#include "draw/cw_plan.h"

/// Adds a name to the setting `has` of a table.
static void note(cw_text *has, cw_feature feature)
{
    cw_add(has, "%s%s", has->length == 0 ? "" : ",", cw_feature_name(feature));
}

/// Whether this table gets a feature of the world: the first one always, so that features meet.
static bool gets(cw_plan *plan, const cw_plan_table *table, cw_feature feature)
{
    return cw_wants(plan, feature) && (table == plan->tables || cw_chance(&plan->random, 40));
}

static cw_plan_column *add_column(cw_plan_table *table, const char *name, const char *declared, const char *input)
{
    cw_plan_column *const column = &table->columns[table->column_count++];
    *column = (cw_plan_column){.declared = declared, .input = input};
    (void)snprintf(column->name, sizeof column->name, "%s", name);
    return column;
}

static void draw_keys(cw_plan *plan, cw_plan_table *table, cw_text *has)
{
    static const char *const declared[] = {"TEXT", "INTEGER", "REAL", "NUMERIC"};
    const bool is_composite = gets(plan, table, CW_COMPOSITE_KEY), is_other = gets(plan, table, CW_OTHER_KEY);
    const bool has_pending = table->pending[0] != '\0';
    table->has_similar_keys = has_pending && !table->is_strict && cw_chance(&plan->random, 40);
    if (table->has_similar_keys) {
        const char *const type = declared[cw_below(&plan->random, 4)];
        add_column(table, "k", type, "any")->is_key = true;
    } else if (is_composite) {
        add_column(table, "k", "INTEGER", "integer")->is_key = true;
        add_column(table, "l", "TEXT", "text")->is_key = true;
    } else if (is_other) {
        const int kind = cw_below(&plan->random, has_pending ? 2 : 3);
        add_column(table, "k", declared[kind], kind == 0 ? "text" : kind == 1 ? "integer" : "real")->is_key = true;
    } else {
        add_column(table, "k", "INTEGER", "integer")->is_key = true;
        table->has_rowid_key = !table->is_without_rowid;
    }
    table->key_count = table->column_count;
    note(has, is_composite ? CW_COMPOSITE_KEY : table->has_rowid_key ? CW_ROWID_KEY : CW_OTHER_KEY);
}

/// A reference to the first table, which may be this one.
static void draw_reference(cw_plan *plan, cw_plan_table *table)
{
    const cw_plan_table *const first = plan->tables;
    if (cw_wants(plan, CW_FOREIGN_KEY) && first->key_count == 1 && strcmp(table->schema, first->schema) == 0 && !first->has_large
        && cw_chance(&plan->random, 60))
        add_column(table, "r", first->columns[0].declared, first->columns[0].input)->is_reference = true;
}

static void draw_columns(cw_plan *plan, cw_plan_table *table)
{
    static const char *const names[] = {"a", "b", "c"};
    static const char *const loose[][2] = {
        {"TEXT", "text"}, {"INTEGER", "integer"}, {"REAL", "real"},       {"BLOB", "blob"},   {"NUMERIC", "any"},
        {"", "any"},      {"TEXT", "any"},        {"INTEGER", "boolean"}, {"INTEGER", "any"}, {"VARCHAR(5)", "text"}};
    static const char *const strict[][2] = {{"TEXT", "text"}, {"INTEGER", "integer"}, {"REAL", "real"}, {"BLOB", "blob"}, {"ANY", "any"}};
    const int count = 1 + cw_below(&plan->random, 3);
    for (int column = 0; column < count; column++) {
        const int kind = cw_below(&plan->random, table->is_strict ? 5 : 10);
        (void)add_column(table, names[column], table->is_strict ? strict[kind][0] : loose[kind][0],
                         table->is_strict ? strict[kind][1] : loose[kind][1]);
    }
    draw_reference(plan, table);
    if (!table->has_large)
        return;
    add_column(table, "p", table->is_strict ? "ANY" : "", cw_chance(&plan->random, 50) ? "largetext" : "largeblob")->is_large = true;
}

/// An action of a foreign key.
static const char *draw_action(cw_plan *plan)
{
    static const char *const actions[] = {"ON DELETE CASCADE", "ON DELETE SET NULL", "", "ON UPDATE CASCADE",
                                          "DEFERRABLE INITIALLY DEFERRED"};
    return actions[cw_below(&plan->random, 5)];
}

/// Appends the constraints of a column that is not a key.
static void add_constraints(cw_plan *plan, cw_plan_table *table, const cw_plan_column *column, cw_text *sql, cw_text *has)
{
    static const char *const defaults[] = {"5", "'x'", "-1.5", "(1+2)", "NULL", "7"};
    static const char *const clauses[] = {"REPLACE", "FAIL", "ABORT", "IGNORE", "REPLACE"};
    if (column->is_large)
        return;
    if (column->is_reference) {
        cw_add(sql, " REFERENCES %s(k) %s", plan->tables[0].name, draw_action(plan));
        note(has, CW_FOREIGN_KEY);
        return;
    }
    if (strcmp(column->declared, "TEXT") == 0 && gets(plan, table, CW_COLLATION)) {
        cw_add(sql, cw_chance(&plan->random, 50) ? " COLLATE NOCASE" : " COLLATE RTRIM");
        note(has, CW_COLLATION);
    }
    if (gets(plan, table, CW_DEFAULT) && !table->is_strict) {
        cw_add(sql, " DEFAULT %s", defaults[cw_below(&plan->random, 6)]);
        note(has, CW_DEFAULT);
    }
    if (gets(plan, table, CW_CHECK)) {
        cw_add(sql, " CHECK(%s IS NOT 'bad')", column->name);
        note(has, CW_CHECK);
    }
    if (gets(plan, table, CW_CONFLICT_CLAUSE) && !table->has_unique) {
        const int clause = cw_below(&plan->random, 5);
        cw_add(sql, " UNIQUE ON CONFLICT %s", clauses[clause]);
        table->has_unique = true;
        table->replaces_rows = table->replaces_rows || strcmp(clauses[clause], "REPLACE") == 0;
        note(has, CW_CONFLICT_CLAUSE);
    } else if (cw_chance(&plan->random, 6)) {
        cw_add(sql, " NOT NULL");
    }
}

static void add_keys(cw_plan *plan, cw_plan_table *table, cw_text *sql, bool is_similar_collated)
{
    for (int key = 0; key < table->key_count; key++)
        cw_add(sql, "%s%s %s%s%s", key == 0 ? "" : ", ", table->columns[key].name, table->columns[key].declared,
               is_similar_collated ? " COLLATE NOCASE" : "",
               table->key_count > 1       ? ""
                   : table->has_rowid_key ? " PRIMARY KEY"
                   : !table->has_own_key && (cw_chance(&plan->random, 70) || table->is_without_rowid)
                   ? (strcmp(table->columns[key].declared, "INTEGER") == 0 ? (table->is_without_rowid ? " PRIMARY KEY" : " UNIQUE NOT NULL")
                                                                           : " PRIMARY KEY")
                   : " UNIQUE NOT NULL");
}

static void add_options(const cw_plan_table *table, cw_text *sql)
{
    if (table->key_count > 1)
        cw_add(sql, ", PRIMARY KEY(k, l)");
    cw_add(sql, ")%s%s%s", table->is_without_rowid ? " WITHOUT ROWID" : "", table->is_without_rowid && table->is_strict ? "," : "",
           table->is_strict ? " STRICT" : "");
}

/// Draws the table of original states: the same columns and one more.
static void draw_pending(cw_plan *plan, const cw_plan_table *table, const char *collation)
{
    cw_text sql = {0};
    cw_add(&sql, "CREATE TABLE %s.%s(", table->schema, table->pending);
    for (int column = 0; column < table->column_count; column++)
        cw_add(&sql, "%s%s %s%s", column == 0 ? "" : ", ", table->columns[column].name, table->columns[column].declared,
               column == 0 ? collation : "");
    cw_add(&sql, ", f INTEGER");
    cw_add(&sql, table->key_count > 1 ? ", PRIMARY KEY(k, l)" : ", PRIMARY KEY(k)");
    cw_add(&sql, ")%s%s", table->is_without_rowid && cw_chance(&plan->random, 50) ? " WITHOUT ROWID" : "", "");
    cw_program_add(plan->program, "table name=%s%s | %s", table->pending, table->has_large ? " large=p" : "", sql.bytes);
    cw_text_free(&sql);
}

static void draw_table(cw_plan *plan, cw_plan_table *table)
{
    cw_text sql = {0}, has = {0};
    table->is_without_rowid = gets(plan, table, CW_WITHOUT_ROWID);
    table->is_strict = gets(plan, table, CW_STRICT);
    table->has_large = strcmp(table->schema, "main") == 0 && gets(plan, table, CW_LARGE_COLUMN);
    if (gets(plan, table, CW_PENDING))
        (void)snprintf(table->pending, sizeof table->pending, "o%d", (int)(table - plan->tables));
    draw_keys(plan, table, &has);
    draw_columns(plan, table);
    const bool is_similar_collated = strcmp(table->columns[0].declared, "TEXT") == 0
        && (table->has_similar_keys || (gets(plan, table, CW_COLLATION) && table->pending[0] == '\0'));
    cw_add(&sql, "CREATE TABLE %s.%s(", table->schema, table->name);
    // A key of SQLite's own, which imports do not have.
    if (!table->is_without_rowid && !table->has_rowid_key && table->key_count == 1 && !cw_wants(plan, CW_FOREIGN_KEY)
        && cw_chance(&plan->random, 30)) {
        cw_add(&sql, "id INTEGER PRIMARY KEY%s, ", cw_chance(&plan->random, 60) && !table->is_strict ? " DEFAULT 5" : "");
        table->has_own_key = true;
    }
    add_keys(plan, table, &sql, is_similar_collated);
    for (int column = table->key_count; column < table->column_count; column++) {
        cw_add(&sql, ", %s %s", table->columns[column].name, table->columns[column].declared);
        add_constraints(plan, table, &table->columns[column], &sql, &has);
    }
    if (gets(plan, table, CW_GENERATED)) {
        cw_add(&sql, ", g %s AS (coalesce(%s,'')||'!') %s", table->is_strict ? "TEXT" : "",
               table->has_large ? "k" : table->columns[table->column_count - 1].name, cw_chance(&plan->random, 50) ? "STORED" : "VIRTUAL");
        note(&has, CW_GENERATED);
    }
    add_options(table, &sql);
    if (table->is_without_rowid)
        note(&has, CW_WITHOUT_ROWID);
    if (table->is_strict)
        note(&has, CW_STRICT);
    if (table->has_large)
        note(&has, CW_LARGE_COLUMN);
    if (strcmp(table->schema, "main") != 0)
        note(&has, strcmp(table->schema, "aux") == 0 ? CW_ATTACHED : CW_TEMPORARY);
    cw_program_add(plan->program, "table name=%s has=%s%s | %s", table->name, cw_string(&has), table->has_large ? " large=p" : "",
                   sql.bytes);
    if (table->pending[0] != '\0')
        draw_pending(plan, table, is_similar_collated ? " COLLATE NOCASE" : "");
    cw_text_free(&sql);
    cw_text_free(&has);
}

static void draw_indexes(cw_plan *plan, cw_plan_table *table)
{
    const int number = (int)(table - plan->tables);
    const char *const column = table->columns[table->key_count].name;
    cw_text sql = {0};
    if (gets(plan, table, CW_INDEX)) {
        const int form = cw_below(&plan->random, 3);
        cw_add(&sql,
               form == 0       ? "%s.i%d ON %s(%s)"
                   : form == 1 ? "%s.i%d ON %s(%s DESC, k)"
                               : "%s.i%d ON %s(typeof(%s))",
               table->schema, number, table->name, column);
        cw_program_add(plan->program, "table has=index | CREATE INDEX %s", sql.bytes);
    }
    if (gets(plan, table, CW_PARTIAL_INDEX))
        cw_program_add(plan->program, "table has=partialIndex | CREATE INDEX %s.j%d ON %s(%s) WHERE %s IS NOT NULL", table->schema, number,
                       table->name, column, column);
    if (gets(plan, table, CW_UNIQUE_INDEX)) {
        cw_program_add(plan->program, "table has=uniqueIndex | CREATE UNIQUE INDEX %s.u%d ON %s(%s)%s", table->schema, number, table->name,
                       column, cw_chance(&plan->random, 60) ? " WHERE typeof(k)='integer' AND k>5" : "");
        table->has_unique = true;
    }
    cw_text_free(&sql);
}

static void draw_triggers(cw_plan *plan, cw_plan_table *table)
{
    const int number = (int)(table - plan->tables);
    const bool is_temporary = cw_wants(plan, CW_TEMPORARY) && strcmp(table->schema, "main") == 0 && cw_chance(&plan->random, 50);
    const char *const schema = is_temporary ? "temp" : table->schema;
    const char *const column = table->columns[table->key_count].name;
    if (!gets(plan, table, CW_TRIGGER))
        return;
    table->has_trigger = true;
    cw_program_add(plan->program, "table | CREATE TABLE %s.log%d(x, y)", schema, number);
    cw_program_add(plan->program,
                   "table has=trigger%s | CREATE TRIGGER %s.r%d AFTER INSERT ON %s BEGIN INSERT INTO log%d VALUES('i', "
                   "new.k); END",
                   is_temporary ? ",temporary" : "", schema, number, table->name, number);
    if (cw_chance(&plan->random, 50))
        cw_program_add(plan->program, "table | CREATE TRIGGER %s.s%d AFTER UPDATE ON %s BEGIN INSERT INTO log%d VALUES('u', old.k); END",
                       schema, number, table->name, number);
    if (cw_chance(&plan->random, 50))
        cw_program_add(plan->program, "table | CREATE TRIGGER %s.d%d AFTER DELETE ON %s BEGIN INSERT INTO log%d VALUES('d', old.k); END",
                       schema, number, table->name, number);
    if (cw_chance(&plan->random, 30))
        cw_program_add(plan->program,
                       "table | CREATE TRIGGER %s.a%d BEFORE INSERT ON %s WHEN new.%s=13 BEGIN SELECT RAISE(ABORT, 'no'); END", schema,
                       number, table->name, column);
    if (!cw_chance(&plan->random, 30))
        return;
    cw_program_add(plan->program, "table | CREATE TRIGGER %s.n%d BEFORE INSERT ON %s WHEN new.%s='b' BEGIN SELECT RAISE(IGNORE); END",
                   schema, number, table->name, column);
}

/// Draws a table with references to the first one.
static void draw_child(cw_plan *plan)
{
    cw_plan_table *const table = &plan->tables[0];
    if (!cw_wants(plan, CW_FOREIGN_KEY) || table->key_count > 1)
        return;
    cw_program_add(plan->program, "table has=foreignKey | CREATE TABLE %s.f0(id INTEGER PRIMARY KEY, q %s REFERENCES %s(k) %s)",
                   table->schema, table->columns[0].declared, table->name, draw_action(plan));
    table->has_child = true;
}

static void draw_first_rows(cw_plan *plan, const cw_plan_table *table, const char *name, int count)
{
    cw_text row = {0};
    for (int number = 0; number < count; number++) {
        cw_clear(&row);
        for (int column = 0; column < table->column_count; column++) {
            cw_add(&row, column == 0 ? "" : ", ");
            if (table->columns[column].is_large)
                cw_add(&row, "NULL");
            else
                cw_draw_value(plan, table, &table->columns[column], true, &row);
        }
        cw_text names = {0};
        for (int column = 0; column < table->column_count; column++)
            cw_add(&names, "%s%s", column == 0 ? "" : ", ", table->columns[column].name);
        cw_program_add(plan->program, "sql | INSERT OR IGNORE INTO %s(%s) VALUES(%s)", name, names.bytes, row.bytes);
        cw_text_free(&names);
    }
    cw_text_free(&row);
}

void cw_draw_tables(cw_plan *plan)
{
    const bool has_files = !cw_wants(plan, CW_FILE_FAILURE) && !cw_wants(plan, CW_POWER_CUT);
    plan->table_count = 1 + cw_below(&plan->random, CW_TABLES_MOST);
    if (cw_wants(plan, CW_ATTACHED) && has_files)
        cw_program_add(plan->program, "sql | ATTACH '{dir}/aux.db' AS aux");
    for (int number = 0; number < plan->table_count; number++) {
        cw_plan_table *const table = &plan->tables[number];
        (void)snprintf(table->name, sizeof table->name, "t%d", number);
        table->schema = "main";
        if (cw_wants(plan, CW_ATTACHED) && has_files && cw_chance(&plan->random, 50))
            table->schema = "aux";
        else if (cw_wants(plan, CW_TEMPORARY) && has_files && cw_chance(&plan->random, 50))
            table->schema = "temp";
        draw_table(plan, table);
        draw_indexes(plan, table);
        if (has_files || !cw_wants(plan, CW_TEMPORARY))
            draw_triggers(plan, table);
    }
    draw_child(plan);
    for (int number = 0; number < plan->table_count; number++) {
        const cw_plan_table *const table = &plan->tables[number];
        draw_first_rows(plan, table, table->name, 1 + cw_below(&plan->random, 4));
        if (table->pending[0] != '\0')
            draw_first_rows(plan, table, table->pending, 1 + cw_below(&plan->random, 2));
        // A pending row at the end of its table, before which a large import adds rows.
        if (table->pending[0] != '\0' && table->has_rowid_key && cw_wants(plan, CW_BIG_IMPORT)) {
            cw_program_add(plan->program, "sql | INSERT OR IGNORE INTO %s(k) VALUES(1000000)", table->name);
            cw_program_add(plan->program, "sql | INSERT OR IGNORE INTO %s(k) VALUES(1000000)", table->pending);
        }
    }
    if (plan->tables[0].has_child)
        cw_program_add(plan->program, "sql | INSERT INTO f0(q) SELECT k FROM t0 LIMIT 2");
    const cw_plan_table *const viewed = cw_draw_table(plan, true);
    if (cw_wants(plan, CW_VIEW) && viewed != NULL)
        cw_program_add(plan->program, "table has=view | CREATE VIEW v0 AS SELECT * FROM %s WHERE k IS NOT NULL", viewed->name);
}
