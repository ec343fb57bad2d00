/// cw_steps.c: draws the steps of a world.
#include <stdio.h>
#include <string.h>

#include "draw/cw_plan.h"

// ---- SQL
// --------------------------------------------------------------------------------------------------------------

static void add_row(cw_plan *plan, const cw_plan_table *table, cw_text *sql)
{
    cw_add(sql, "(");
    for (int column = 0; column < table->column_count; column++) {
        cw_add(sql, column == 0 ? "" : ", ");
        if (table->columns[column].is_large)
            cw_add(sql, "NULL");
        else
            cw_draw_value(plan, table, &table->columns[column], true, sql);
    }
    cw_add(sql, ")");
}

static void add_insert(cw_plan *plan, const cw_plan_table *table, cw_text *sql)
{
    static const char *const ors[] = {"", " OR IGNORE", " OR REPLACE", " OR FAIL", ""};
    const int count = 1 + cw_below(&plan->random, 4);
    cw_add(sql, "INSERT%s INTO %s(", ors[cw_below(&plan->random, 5)], table->name);
    for (int column = 0; column < table->column_count; column++)
        cw_add(sql, "%s%s", column == 0 ? "" : ", ", table->columns[column].name);
    cw_add(sql, ") VALUES");
    for (int row = 0; row < count; row++) {
        cw_add(sql, row == 0 ? "" : ", ");
        add_row(plan, table, sql);
    }
}

static void add_update(cw_plan *plan, const cw_plan_table *table, cw_text *sql)
{
    const cw_plan_column *const column = &table->columns[table->key_count];
    const bool moves = table->has_rowid_key && cw_chance(&plan->random, 15);
    cw_add(sql, "UPDATE %s SET ", table->name);
    if (moves) {
        cw_add(sql, "k=k+%d", 20 + cw_below(&plan->random, 30));
    } else {
        cw_add(sql, "%s=", column->name);
        if (column->is_large)
            cw_add(sql, "NULL");
        else
            cw_draw_value(plan, table, column, true, sql);
    }
    if (cw_chance(&plan->random, 70)) {
        cw_add(sql, " WHERE ");
        cw_draw_key_condition(plan, table, sql);
    }
}

static void add_delete(cw_plan *plan, const cw_plan_table *table, cw_text *sql)
{
    cw_add(sql, "DELETE FROM %s", table->name);
    if (cw_chance(&plan->random, 20))
        return;
    cw_add(sql, " WHERE ");
    cw_draw_key_condition(plan, table, sql);
}

/// A change of the schema: a column, an index, a table.
static void add_schema_change(cw_plan *plan, const cw_plan_table *table, cw_text *sql)
{
    const int number = plan->next_column++, kind = cw_below(&plan->random, 6);
    // A text of several statements that the storage fails is done in part.
    switch (kind == 2 && cw_wants(plan, CW_FILE_FAILURE) ? 3 : kind) {
    case 0:
    case 4:
    case 5: cw_add(sql, "ALTER TABLE %s.%s ADD COLUMN z%d DEFAULT %d", table->schema, table->name, number, number); break;
    case 1: cw_add(sql, "CREATE INDEX %s.z%d ON %s(%s)", table->schema, number, table->name, table->columns[0].name); break;
    case 2: cw_add(sql, "CREATE TABLE main.n%d(a); INSERT INTO n%d VALUES(1),(2); DROP TABLE n%d", number, number, number); break;
    default: cw_add(sql, "CREATE TABLE IF NOT EXISTS main.n AS SELECT k FROM %s", table->name);
    }
}

/// A page of all columns, where these may be out of date.
static void add_page(cw_plan *plan, const cw_plan_table *table)
{
    if (strcmp(table->schema, "main") == 0 && !table->has_large && table->key_count == 1)
        cw_program_add(plan->program, "page on=reader rows=2 | SELECT * FROM %s ORDER BY k", table->name);
}

void cw_draw_sql(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, false);
    const char *pool = "", *has = "";
    cw_text sql = {0};
    const int kind = cw_below(&plan->random, 10);
    if (plan->observers > 0 && plan->level > 0 && table->key_count == 1 && cw_chance(&plan->random, 40)) {
        // Rows that are undone, and perhaps as many that SQLite does not name.
        cw_add(&sql, "INSERT INTO %s(k) VALUES(91)", table->name);
        for (int undone = cw_below(&plan->random, 4); undone > 0; undone--)
            cw_add(&sql, ", (%d)", 91 + undone);
        cw_program_add(plan->program, "sql | %s, (91)", sql.bytes);
        cw_clear(&sql);
        cw_add(&sql, "DELETE FROM %s", cw_draw_table(plan, false)->name);
    } else if (cw_wants(plan, CW_SCHEMA_CHANGE) && kind == 0 && plan->next_column < 4 && !cw_wants(plan, CW_POWER_CUT)
               && !table->is_strict) {
        add_page(plan, table);
        add_schema_change(plan, table, &sql);
        has = " has=schemaChange";
    } else if (table->pending[0] != '\0' && kind == 1)
        cw_add(&sql, "DELETE FROM %s WHERE k IN (SELECT k FROM %s LIMIT 1)", table->pending, table->pending);
    else if (kind < 6)
        add_insert(plan, table, &sql);
    else if (kind < 8)
        add_update(plan, table, &sql);
    else
        add_delete(plan, table, &sql);
    if (plan->has_other && plan->level == 0 && strcmp(table->schema, "main") == 0 && plan->observers == 0 && !cw_wants(plan, CW_TEMPORARY)
        && !cw_wants(plan, CW_FOREIGN_KEY) && cw_chance(&plan->random, 50))
        pool = " pool=b";
    cw_program_add(plan->program, "sql%s%s | %s", pool, has, sql.bytes);
    if (has[0] != '\0')
        add_page(plan, table);
    cw_text_free(&sql);
}

static void draw_bind(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, false);
    const cw_plan_column *const column = &table->columns[table->key_count];
    cw_text row = {0};
    if (table->has_large)
        return;
    cw_program_add(plan->program, "bind | INSERT INTO %s(k, %s%s) VALUES(?,?%s)", table->name, column->name,
                   table->key_count > 1 ? ", l" : "", table->key_count > 1 ? ",?" : "");
    for (int rows = 1 + cw_below(&plan->random, 3); rows > 0; rows--) {
        cw_clear(&row);
        cw_add(&row, " [");
        cw_draw_value(plan, table, &table->columns[0], false, &row);
        cw_add(&row, ",");
        cw_draw_value(plan, table, column, false, &row);
        if (table->key_count > 1) {
            cw_add(&row, ",");
            cw_draw_value(plan, table, &table->columns[1], false, &row);
        }
        cw_program_add(plan->program, "%s]", row.bytes);
    }
    cw_text_free(&row);
}

static void draw_page(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, true);
    if (table == NULL)
        return;
    cw_program_add(plan->program, "page on=%s rows=%d | SELECT %s FROM %s ORDER BY k%s", cw_chance(&plan->random, 40) ? "writer" : "reader",
                   1 + cw_below(&plan->random, 5), table->has_large ? "k" : "*", table->name, table->key_count > 1 ? ", l" : "");
}

// ---- Writers of large values
// -----------------------------------------------------------------------------------------

/// A new value, often a whole one.
static void draw_writer(cw_plan *plan, int value)
{
    plan->written += plan->level > 0;
    cw_program_add(plan->program, "write w=%d unit=%s", value, cw_chance(&plan->random, 50) ? "text" : "bytes");
    cw_program_add(plan->program, "append w=%d bytes=%d", value, 1 + cw_below(&plan->random, 90000));
    if (cw_chance(&plan->random, 40))
        cw_program_add(plan->program, "flush w=%d", value);
    if (cw_chance(&plan->random, 60))
        cw_program_add(plan->program, "finish w=%d", value);
}

/// A value that may get the id of one that was rolled back, while the writer of that one continues or ends.
static void draw_successor(cw_plan *plan)
{
    static const char *const words[] = {"finish", "flush", "free"};
    const int value = cw_below(&plan->random, 4);
    draw_writer(plan, value);
    for (int other = 0; other < 4; other++) {
        if (other != value)
            cw_program_add(plan->program, "%s w=%d bytes=100", words[cw_below(&plan->random, 3)], other);
    }
    cw_program_add(plan->program, "finish w=%d", value);
    cw_program_add(plan->program, "read w=%d", value);
}

// ---- Transactions
// -----------------------------------------------------------------------------------------------------

static void draw_transaction(cw_plan *plan)
{
    if (plan->level == 0) {
        cw_program_add(plan->program, "begin");
        plan->level = 1;
        if (cw_wants(plan, CW_LARGE_VALUE) && cw_chance(&plan->random, 60))
            draw_writer(plan, cw_below(&plan->random, 4));
    } else if (cw_wants(plan, CW_SAVEPOINT) && plan->level < 4 && cw_chance(&plan->random, 50)) {
        cw_program_add(plan->program, "savepoint");
        plan->level++;
    } else if (plan->level > 1) {
        cw_program_add(plan->program, cw_chance(&plan->random, 50) ? "undo" : "release");
        plan->level--;
    } else {
        const bool rolls_back = cw_wants(plan, CW_ROLLBACK) && cw_chance(&plan->random, 50), has_written = plan->written > 0;
        cw_program_add(plan->program, rolls_back ? "rollback" : "commit");
        plan->level = 0;
        plan->written = 0;
        if (rolls_back && has_written)
            draw_successor(plan);
    }
}

// ---- Large values
// -----------------------------------------------------------------------------------------------------

void cw_draw_large(cw_plan *plan)
{
    static const char *const words[] = {"append", "flush", "finish", "read", "unpin", "free", "save", "unreferenced", "collect"};
    static const char *const paths[] = {"same", "same", "link", "relative"};
    const int value = cw_below(&plan->random, 4), kind = cw_below(&plan->random, 20);
    const cw_plan_table *const table = cw_draw_table(plan, true);
    const char *const pool = plan->has_other && cw_chance(&plan->random, 60) ? " pool=b" : "";
    cw_text condition = {0};
    if (cw_wants(plan, CW_SECOND_POOL) && kind > 16 && plan->level == 0) {
        const int path = cw_below(&plan->random, 4);
        if (plan->has_other)
            cw_program_add(plan->program, "close");
        else
            cw_program_add(plan->program, "open path=%s", paths[path]);
        plan->has_other = !plan->has_other;
        return;
    }
    if (kind == 16) {
        cw_program_add(plan->program, "wait");
        return;
    }
    if (kind < 5) {
        draw_writer(plan, value);
        return;
    }
    const int word = cw_below(&plan->random, 9);
    // A value that is written in a transaction would be lost with it.
    plan->written += plan->level > 0 && word < 3;
    if (word == 6 && table != NULL && table->has_large) {
        cw_draw_key_condition(plan, table, &condition);
        cw_program_add(plan->program, "save w=%d table=%s column=p | %s", value, table->name, condition.bytes);
    } else if (word == 0) {
        cw_program_add(plan->program, "append w=%d bytes=%d", value, 1 + cw_below(&plan->random, 90000));
    } else if (word == 3) {
        cw_program_add(plan->program, "read w=%d seek=%d piece=%d", value, cw_below(&plan->random, 100000),
                       1 + cw_below(&plan->random, 70000));
    } else if (word != 6) {
        cw_program_add(plan->program, "%s w=%d%s", words[word], value, word > 6 ? pool : "");
    }
    cw_text_free(&condition);
}

// ---- The rest
// ---------------------------------------------------------------------------------------------------------

static void draw_observer(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, true);
    const int number = cw_below(&plan->random, 3);
    if (plan->level > 0 || table == NULL)
        return;
    if (cw_chance(&plan->random, 15)) {
        cw_program_add(plan->program, "unobserve n=%d", number);
        return;
    }
    if (cw_chance(&plan->random, 60))
        cw_program_add(plan->program, "observe n=%d tables=%s", number, table->name);
    else
        cw_program_add(plan->program, "observe n=%d", number);
    plan->observers++;
}

static void draw_other(cw_plan *plan)
{
    const char *const ticket = !cw_wants(plan, CW_TICKET) ? "" : cw_chance(&plan->random, 50) ? " ticket=quiet" : " ticket=interrupted";
    if (cw_wants(plan, CW_NESTED) && cw_chance(&plan->random, 50))
        cw_program_add(plan->program, "nest writer=%d%s", cw_below(&plan->random, 2), ticket);
    else if (cw_wants(plan, CW_TICKET))
        cw_program_add(plan->program, "interrupt writer=%d loose=%d", cw_below(&plan->random, 2), cw_below(&plan->random, 2));
    if (cw_wants(plan, CW_SNAPSHOT)) {
        cw_program_add(plan->program, plan->has_snapshot ? "end" : "snapshot");
        plan->has_snapshot = !plan->has_snapshot;
    }
    if (cw_wants(plan, CW_BACKUP))
        cw_program_add(plan->program, "backup pages=%d writes=%d", 1 + cw_below(&plan->random, 8), cw_below(&plan->random, 2));
    if (cw_chance(&plan->random, 30))
        cw_program_add(plan->program, "nul | SELECT 1^ WHERE 0");
}

void cw_draw_first_steps(cw_plan *plan)
{
    if (cw_wants(plan, CW_OBSERVER) && !cw_wants(plan, CW_FILE_FAILURE) && cw_chance(&plan->random, 80))
        draw_observer(plan);
    if (cw_wants(plan, CW_PAGE) && cw_chance(&plan->random, 60))
        draw_page(plan);
    if (cw_wants(plan, CW_LARGE_VALUE) && !cw_wants(plan, CW_FILE_FAILURE) && cw_chance(&plan->random, 80))
        draw_writer(plan, cw_below(&plan->random, 4));
    if (cw_wants(plan, CW_SNAPSHOT) && cw_chance(&plan->random, 60)) {
        cw_program_add(plan->program, "snapshot");
        plan->has_snapshot = true;
    }
    if (cw_wants(plan, CW_BACKUP) && cw_chance(&plan->random, 60))
        cw_program_add(plan->program, "backup pages=2 writes=1");
}

void cw_draw_step(cw_plan *plan)
{
    const int kind = cw_below(&plan->random, 100);
    if (cw_wants(plan, CW_FILE_FAILURE) && cw_chance(&plan->random, 30))
        cw_program_add(plan->program, "fail after=%d code=%s stays=%d", cw_below(&plan->random, 25),
                       cw_chance(&plan->random, 50) ? "full" : "io", cw_below(&plan->random, 2));
    if (kind < 30)
        cw_draw_import(plan);
    else if (kind < 55)
        cw_draw_sql(plan);
    else if (kind < 60 && cw_wants(plan, CW_PREPARED))
        draw_bind(plan);
    else if (kind < 70 && cw_wants(plan, CW_TRANSACTION))
        draw_transaction(plan);
    else if (kind < 78 && cw_wants(plan, CW_CURSOR))
        cw_draw_cursor(plan);
    else if (kind < 82 && cw_wants(plan, CW_PAGE))
        draw_page(plan);
    else if (kind < 94 && cw_wants(plan, CW_LARGE_VALUE) && !cw_wants(plan, CW_FILE_FAILURE)) {
        for (int steps = 0; steps < 3; steps++)
            cw_draw_large(plan);
    } else if (kind < 97 && cw_wants(plan, CW_OBSERVER) && !cw_wants(plan, CW_FILE_FAILURE))
        draw_observer(plan);
    else
        draw_other(plan);
}
