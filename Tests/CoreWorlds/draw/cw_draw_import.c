/// cw_draw_import.c: draws imports and cursors.
#include <stdio.h>
#include <string.h>

#include "draw/cw_plan.h"

typedef struct member {
    const cw_plan_table *table;
    const char *mode;
    int columns[CW_TABLE_COLUMNS_MOST], count, number;
} member;

static void draw_columns(cw_plan *plan, member *member)
{
    const cw_plan_table *const table = member->table;
    for (int column = 0; column < table->column_count; column++) {
        const bool is_key = column < table->key_count;
        if (is_key || (strcmp(member->mode, "delete") != 0 && cw_chance(&plan->random, 80)))
            member->columns[member->count++] = column;
    }
    // In any order: the keys need not be first.
    for (int index = member->count; index > 1 && cw_chance(&plan->random, 40); index--) {
        const int other = cw_below(&plan->random, index), kept = member->columns[index - 1];
        member->columns[index - 1] = member->columns[other];
        member->columns[other] = kept;
    }
}

/// The column that gets a constant in new rows: an integer that the members do not have.
static const char *constant_column(const member *member)
{
    for (int column = member->table->key_count; column < member->table->column_count; column++) {
        bool is_there = false;
        for (int index = 0; index < member->count; index++)
            is_there = is_there || member->columns[index] == column;
        if (!is_there && !member->table->columns[column].is_large)
            return member->table->columns[column].name;
    }
    return NULL;
}

static void add_member(cw_plan *plan, const member *member, int number)
{
    const cw_plan_table *const table = member->table;
    cw_text text = {0};
    cw_add(&text, " member name=%s_%d table=%s mode=%s cols=", table->name, number, table->name, member->mode);
    for (int index = 0; index < member->count; index++)
        cw_add(&text, "%s%s:%s", index == 0 ? "" : ",", table->columns[member->columns[index]].name,
               table->columns[member->columns[index]].input);
    cw_add(&text, " keys=");
    for (int key = 0; key < table->key_count; key++)
        cw_add(&text, "%s%s", key == 0 ? "" : ",", table->columns[key].name);
    // Without protection a member touches rows that another one protects.
    const bool is_bare = number > 0 && cw_chance(&plan->random, 40);
    if (table->pending[0] != '\0' && !is_bare)
        cw_add(&text, " pending=%s assign=f:%d", table->pending, number + 1);
    const char *const constant = constant_column(member);
    if (constant != NULL && strcmp(member->mode, "delete") != 0 && cw_wants(plan, CW_ON_INSERT))
        cw_add(&text, " insert=%s:%d", constant, 100 + number);
    if (table->has_large && strcmp(member->mode, "delete") == 0)
        cw_add(&text, " large=p");
    cw_program_add(plan->program, "%s", text.bytes);
    cw_text_free(&text);
}

static void add_row(cw_plan *plan, const member *member)
{
    cw_text text = {0};
    cw_add(&text, " [");
    for (int index = 0; index < member->count; index++) {
        cw_add(&text, index == 0 ? "" : ",");
        cw_draw_value(plan, member->table, &member->table->columns[member->columns[index]], false, &text);
    }
    cw_add(&text, "]");
    cw_program_add(plan->program, "%s", text.bytes);
    cw_text_free(&text);
}

/// Adds thousands of rows whose key is a number.
static void add_many_rows(cw_plan *plan, const member *member)
{
    cw_text text = {0};
    const int from = cw_chance(&plan->random, 50) ? 10 : 1;
    cw_add(&text, " *%d from=%d [", 4200 + cw_below(&plan->random, 1500), from);
    for (int index = 0; index < member->count; index++) {
        const cw_plan_column *const column = &member->table->columns[member->columns[index]];
        cw_add(&text, index == 0 ? "" : ",");
        if (column->is_reference)
            cw_add(&text, "null");
        else if (column->is_key && strncmp(column->declared, "TEXT", 4) != 0)
            cw_add(&text, "#");
        else if (column->is_key)
            cw_add(&text, "\"n#\"");
        else if (strcmp(column->input, "text") == 0)
            cw_add(&text, cw_chance(&plan->random, 50) ? "\"v#\"" : "\"same\"");
        else if (strcmp(column->input, "integer") == 0)
            cw_add(&text, "#");
        else
            cw_add(&text, "null");
    }
    cw_add(&text, "]");
    cw_program_add(plan->program, "%s", text.bytes);
    cw_text_free(&text);
}

/// The settings of an import.
static void add_import(cw_plan *plan, bool is_big)
{
    static const int chunks[] = {1, 2, 7, 64, 1000};
    cw_text text = {0};
    cw_add(&text, "import");
    if (cw_wants(plan, CW_OBSERVED_IMPORT))
        cw_add(&text, " observer=1");
    if (cw_wants(plan, CW_SMALL_CHUNKS) && !is_big)
        cw_add(&text, " chunk=%d", chunks[cw_below(&plan->random, 5)]);
    else if (is_big)
        cw_add(&text, " chunk=60000");
    if (cw_wants(plan, CW_DEFLATED) && cw_chance(&plan->random, 70))
        cw_add(&text, " deflate=1");
    if (cw_wants(plan, CW_OBJECTS) && cw_chance(&plan->random, 70))
        cw_add(&text, " objects=1");
    if (cw_wants(plan, CW_SECOND_THREAD) && cw_chance(&plan->random, 60))
        cw_add(&text, " thread=1");
    // A deferred foreign key is checked at each commit, which the reference does not follow.
    if (cw_wants(plan, CW_COMMITS) && plan->level == 0 && !cw_wants(plan, CW_FOREIGN_KEY) && !cw_wants(plan, CW_FILE_FAILURE)
        && !cw_wants(plan, CW_POWER_CUT))
        cw_add(&text, " commits=%d", 1 + cw_below(&plan->random, 3));
    if (cw_chance(&plan->random, 20))
        cw_add(&text, " object=1");
    cw_program_add(plan->program, "%s", text.bytes);
    cw_text_free(&text);
}

static const char *draw_mode(cw_plan *plan)
{
    static const char *const modes[] = {"upsert", "upsert", "delete", "insert"};
    const int mode = cw_below(&plan->random, 4);
    const bool wants[] = {true, true, cw_wants(plan, CW_DELETE), cw_wants(plan, CW_INSERT)};
    return wants[mode] ? modes[mode] : "upsert";
}

void cw_draw_import(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, false);
    const bool is_big = cw_wants(plan, CW_BIG_IMPORT) && !plan->has_stored && table->key_count == 1 && !table->has_unique
        && !table->has_child && strcmp(table->columns[0].input, "real") != 0 && !table->has_similar_keys && cw_chance(&plan->random, 90);
    const int members = cw_wants(plan, CW_MEMBERS) ? 2 + cw_below(&plan->random, 3) : 1;
    if (is_big)
        plan->has_stored = true;
    const cw_plan_table *tables[4];
    for (int number = 0; number < members; number++)
        tables[number] = number == 0 || is_big ? table : cw_draw_table(plan, false);
    add_import(plan, is_big);
    member drawn[4];
    for (int number = 0; number < members; number++) {
        // A member may come again.
        const int again = number > 0 && cw_chance(&plan->random, 30) ? cw_below(&plan->random, number) : number;
        if (again == number) {
            drawn[number] = (member){.table = tables[number], .mode = is_big && number == 0 ? "upsert" : draw_mode(plan), .number = number};
            draw_columns(plan, &drawn[number]);
        } else {
            drawn[number] = drawn[again];
        }
        add_member(plan, &drawn[number], drawn[number].number);
        if (is_big && number == 0)
            add_many_rows(plan, &drawn[number]);
        for (int rows = cw_below(&plan->random, 12) + 1; rows > 0; rows--) {
            add_row(plan, &drawn[number]);
            if (cw_wants(plan, CW_TEXTS) && cw_chance(&plan->random, 8))
                cw_program_add(plan->program, " text");
        }
    }
    if (cw_wants(plan, CW_CANCELLED_IMPORT) && cw_chance(&plan->random, 30))
        cw_program_add(plan->program, " cancel");
}

// ---- Cursors
// ----------------------------------------------------------------------------------------------------------

static void add_order(cw_plan *plan, const char *prefix, const cw_plan_column *column, bool is_last)
{
    static const char *const collations[] = {"", " COLLATE NOCASE", " COLLATE BINARY", " COLLATE RTRIM"};
    const bool is_text = strncmp(column->declared, "TEXT", 4) == 0;
    const int nulls = is_last ? 0 : cw_below(&plan->random, 4);
    // A term without a collation would have that of its column, which the reference does not know.
    cw_program_add(plan->program, " order%s%s | %s%s%s", cw_chance(&plan->random, 40) ? " desc=1" : "",
                   nulls == 2       ? " nulls=first"
                       : nulls == 3 ? " nulls=last"
                                    : "",
                   prefix, column->name, is_text ? collations[is_last ? 2 : 1 + cw_below(&plan->random, 3)] : "");
}

static void add_moves(cw_plan *plan, const cw_plan_table *table, bool has_value)
{
    cw_text text = {0};
    if (has_value)
        cw_program_add(plan->program, " value | [%d]", cw_below(&plan->random, 6));
    for (int moves = 3 + cw_below(&plan->random, 5); moves > 0; moves--) {
        const int kind = cw_below(&plan->random, 10);
        if (kind < 5)
            cw_program_add(plan->program, " next rows=%d", 1 + cw_below(&plan->random, 4));
        else if (kind < 7)
            cw_program_add(plan->program, " prev rows=%d", 1 + cw_below(&plan->random, 3));
        else if (kind == 7)
            cw_program_add(plan->program, " skip count=%d", 1 + cw_below(&plan->random, 5));
        else if (kind == 8)
            cw_program_add(plan->program, cw_chance(&plan->random, 50) ? " start" : " end");
        else if (cw_wants(plan, CW_CURSOR_CHANGES) && !table->has_large && !table->has_child) {
            cw_clear(&text);
            cw_draw_key_condition(plan, table, &text);
            cw_program_add(plan->program, " sql | DELETE FROM %s WHERE %s", table->name, text.bytes);
        }
    }
    cw_text_free(&text);
}

void cw_draw_cursor(cw_plan *plan)
{
    const cw_plan_table *const table = cw_draw_table(plan, true);
    const char *kind = "cursor", *source = NULL, *prefix = "";
    cw_text text = {0};
    if (table == NULL || table->has_similar_keys)
        return;
    const cw_plan_column *const first = &table->columns[table->key_count];
    if (cw_wants(plan, CW_CURSOR_JOIN) && cw_chance(&plan->random, 40) && table->key_count == 1) {
        kind = "cursorJoin";
        prefix = "x.";
        cw_add(&text, "%s AS x LEFT JOIN %s AS y ON y.k=x.k", table->name, table->name);
    } else if (cw_wants(plan, CW_CURSOR_UNION) && cw_chance(&plan->random, 40) && table->key_count == 1) {
        kind = "cursorUnion";
        cw_add(&text, "(SELECT k, %s FROM %s UNION SELECT k, %s FROM %s WHERE k>3)", first->is_large ? "NULL AS a" : first->name,
               table->name, first->is_large ? "NULL" : first->name, table->name);
    } else if (cw_wants(plan, CW_CURSOR_VIEW) && cw_chance(&plan->random, 60)) {
        kind = "cursorView";
        cw_add(&text, "(SELECT * FROM %s WHERE k IS NOT NULL)", table->name);
    } else {
        cw_add(&text, "%s", table->name);
    }
    source = text.bytes;
    cw_program_add(plan->program, "cursor kind=%s on=%s", kind, cw_chance(&plan->random, 30) ? "writer" : "reader");
    for (int key = 0; key < table->key_count; key++)
        cw_program_add(plan->program, " column | %s%s", prefix, table->columns[key].name);
    if (!first->is_large)
        cw_program_add(plan->program, " column | %s%s", prefix, first->name);
    cw_program_add(plan->program, " source | %s", source);
    const bool has_value = cw_chance(&plan->random, 30);
    if (has_value)
        cw_program_add(plan->program, " where | %sk > ?1 OR typeof(%sk)='text'", prefix, prefix);
    if (cw_wants(plan, CW_CURSOR_MIXED_ORDER) && !first->is_large)
        add_order(plan, prefix, first, false);
    for (int key = 0; key < table->key_count; key++)
        add_order(plan, prefix, &table->columns[key], true);
    add_moves(plan, table, has_value);
    cw_text_free(&text);
}
