/// cw_both.c: SQL, transactions and pages, on the core and on the reference.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/cw_compare.h"
#include "running/cw_cell.h"
#include "running/cw_run.h"

int cw_reference_exec(cw_run *run, const char *sql, size_t length, int64_t *changes)
{
    sqlite3 *const db = run->reference;
    int code = SQLITE_OK;
    *changes = 0;
    while (length > 0 && code == SQLITE_OK) {
        sqlite3_stmt *statement = NULL;
        const char *tail = NULL;
        code = sqlite3_prepare_v2(db, sql, (int)length, &statement, &tail);
        if (code != SQLITE_OK || tail == NULL || tail == sql)
            break;
        const sqlite3_int64 before = sqlite3_total_changes64(db);
        int step = SQLITE_DONE;
        while (statement != NULL && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        }
        if (step == SQLITE_DONE && sqlite3_total_changes64(db) != before)
            *changes += sqlite3_changes64(db);
        const int reset = sqlite3_finalize(statement);
        code = step == SQLITE_DONE ? SQLITE_OK : reset;
        length -= (size_t)(tail - sql);
        sql = tail;
    }
    return code;
}

void cw_compare_status(cw_run *run, const char *what, mc_status status, const mc_error *error, int code)
{
    if (run->is_faulty && status != MC_OK && error->sqlite_code != code) {
        run->has_failed = true;
        return;
    }
    if ((status == MC_OK) != (code == SQLITE_OK))
        cw_fail(run, "status", "%s: %s%s%s instead of SQLite's result %d", what, mc_status_name(status), status != MC_OK ? ", " : "",
                status != MC_OK ? error->message : "", code);
    else if (status != MC_OK && (error->code != status || (error->sqlite_code != 0 && error->sqlite_code != code)))
        cw_fail(run, "status", "%s: SQLite's code %d instead of %d (%s)", what, error->sqlite_code, code, error->message);
    if (code != SQLITE_OK)
        cw_meet(run, CW_FAILED_STATEMENT);
    // SQLite has rolled back the reference's transaction: the core's caller ends his as well.
    if (run->kind == NULL && run->level > 0 && sqlite3_get_autocommit(run->reference) != 0)
        cw_step_transaction(run, "rollback");
}

/// Notes what a line that makes a table has.
static void note_table(cw_run *run, const char *line)
{
    char table[CW_NAME], list[CW_PATH], name[CW_NAME];
    const char *at = list;
    (void)cw_setting(line, "name", table, sizeof table);
    (void)cw_setting(line, "has", list, sizeof list);
    while (cw_next_element(&at, name, sizeof name))
        cw_meet(run, cw_feature_named(name));
    (void)cw_setting(line, "large", list, sizeof list);
    for (at = list; cw_next_element(&at, name, sizeof name) && run->large_count < CW_LARGE_COLUMNS;) {
        cw_large_column *const large = &run->large[run->large_count++];
        (void)snprintf(large->table, sizeof large->table, "%s", table);
        (void)snprintf(large->column, sizeof large->column, "%s", name);
    }
}

/// Runs the SQL of a line on the writer of a pool.
static mc_status exec(cw_run *run, const char *line, const char *sql, int64_t *changes, mc_error *error)
{
    char pool[CW_NAME];
    mc_connection *connection = NULL;
    const mc_checkout checkout = {MC_OPTIONS(mc_checkout), .writer = true};
    (void)cw_setting(line, "pool", pool, sizeof pool);
    if (strcmp(pool, "b") != 0) {
        connection = cw_writer(run);
        return connection == NULL ? MC_ERROR_TIMEOUT : mc_connection_exec(connection, sql, strlen(sql), changes, error);
    }
    mc_status status = mc_pool_checkout(run->other, &checkout, &connection, error);
    if (status == MC_OK) {
        status = mc_connection_exec(connection, sql, strlen(sql), changes, error);
        mc_pool_return(run->other, connection);
    }
    return status;
}

void cw_step_sql(cw_run *run, const char *line)
{
    char pool[CW_NAME];
    mc_error error = {0};
    int64_t changes = 0, expected = 0;
    const bool is_other = cw_setting(line, "pool", pool, sizeof pool) && strcmp(pool, "b") == 0;
    if (is_other && (run->other == NULL || run->level > 0))
        return;
    char *const sql = cw_expand(run, cw_rest(line), false), *const other = cw_expand(run, cw_rest(line), true);
    const int code = cw_reference_exec(run, other, strlen(other), &expected);
    const mc_status status = exec(run, line, sql, &changes, &error);
    cw_compare_status(run, sql, status, &error, code);
    if (status == MC_OK && changes != expected)
        cw_fail(run, "changes", "%s: %lld changes instead of %lld", sql, (long long)changes, (long long)expected);
    if (status == MC_OK)
        note_table(run, line);
    cw_storage_committed(run);
    free(sql);
    free(other);
}

// ---- Statements with values
// -------------------------------------------------------------------------------------------

static mc_status bind(mc_statement *statement, int index, const cw_cell *cell, mc_error *error)
{
    switch (cell->type) {
    case SQLITE_INTEGER: return mc_statement_bind_integer(statement, index, cell->integer, error);
    case SQLITE_FLOAT: return mc_statement_bind_real(statement, index, cell->real, error);
    case SQLITE_TEXT: return mc_statement_bind_text(statement, index, cell->bytes, cell->length, error);
    case SQLITE_BLOB: return mc_statement_bind_blob(statement, index, cell->bytes, cell->length, error);
    default: return mc_statement_bind_null(statement, index, error);
    }
}

/// Runs both statements with the values of one row.
static void run_with(cw_run *run, mc_statement *statement, sqlite3_stmt *reference, const char *row)
{
    mc_error error = {0};
    mc_status status = MC_OK;
    int64_t changes = 0;
    cw_row tokens = {0};
    if (!cw_row_parse(row, &tokens)) {
        cw_fail(run, "world", "not a row: %s", row);
        return;
    }
    const int count = sqlite3_bind_parameter_count(reference);
    for (int index = 1; index <= count && (size_t)index <= tokens.count && status == MC_OK; index++) {
        cw_cell cell = {0};
        (void)cw_cell_make(&tokens.tokens[index - 1], "any", &cell);
        status = bind(statement, index, &cell, &error);
        (void)cw_cell_bind(reference, index, &cell);
        cw_cell_free(&cell);
    }
    if (status == MC_OK)
        status = mc_statement_run(statement, &changes, &error);
    const sqlite3_int64 before = sqlite3_total_changes64(run->reference);
    (void)sqlite3_step(reference);
    const int64_t expected = sqlite3_total_changes64(run->reference) != before ? sqlite3_changes64(run->reference) : 0;
    const int code = sqlite3_reset(reference);
    cw_compare_status(run, row, status, &error, code);
    if (status == MC_OK && changes != expected)
        cw_fail(run, "changes", "%s: %lld changes instead of %lld", row, (long long)changes, (long long)expected);
    cw_storage_committed(run);
    cw_row_free(&tokens);
}

void cw_step_bind(cw_run *run, size_t line)
{
    const char *const sql = cw_rest(run->program->lines[line].text);
    mc_connection *const writer = cw_writer(run);
    mc_error error = {0};
    mc_statement *statement = NULL;
    sqlite3_stmt *reference = NULL;
    if (writer == NULL)
        return;
    const int code = sqlite3_prepare_v2(run->reference, sql, -1, &reference, NULL);
    const mc_status status = mc_statement_prepare(writer, sql, strlen(sql), &statement, &error);
    cw_compare_status(run, sql, status, &error, code);
    for (size_t part = line + 1; part < run->program->count && run->kind == NULL && status == MC_OK; part++) {
        const cw_line *const row = &run->program->lines[part];
        if (!cw_is_part(row->text))
            break;
        if (row->is_kept)
            run_with(run, statement, reference, row->text + 1);
        cw_meet(run, CW_PREPARED);
    }
    mc_statement_return(statement);
    (void)sqlite3_finalize(reference);
}

// ---- Transactions
// -----------------------------------------------------------------------------------------------------

static void begin(cw_run *run)
{
    mc_error error = {0};
    int64_t changes = 0;
    if (run->level > 0)
        return;
    mc_connection *const writer = cw_writer(run);
    if (writer == NULL)
        return;
    run->writer = writer;
    run->lent = NULL;
    cw_compare_status(run, "begin", mc_connection_begin(writer, &error), &error,
                      cw_reference_exec(run, "BEGIN", strlen("BEGIN"), &changes));
    run->level = 1;
    cw_meet(run, CW_TRANSACTION);
}

static void end_hold(cw_run *run)
{
    if (run->level > 0 || run->is_held || run->writer == NULL)
        return;
    mc_pool_return(run->pool, run->writer);
    run->writer = NULL;
}

static void commit(cw_run *run)
{
    mc_error error = {0};
    int64_t changes = 0;
    const int code = cw_reference_exec(run, "COMMIT", strlen("COMMIT"), &changes);
    if (code != SQLITE_OK)
        (void)cw_reference_exec(run, "ROLLBACK", strlen("ROLLBACK"), &changes);
    const mc_status status = mc_connection_commit(run->writer, &error);
    run->level = 0;
    cw_compare_status(run, "commit", status, &error, code);
    cw_large_level_ended(run, 1, status != MC_OK);
    end_hold(run);
}

static void roll_back(cw_run *run)
{
    int64_t changes = 0;
    mc_connection_rollback(run->writer);
    if (sqlite3_get_autocommit(run->reference) == 0)
        (void)cw_reference_exec(run, "ROLLBACK", strlen("ROLLBACK"), &changes);
    cw_large_level_ended(run, 1, true);
    run->level = 0;
    cw_meet(run, CW_ROLLBACK);
    end_hold(run);
}

/// Begins a savepoint, releases it, or undoes it.
static void savepoint(cw_run *run, const char *line)
{
    mc_error error = {0};
    mc_status status = MC_OK;
    int64_t changes = 0;
    const char *sql = "SAVEPOINT s";
    if (cw_is(line, "savepoint")) {
        status = mc_connection_savepoint(run->writer, &error);
        run->level++;
    } else if (cw_is(line, "release")) {
        sql = "RELEASE s";
        status = mc_connection_release_savepoint(run->writer, &error);
    } else {
        sql = "ROLLBACK TO s; RELEASE s";
        mc_connection_rollback_savepoint(run->writer);
    }
    if (!cw_is(line, "savepoint"))
        cw_large_level_ended(run, run->level--, cw_is(line, "undo"));
    cw_compare_status(run, sql, status, &error, cw_reference_exec(run, sql, strlen(sql), &changes));
    cw_meet(run, CW_SAVEPOINT);
}

void cw_step_transaction(cw_run *run, const char *line)
{
    const bool ends_savepoint = cw_is(line, "release") || cw_is(line, "undo");
    if (cw_is(line, "begin"))
        begin(run);
    else if (cw_is(line, "commit") && run->level > 0)
        commit(run);
    else if (cw_is(line, "rollback") && run->level > 0)
        roll_back(run);
    else if ((cw_is(line, "savepoint") && run->level > 0) || (ends_savepoint && run->level > 1))
        savepoint(run, line);
    else if (!cw_is(line, "commit") && !cw_is(line, "rollback") && !cw_is(line, "savepoint") && !ends_savepoint)
        cw_fail(run, "world", "not a step: %s", line);
}

// ---- Pages
// ------------------------------------------------------------------------------------------------------------

void cw_step_page(cw_run *run, const char *line)
{
    const char *const sql = cw_rest(line);
    char on[CW_NAME];
    mc_connection *taken = NULL;
    mc_statement *statement = NULL;
    sqlite3_stmt *reference = NULL;
    mc_row_page *page = NULL;
    mc_error error = {0};
    bool at_end = false;
    (void)cw_setting(line, "on", on, sizeof on);
    mc_connection *const connection = cw_connection(run, strcmp(on, "snapshot") == 0 ? "reader" : on, &taken);
    if (connection == NULL)
        return;
    const int code = sqlite3_prepare_v2(run->reference, sql, -1, &reference, NULL);
    mc_status status = mc_statement_prepare(connection, sql, strlen(sql), &statement, &error);
    cw_compare_status(run, sql, status, &error, code);
    if (status == MC_OK)
        status = mc_row_page_create(&page, &error);
    while (run->kind == NULL && status == MC_OK && !at_end) {
        status = mc_row_page_fill(page, statement, (size_t)cw_number(line, "rows", 5), 1 << 20, &at_end, &error);
        const size_t columns = (size_t)sqlite3_column_count(reference);
        for (size_t row = 0; status == MC_OK && row < page->row_count && run->kind == NULL; row++) {
            if (sqlite3_step(reference) != SQLITE_ROW)
                cw_fail(run, "page", "%s: a page has one row more", sql);
            if (page->column_count != (size_t)sqlite3_column_count(reference))
                cw_fail(run, "page", "%s: a page has %zu columns instead of %zu", sql, page->column_count, columns);
            for (size_t column = 0; run->kind == NULL && column < columns; column++) {
                if (!cw_same_cell(page, row, column, sqlite3_column_value(reference, (int)column)))
                    cw_fail(run, "page", "%s: row %zu of a page, column %zu: another value", sql, row, column);
            }
        }
    }
    if (run->kind == NULL && code == SQLITE_OK && sqlite3_step(reference) == SQLITE_ROW)
        cw_fail(run, "page", "%s: the pages lack a row (%s)", sql, status == MC_OK ? "" : error.message);
    cw_meet(run, CW_PAGE);
    mc_row_page_free(page);
    mc_statement_return(statement);
    (void)sqlite3_finalize(reference);
    if (taken != NULL)
        mc_pool_return(run->pool, taken);
}

void cw_step_nul(cw_run *run, const char *line)
{
    mc_error error = {0};
    mc_connection *const writer = cw_writer(run);
    mc_statement *statement = NULL;
    int64_t changes = 0;
    const size_t length = strlen(cw_rest(line));
    char *const sql = cw_copy(cw_rest(line), length);
    char *const mark = strchr(sql, '^');
    if (mark != NULL)
        *mark = '\0';
    if (writer != NULL && mc_statement_prepare(writer, sql, length, &statement, &error) == MC_OK && mark != NULL)
        cw_fail(run, "nul", "SQL with a zero byte is cut and prepared");
    mc_statement_return(statement);
    if (run->kind == NULL && writer != NULL && mc_connection_exec(writer, sql, length, &changes, &error) == MC_OK && mark != NULL)
        cw_fail(run, "nul", "SQL with a zero byte is cut and run");
    free(sql);
}
