/// cw_reference_import.c: an import as its documentation describes it, with one prepared statement for each kind of
/// effect.
#include <stdlib.h>
#include <string.h>

#include "running/cw_cell.h"
#include "running/cw_import.h"

/// The statements of a member. Their parameters are the columns, then the constants.
typedef struct statements {
    sqlite3_stmt *write, *exists, *is_pending, *divert;
} statements;

static bool is_key(const cw_member *member, size_t column)
{
    size_t key = 0;
    while (key < member->key_count && member->key_columns[key] != column)
        key++;
    return key < member->key_count;
}

/// Appends `k=?1 AND l=?2`.
static void add_key_condition(cw_text *sql, const cw_member *member)
{
    for (size_t key = 0; key < member->key_count; key++)
        cw_add(sql, "%s%s=?%zu", key == 0 ? "" : " AND ", member->keys[key], member->key_columns[key] + 1);
}

/// Appends the condition of the rows that an INSERT of the key would meet. A REAL column makes doubles of integers,
/// also of those in texts, before it compares them; a comparison with a parameter does not.
static void add_met_condition(const cw_run *run, cw_text *sql, const cw_member *member, const char *table)
{
    for (size_t key = 0; key < member->key_count; key++) {
        const char *type = NULL;
        const size_t number = member->key_columns[key] + 1;
        (void)sqlite3_table_column_metadata(run->reference, NULL, table, member->keys[key], &type, NULL, NULL, NULL,
                                            NULL);
        cw_add(sql, "%s%s=", key == 0 ? "" : " AND ", member->keys[key]);
        if (type != NULL && sqlite3_stricmp(type, "REAL") == 0)
            cw_add(sql,
                   "CASE typeof(?%zu) WHEN 'integer' THEN CAST(?%zu AS REAL) WHEN 'text' THEN "
                   "iif(CAST(?%zu AS NUMERIC)=?%zu, CAST(?%zu AS REAL), ?%zu) ELSE ?%zu END",
                   number, number, number, number, number, number, number);
        else
            cw_add(sql, "?%zu", number);
    }
}

static void add_write(cw_text *sql, const cw_member *member)
{
    if (strcmp(member->mode, "delete") == 0) {
        cw_add(sql, "DELETE FROM %s WHERE ", member->table);
        add_key_condition(sql, member);
        return;
    }
    cw_add(sql, "INSERT INTO %s(", member->table);
    for (size_t column = 0; column < member->column_count; column++)
        cw_add(sql, "%s%s", column == 0 ? "" : ",", member->columns[column]);
    for (size_t index = 0; index < member->on_insert_count; index++)
        cw_add(sql, ",%s", member->on_insert[index].column);
    cw_add(sql, ") VALUES(");
    for (size_t column = 0; column < member->column_count; column++)
        cw_add(sql, "%s?%zu", column == 0 ? "" : ",", column + 1);
    for (size_t index = 0; index < member->on_insert_count; index++)
        cw_add(sql, ",%lld", (long long)member->on_insert[index].value);
    cw_add(sql, ")");
    if (strcmp(member->mode, "insert") == 0)
        return;
    cw_add(sql, " ON CONFLICT(");
    for (size_t key = 0; key < member->key_count; key++)
        cw_add(sql, "%s%s", key == 0 ? "" : ",", member->keys[key]);
    cw_add(sql, ") DO UPDATE SET ");
    const char *separator = "";
    for (size_t column = 0; column < member->column_count; column++) {
        if (is_key(member, column) && member->column_count > member->key_count)
            continue;
        cw_add(sql, "%s%s=excluded.%s", separator, member->columns[column], member->columns[column]);
        separator = ",";
    }
}

static void add_divert(const cw_run *run, cw_text *sql, const cw_member *member)
{
    const char *separator = "";
    cw_add(sql, "UPDATE %s SET ", member->pending);
    for (size_t column = 0; column < member->column_count; column++) {
        if (is_key(member, column))
            continue;
        cw_add(sql, "%s%s=?%zu", separator, member->columns[column], column + 1);
        separator = ",";
    }
    for (size_t index = 0; index < member->assigned_count; index++) {
        cw_add(sql, "%s%s=%lld", separator, member->assigned[index].column, (long long)member->assigned[index].value);
        separator = ",";
    }
    cw_add(sql, " WHERE ");
    add_met_condition(run, sql, member, member->pending);
}

static int prepare(cw_run *run, cw_text *sql, sqlite3_stmt **out)
{
    const int code = sqlite3_prepare_v2(run->reference, cw_string(sql), -1, out, NULL);
    cw_clear(sql);
    return code;
}

static int open_member(cw_run *run, const cw_member *member, statements *made)
{
    cw_text sql = {0};
    add_write(&sql, member);
    int code = prepare(run, &sql, &made->write);
    if (code == SQLITE_OK) {
        cw_add(&sql, "SELECT 1 FROM %s WHERE ", member->table);
        add_met_condition(run, &sql, member, member->table);
        code = prepare(run, &sql, &made->exists);
    }
    if (code == SQLITE_OK && member->pending[0] != '\0') {
        cw_add(&sql, "SELECT 1 FROM %s WHERE ", member->pending);
        add_met_condition(run, &sql, member, member->pending);
        code = prepare(run, &sql, &made->is_pending);
    }
    if (code == SQLITE_OK && member->pending[0] != '\0') {
        add_divert(run, &sql, member);
        code = prepare(run, &sql, &made->divert);
    }
    cw_text_free(&sql);
    return code;
}

static void close_member(statements *made)
{
    (void)sqlite3_finalize(made->write);
    (void)sqlite3_finalize(made->exists);
    (void)sqlite3_finalize(made->is_pending);
    (void)sqlite3_finalize(made->divert);
}

/// Binds the cells of a row to the parameters that a statement has.
static void bind(sqlite3_stmt *statement, const cw_cell *cells, size_t count)
{
    const int parameters = sqlite3_bind_parameter_count(statement);
    for (size_t column = 0; column < count && (int)column < parameters; column++)
        (void)cw_cell_bind(statement, (int)column + 1, &cells[column]);
}

static bool finds(sqlite3_stmt *statement, const cw_cell *cells, size_t count)
{
    bind(statement, cells, count);
    const bool found = sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_reset(statement);
    return found;
}

static int run_statement(sqlite3_stmt *statement, const cw_cell *cells, size_t count)
{
    bind(statement, cells, count);
    while (sqlite3_step(statement) == SQLITE_ROW) {
    }
    return sqlite3_reset(statement);
}

static int write_row(cw_run *run, const cw_member *member, const statements *made, const cw_cell *cells,
                     cw_outcome *outcome)
{
    const size_t count = member->column_count;
    if (made->is_pending != NULL && finds(made->is_pending, cells, count)) {
        const int code = run_statement(made->divert, cells, count);
        outcome->diverted += code == SQLITE_OK;
        cw_outcome_note(outcome, MC_IMPORT_DIVERTED);
        return code;
    }
    const bool existed = finds(made->exists, cells, count);
    const sqlite3_int64 before = sqlite3_total_changes64(run->reference);
    const int code = run_statement(made->write, cells, count);
    const bool has_changed = sqlite3_total_changes64(run->reference) != before;
    // Changes of triggers count in the total alone.
    const int64_t changed = code == SQLITE_OK && has_changed ? sqlite3_changes64(run->reference) : 0;
    if (strcmp(member->mode, "delete") == 0) {
        outcome->deleted += code == SQLITE_OK && existed && has_changed;
        cw_outcome_note(outcome, existed && has_changed ? MC_IMPORT_DELETED : MC_IMPORT_IGNORED);
        return code;
    }
    const bool is_update = existed && strcmp(member->mode, "upsert") == 0;
    if (code == SQLITE_OK && is_update)
        outcome->updated += changed;
    else if (code == SQLITE_OK)
        outcome->inserted += changed;
    cw_outcome_note(outcome, changed == 0 ? MC_IMPORT_IGNORED : is_update ? MC_IMPORT_UPDATED : MC_IMPORT_INSERTED);
    return code;
}

/// Reads the values of a row; false if a column refuses its value.
static bool read_cells(const cw_member *member, const char *text, cw_cell *cells)
{
    cw_row row = {0};
    bool is_accepted = cw_row_parse(text, &row) && row.count == member->column_count;
    for (size_t column = 0; is_accepted && column < row.count; column++) {
        is_accepted = cw_cell_make(&row.tokens[column], member->types[column], &cells[column]);
        // A null key is refused, because SQLite would choose a key for it.
        if (is_key(member, column) && cells[column].type == SQLITE_NULL && strcmp(member->mode, "insert") != 0)
            is_accepted = false;
    }
    cw_row_free(&row);
    return is_accepted;
}

static void take_row(cw_run *run, const cw_member *member, const statements *made, const cw_input_row *row,
                     cw_outcome *outcome)
{
    cw_cell cells[CW_COLUMNS_MOST] = {{0}};
    if (!read_cells(member, row->text, cells)) {
        outcome->status = MC_ERROR_TYPE;
        outcome->row = row->number;
    } else {
        outcome->code = write_row(run, member, made, cells, outcome);
        if (outcome->code == SQLITE_OK)
            outcome->rows++;
        else {
            outcome->status = (outcome->code & 0xFF) == SQLITE_CONSTRAINT ? MC_ERROR_CONSTRAINT : MC_ERROR_SQLITE;
            outcome->row = row->number;
        }
    }
    for (size_t column = 0; column < CW_COLUMNS_MOST; column++)
        cw_cell_free(&cells[column]);
}

void cw_reference_import(cw_run *run, const cw_input *input, size_t row_limit, cw_outcome *outcome)
{
    statements made[CW_MEMBERS_MOST] = {{0}};
    for (size_t index = 0; index < input->member_count && outcome->code == SQLITE_OK; index++)
        outcome->code = open_member(run, &input->members[index], &made[index]);
    if (outcome->code != SQLITE_OK)
        outcome->status = MC_ERROR_SQLITE;
    for (size_t index = 0; index < row_limit && outcome->status == MC_OK; index++) {
        const cw_input_row *const row = &input->rows[index];
        take_row(run, &input->members[row->member], &made[row->member], row, outcome);
    }
    for (size_t index = 0; index < input->member_count; index++)
        close_member(&made[index]);
}
