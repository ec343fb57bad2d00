/// cw_cursor.c: cursors, compared with all rows of the query in its order.
///
/// The reference reads all rows before each page, and finds the place of the cursor by comparing the values of the
/// order with SQLite's own operators.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks/cw_compare.h"
#include "running/cw_cell.h"

enum { PARTS = 8 };

typedef struct term {
    const char *expression;
    bool is_descending;
    mc_nulls nulls;
    sqlite3_stmt *comparison;  // -1, 0 or 1 for its two parameters, which are not NULL
} term;

typedef enum place { AT_START, ON_ROWS, AT_END } place;

typedef struct query {
    const char *columns[PARTS], *source, *condition;
    term terms[PARTS];
    size_t column_count, term_count;
    cw_row values;
    // The rows of the reference: columns, then terms.
    sqlite3_value **rows;
    size_t row_count;
    // The position of the reference.
    place place;
    sqlite3_value *first[PARTS], *last[PARTS];
    mc_cursor *cursor;
    mc_row_page *page;
} query;

// ---- The reference
// ----------------------------------------------------------------------------------------------------

static void forget(query *query)
{
    for (size_t index = 0; index < query->row_count * (query->column_count + query->term_count); index++)
        sqlite3_value_free(query->rows[index]);
    free(query->rows);
    query->rows = NULL;
    query->row_count = 0;
}

static sqlite3_value **row_at(const query *query, size_t row)
{
    return query->rows + row * (query->column_count + query->term_count);
}

/// Reads all rows of the query, in its order.
static void read_rows(cw_run *run, query *query)
{
    const size_t width = query->column_count + query->term_count;
    cw_text sql = {0};
    sqlite3_stmt *statement = NULL;
    forget(query);
    for (size_t column = 0; column < query->column_count; column++)
        cw_add(&sql, "%s%s", column == 0 ? "SELECT " : ", ", query->columns[column]);
    for (size_t index = 0; index < query->term_count; index++)
        cw_add(&sql, ", %s", query->terms[index].expression);
    cw_add(&sql, " FROM %s", query->source);
    if (query->condition != NULL)
        cw_add(&sql, " WHERE %s", query->condition);
    for (size_t index = 0; index < query->term_count; index++)
        cw_add(&sql, "%s%s%s%s", index == 0 ? " ORDER BY " : ", ", query->terms[index].expression,
               query->terms[index].is_descending ? " DESC" : "",
               query->terms[index].nulls == MC_NULLS_FIRST      ? " NULLS FIRST"
                   : query->terms[index].nulls == MC_NULLS_LAST ? " NULLS LAST"
                                                                : "");
    if (sqlite3_prepare_v2(run->reference, cw_string(&sql), -1, &statement, NULL) != SQLITE_OK)
        cw_fail(run, "world", "%s: %s", cw_string(&sql), sqlite3_errmsg(run->reference));
    for (size_t index = 0; run->kind == NULL && index < query->values.count; index++) {
        cw_cell cell = {0};
        (void)cw_cell_make(&query->values.tokens[index], "any", &cell);
        (void)cw_cell_bind(statement, (int)index + 1, &cell);
        cw_cell_free(&cell);
    }
    while (run->kind == NULL && sqlite3_step(statement) == SQLITE_ROW) {
        query->rows = cw_grow(query->rows, (query->row_count + 1) * width, sizeof(sqlite3_value *));
        for (size_t column = 0; column < width; column++)
            query->rows[query->row_count * width + column] =
                sqlite3_value_dup(sqlite3_column_value(statement, (int)column));
        query->row_count++;
    }
    (void)sqlite3_finalize(statement);
    cw_text_free(&sql);
}

static int compare_values(const term *term, sqlite3_value *left, sqlite3_value *right)
{
    const bool left_null = sqlite3_value_type(left) == SQLITE_NULL,
               right_null = sqlite3_value_type(right) == SQLITE_NULL;
    const bool nulls_first = term->nulls == MC_NULLS_AS_SQLITE ? !term->is_descending : term->nulls == MC_NULLS_FIRST;
    int order = 0;
    if (left_null || right_null)
        return left_null == right_null ? 0 : left_null == nulls_first ? -1 : 1;
    (void)sqlite3_bind_value(term->comparison, 1, left);
    (void)sqlite3_bind_value(term->comparison, 2, right);
    if (sqlite3_step(term->comparison) == SQLITE_ROW)
        order = sqlite3_column_int(term->comparison, 0);
    (void)sqlite3_reset(term->comparison);
    return term->is_descending ? -order : order;
}

/// Compares a row with the values of a position.
static int compare_row(const query *query, size_t row, sqlite3_value *const *position)
{
    int order = 0;
    for (size_t index = 0; index < query->term_count && order == 0; index++)
        order = compare_values(&query->terms[index], row_at(query, row)[query->column_count + index], position[index]);
    return order;
}

/// The rows of the next page are those from `*from` to before `*end`.
static void find_page(const query *query, bool backwards, size_t most, size_t *from, size_t *end)
{
    *from = 0;
    *end = query->row_count;
    if (backwards) {
        while (query->place == ON_ROWS && *end > 0 && compare_row(query, *end - 1, query->first) >= 0)
            (*end)--;
        if (query->place == AT_START)
            *end = 0;
        *from = *end > most ? *end - most : 0;
        return;
    }
    while (query->place == ON_ROWS && *from < query->row_count && compare_row(query, *from, query->last) <= 0)
        (*from)++;
    if (query->place == AT_END)
        *from = query->row_count;
    if (*end - *from > most)
        *end = *from + most;
}

static void set_position(query *query, sqlite3_value *const *first, sqlite3_value *const *last)
{
    for (size_t index = 0; index < query->term_count; index++) {
        sqlite3_value *const one = sqlite3_value_dup(first[index]), *const other = sqlite3_value_dup(last[index]);
        sqlite3_value_free(query->first[index]);
        sqlite3_value_free(query->last[index]);
        query->first[index] = one;
        query->last[index] = other;
    }
    query->place = ON_ROWS;
}

// ---- Moves
// ------------------------------------------------------------------------------------------------------------

static void check_page(cw_run *run, const query *query, size_t from, size_t end, const char *line)
{
    if (query->page->row_count != end - from)
        cw_fail(run, "cursor", "%s: a page of %zu rows instead of %zu", line + 1, query->page->row_count, end - from);
    for (size_t row = from; row < end && run->kind == NULL; row++) {
        for (size_t column = 0; column < query->column_count; column++) {
            if (!cw_same_cell(query->page, row - from, column, row_at(query, row)[column]))
                cw_fail(run, "cursor", "%s: row %zu of the page, column %zu: another value", line + 1, row - from + 1,
                        column);
        }
    }
}

static void move(cw_run *run, mc_connection *connection, query *query, const char *line)
{
    const size_t most = (size_t)cw_number(line, "rows", 3);
    const bool backwards = cw_is(line, "prev");
    size_t from = 0, end = 0;
    bool at_end = false;
    mc_error error = {0};
    read_rows(run, query);
    if (run->kind != NULL)
        return;
    find_page(query, backwards, most, &from, &end);
    const mc_status status = backwards
        ? mc_cursor_previous(query->cursor, connection, query->page, most, 1 << 20, &at_end, &error)
        : mc_cursor_next(query->cursor, connection, query->page, most, 1 << 20, &at_end, &error);
    if (status != MC_OK) {
        cw_fail(run, "cursor", "%s: %s", line + 1, error.message);
        return;
    }
    check_page(run, query, from, end, line);
    if (at_end != (backwards ? from == 0 : end == query->row_count) && end > from)
        cw_fail(run, "cursor", "%s: it is %s the end", line + 1, at_end ? "not at" : "at");
    if (end == from)
        query->place = backwards ? AT_START : AT_END;
    else
        set_position(query, row_at(query, from) + query->column_count, row_at(query, end - 1) + query->column_count);
}

static void skip(cw_run *run, mc_connection *connection, query *query, const char *line)
{
    const int64_t count = cw_number(line, "count", 1);
    size_t from = 0, end = 0;
    int64_t skipped = 0;
    mc_error error = {0};
    read_rows(run, query);
    if (run->kind != NULL || count < 1)
        return;
    find_page(query, false, (size_t)count, &from, &end);
    const bool is_over = query->place == AT_END;
    if (mc_cursor_skip(query->cursor, connection, count, &skipped, &error) != MC_OK)
        cw_fail(run, "cursor", "%s: %s", line + 1, error.message);
    else if (skipped != (int64_t)(end - from))
        cw_fail(run, "cursor", "%s: %lld rows instead of %zu", line + 1, (long long)skipped, end - from);
    else if (skipped < count)
        query->place = AT_END;
    else if (!is_over)
        set_position(query, row_at(query, end - 1) + query->column_count, row_at(query, end - 1) + query->column_count);
}

static mc_value value_of(const cw_cell *cell)
{
    switch (cell->type) {
    case SQLITE_INTEGER: return (mc_value){.value.integer = cell->integer, .kind = MC_VALUE_INTEGER};
    case SQLITE_FLOAT: return (mc_value){.value.real = cell->real, .kind = MC_VALUE_REAL};
    case SQLITE_TEXT:
        return (mc_value){.value.bytes = cell->bytes, .length = (uint32_t)cell->length, .kind = MC_VALUE_TEXT};
    default: return (mc_value){.kind = MC_VALUE_NULL};
    }
}

/// Moves to the values of a line, or gives them to the query's parameters.
static void take_values(cw_run *run, query *query, const char *text, bool is_position)
{
    cw_row row = {0};
    cw_cell cells[PARTS] = {{0}};
    mc_value values[PARTS];
    mc_error error = {0};
    if (!cw_row_parse(text, &row) || row.count > PARTS) {
        cw_fail(run, "world", "not a row: %s", text);
        cw_row_free(&row);
        return;
    }
    for (size_t index = 0; index < row.count; index++) {
        (void)cw_cell_make(&row.tokens[index], "any", &cells[index]);
        values[index] = value_of(&cells[index]);
    }
    const mc_status status = is_position ? mc_cursor_seek(query->cursor, values, row.count, &error)
                                         : mc_cursor_set_values(query->cursor, values, row.count, &error);
    if (status != MC_OK && (!is_position || row.count == query->term_count))
        cw_fail(run, "cursor", "%s: %s", text, error.message);
    for (size_t index = 0; is_position && status == MC_OK && index < row.count; index++) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(run->reference, "SELECT ?", -1, &statement, NULL) == SQLITE_OK
            && cw_cell_bind(statement, 1, &cells[index]) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
            sqlite3_value_free(query->first[index]);
            sqlite3_value_free(query->last[index]);
            query->first[index] = sqlite3_value_dup(sqlite3_column_value(statement, 0));
            query->last[index] = sqlite3_value_dup(sqlite3_column_value(statement, 0));
            query->place = ON_ROWS;
        }
        (void)sqlite3_finalize(statement);
    }
    for (size_t index = 0; index < PARTS; index++)
        cw_cell_free(&cells[index]);
    cw_row_free(&row);
}

// ---- The step
// ---------------------------------------------------------------------------------------------------------

/// Prepares the comparison of a term: with its collation, if it has one.
static void prepare_comparison(cw_run *run, term *term)
{
    const char *const collation = strstr(term->expression, " COLLATE ");
    cw_text sql = {0};
    cw_add(&sql, "SELECT CASE WHEN ?1=?2%s THEN 0 WHEN ?1<?2%s THEN -1 ELSE 1 END", collation != NULL ? collation : "",
           collation != NULL ? collation : "");
    if (sqlite3_prepare_v2(run->reference, cw_string(&sql), -1, &term->comparison, NULL) != SQLITE_OK)
        cw_fail(run, "world", "%s: %s", cw_string(&sql), sqlite3_errmsg(run->reference));
    cw_text_free(&sql);
}

/// Takes a line that describes the query; false for a move.
static bool describe(cw_run *run, query *query, const char *line)
{
    char nulls[CW_NAME];
    if (cw_is(line, "column") && query->column_count < PARTS)
        query->columns[query->column_count++] = cw_rest(line);
    else if (cw_is(line, "source"))
        query->source = cw_rest(line);
    else if (cw_is(line, "where"))
        query->condition = cw_rest(line);
    else if (cw_is(line, "order") && query->term_count < PARTS) {
        term *const term = &query->terms[query->term_count++];
        (void)cw_setting(line, "nulls", nulls, sizeof nulls);
        term->expression = cw_rest(line);
        term->is_descending = cw_number(line, "desc", 0) != 0;
        term->nulls = strcmp(nulls, "first") == 0 ? MC_NULLS_FIRST
            : strcmp(nulls, "last") == 0          ? MC_NULLS_LAST
                                                  : MC_NULLS_AS_SQLITE;
        prepare_comparison(run, term);
    } else
        return false;
    return true;
}

static bool create(cw_run *run, query *query)
{
    mc_order_term order[PARTS];
    mc_error error = {0};
    if (query->column_count == 0 || query->source == NULL || query->term_count == 0)
        return false;
    for (size_t index = 0; index < query->term_count; index++)
        order[index] = (mc_order_term){.expression = query->terms[index].expression,
                                       .descending = query->terms[index].is_descending,
                                       .nulls = query->terms[index].nulls};
    const mc_cursor_query parts = {.columns = query->columns,
                                   .column_count = query->column_count,
                                   .source = query->source,
                                   .condition = query->condition,
                                   .order = order,
                                   .order_count = query->term_count};
    if (mc_cursor_create(&parts, &query->cursor, &error) != MC_OK || mc_row_page_create(&query->page, &error) != MC_OK)
        cw_fail(run, "cursor", "%s", error.message);
    return run->kind == NULL;
}

static void take_move(cw_run *run, mc_connection *connection, query *query, const char *line)
{
    if (cw_is(line, "next") || cw_is(line, "prev"))
        move(run, connection, query, line);
    else if (cw_is(line, "skip"))
        skip(run, connection, query, line);
    else if (cw_is(line, "start") || cw_is(line, "end")) {
        mc_cursor_rewind(query->cursor, cw_is(line, "end"));
        query->place = cw_is(line, "end") ? AT_END : AT_START;
    } else if (cw_is(line, "seek"))
        take_values(run, query, cw_rest(line), true);
    else if (cw_is(line, "value") && cw_row_parse(cw_rest(line), &query->values))
        take_values(run, query, cw_rest(line), false);
}

void cw_step_cursor(cw_run *run, size_t line)
{
    const cw_program *const program = run->program;
    query query = {0};
    char on[CW_NAME], kind[CW_NAME];
    (void)cw_setting(program->lines[line].text, "on", on, sizeof on);
    for (size_t part = line + 1; part < program->count && cw_is_part(program->lines[part].text) && run->kind == NULL;
         part++) {
        const char *const text = program->lines[part].text;
        mc_connection *taken = NULL;
        if (!program->lines[part].is_kept || (query.cursor == NULL && describe(run, &query, text)))
            continue;
        if (query.cursor == NULL && !create(run, &query))
            break;
        if (cw_is(text, "sql")) {
            cw_step_sql(run, text);
            cw_meet(run, CW_CURSOR_CHANGES);
            continue;
        }
        cw_return_writer(run);
        // Each page is read on a connection that is taken for it.
        mc_connection *const connection = cw_connection(run, on, &taken);
        if (connection != NULL)
            take_move(run, connection, &query, text);
        if (taken != NULL)
            mc_pool_return(run->pool, taken);
    }
    (void)cw_setting(program->lines[line].text, "kind", kind, sizeof kind);
    cw_meet(run, CW_CURSOR);
    cw_meet(run, cw_feature_named(kind));
    if (query.term_count > 1)
        cw_meet(run, CW_CURSOR_MIXED_ORDER);
    forget(&query);
    for (size_t index = 0; index < PARTS; index++) {
        sqlite3_value_free(query.first[index]);
        sqlite3_value_free(query.last[index]);
        (void)sqlite3_finalize(query.terms[index].comparison);
    }
    cw_row_free(&query.values);
    mc_cursor_free(query.cursor);
    mc_row_page_free(query.page);
}
