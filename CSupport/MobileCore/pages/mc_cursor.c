/// mc_cursor.c: the position of a cursor, and the pages from there.
#include "mc_cursor.h"

#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "pages/mc_cursor_sql.h"
#include "pages/mc_page_fill.h"
#include "pages/mc_page_memory.h"

/// The texts of one range, made when they are first needed.
typedef struct select {
    char *texts[MC_SELECT_ORDER + 1];
    bool must_be_stepped;  // the SELECT cannot fill a page by itself
} select;

/// The place where the next page begins.
typedef enum cursor_place { AT_START, ON_PAGE, AT_END } cursor_place;

struct mc_cursor {
    mc_cursor_parts parts;
    select *selects;      // by direction, kind of range and term
    mc_row_page *values;  // one row: the parameters
    cursor_place place;
    mc_row_page *first, *last;            // one row each: the order's values of the page's first and last row
    mc_row_page *next_first, *next_last;  // the next ones while they are built, so that a failure keeps the old ones
};

static size_t select_count(const mc_cursor *cursor)
{
    return 2 * MC_RANGE_KINDS * cursor->parts.order_count;
}

static select *select_of(const mc_cursor *cursor, const mc_range *range, bool backwards)
{
    return &cursor->selects[((size_t)backwards * MC_RANGE_KINDS + range->kind) * cursor->parts.order_count + range->term];
}

mc_status mc_cursor_create(const mc_cursor_query *query, mc_cursor **out, mc_error *error)
{
    *out = NULL;
    mc_cursor *const cursor = mc_allocate_zeroed(1, sizeof *cursor);
    if (cursor == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a cursor");
    mc_row_page **const pages[] = {&cursor->values, &cursor->first, &cursor->last, &cursor->next_first, &cursor->next_last};
    mc_status status = mc_cursor_parts_copy(&cursor->parts, query, error);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0] && status == MC_OK; i++)
        status = mc_row_page_create(pages[i], error);
    if (status == MC_OK) {
        cursor->selects = mc_allocate_zeroed(select_count(cursor), sizeof *cursor->selects);
        if (cursor->selects == NULL)
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a cursor");
    }
    if (status == MC_OK)
        *out = cursor;
    else
        mc_cursor_free(cursor);
    return status;
}

void mc_cursor_free(mc_cursor *cursor)
{
    if (cursor == NULL)
        return;
    for (size_t i = 0; cursor->selects != NULL && i < select_count(cursor); i++) {
        for (size_t use = 0; use <= MC_SELECT_ORDER; use++)
            sqlite3_free(cursor->selects[i].texts[use]);
    }
    mc_free(cursor->selects);
    mc_row_page_free(cursor->values);
    mc_row_page_free(cursor->first);
    mc_row_page_free(cursor->last);
    mc_row_page_free(cursor->next_first);
    mc_row_page_free(cursor->next_last);
    mc_cursor_parts_free(&cursor->parts);
    mc_free(cursor);
}

/// Makes one row of the query's values, for SQLite's parameters.
static bool keep_values(mc_row_page *row, const mc_value *values, size_t count)
{
    mc_cell *const cells = mc_allocate_zeroed(count + 1, sizeof *cells);
    bool kept = cells != NULL;
    mc_page_clear(row, 1, 1);
    // One cell at a time, because each has its bytes in another place. Then the cells become one row.
    for (size_t i = 0; i < count && kept; i++) {
        const mc_value *const value = &values[i];
        mc_cell *const cell = &cells[i];
        switch ((mc_value_kind)value->kind) {
        case MC_VALUE_INTEGER: *cell = (mc_cell){.type = MC_TYPE_INTEGER, .value.integer = value->value.integer}; break;
        case MC_VALUE_REAL: *cell = (mc_cell){.type = MC_TYPE_REAL, .value.real = value->value.real}; break;
        case MC_VALUE_TEXT: *cell = (mc_cell){.type = MC_TYPE_TEXT, .length = value->length}; break;
        case MC_VALUE_BLOB: *cell = (mc_cell){.type = MC_TYPE_BLOB, .length = value->length}; break;
        default: *cell = (mc_cell){.type = MC_TYPE_NULL}; break;
        }
        const bool has_bytes = cell->type == MC_TYPE_TEXT || cell->type == MC_TYPE_BLOB;
        kept = mc_page_append_cells(row, cell, has_bytes ? (const uint8_t *)value->value.bytes : row->arena);
    }
    mc_free(cells);
    row->column_count = row->stride = kept ? count : 0;
    row->row_count = kept && count > 0;
    return kept;
}

mc_status mc_cursor_set_values(mc_cursor *cursor, const mc_value *values, size_t count, mc_error *error)
{
    return keep_values(cursor->values, values, count) ? MC_OK : mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the values of a cursor");
}

/// Binds the query's values, and the values of the order's terms that are parameters of the statement.
static mc_status bind(const mc_cursor *cursor, const mc_row_page *row, mc_statement *statement, bool all_values, mc_error *error)
{
    sqlite3_stmt *const handle = mc_statement_sqlite(statement);
    mc_status status = MC_OK;
    for (size_t i = 0; i < cursor->values->stride && status == MC_OK; i++) {
        const int index = (int)i + 1;
        const char *const name = sqlite3_bind_parameter_name(handle, index);
        // The cursor's own parameters follow those of the query.
        if (index > sqlite3_bind_parameter_count(handle) || (name != NULL && strncmp(name, "@mc_", 4) == 0)) {
            if (all_values)
                status = mc_fail(error, MC_ERROR_MISUSE, "cursor: there is a value %d, but no parameter for it", index);
            break;
        }
        status = mc_row_page_bind(cursor->values, 0, i, statement, index, error);
    }
    for (size_t term = 0; row != NULL && term < cursor->parts.order_count && status == MC_OK; term++) {
        char name[16];
        sqlite3_snprintf(sizeof name, name, "@mc_%d", (int)term + 1);
        const int index = sqlite3_bind_parameter_index(handle, name);
        if (index > 0)
            status = mc_row_page_bind(row, 0, term, statement, index, error);
    }
    return status;
}

/// The rows of one page, and their beginning.
typedef struct page_run {
    mc_cursor *cursor;
    mc_connection *connection;
    const mc_row_page *row;  // the page begins after it; NULL: all rows
    bool backwards;
} page_run;

/// The SQL text of a range, made when it is first needed.
static mc_status text_of(const page_run *run, const mc_range *range, mc_select_use use, const char **sql, size_t *length, mc_error *error)
{
    char **const text = &select_of(run->cursor, range, run->backwards)->texts[use];
    if (*text == NULL)
        *text = mc_cursor_select(&run->cursor->parts, range, run->backwards, use);
    if (*text == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a cursor's SQL");
    *sql = *text;
    *length = strlen(*text);
    return MC_OK;
}

static mc_status bind_limit(mc_statement *statement, int64_t rows, mc_error *error)
{
    return mc_statement_bind_integer(statement, sqlite3_bind_parameter_index(mc_statement_sqlite(statement), "@mc_rows"), rows, error);
}

/// Binds the values of the row after which a page begins.
static mc_status bind_run(const void *context, mc_statement *statement, mc_error *error)
{
    const page_run *const run = context;
    return bind(run->cursor, run->row, statement, true, error);
}

static mc_status fill_range(const page_run *run, const mc_range *range, mc_page_fill *fill, bool *at_end, mc_error *error)
{
    select *const select = select_of(run->cursor, range, run->backwards);
    mc_page_source source = {.connection = run->connection, .bind = bind_run, .context = run};
    bool done = false;
    *at_end = true;
    if (!select->must_be_stepped && fill->page->stride <= MC_PAGE_FUNCTION_COLUMNS) {
        mc_status status = text_of(run, range, MC_SELECT_FILLING, &source.sql, &source.length, error);
        if (status == MC_OK)
            status = mc_page_fill_by_statement(&source, fill, at_end, &done, error);
        if (status != MC_OK || done)
            return status;
        select->must_be_stepped = true;
    }
    const mc_status status = text_of(run, range, MC_SELECT_PLAIN, &source.sql, &source.length, error);
    return status == MC_OK ? mc_page_fill_by_steps(&source, fill, at_end, error) : status;
}

/// Copies the order's values of a row of the page into a row of their own.
static bool keep_order_values(const mc_cursor_parts *parts, const mc_row_page *page, size_t row, mc_row_page *kept)
{
    mc_cell cells[MC_CURSOR_TERMS_MAXIMUM];
    for (size_t term = 0; term < parts->order_count; term++)
        cells[term] = *mc_row_page_cell(page, row, parts->term_columns[term]);
    mc_page_clear(kept, parts->order_count, parts->order_count);
    return mc_page_append_cells(kept, cells, page->arena);
}

static void take_over_position(mc_cursor *cursor)
{
    mc_row_page *const first = cursor->first, *const last = cursor->last;
    cursor->first = cursor->next_first;
    cursor->last = cursor->next_last;
    cursor->next_first = first;
    cursor->next_last = last;
    cursor->place = ON_PAGE;
}

/// Moves the cursor to the page.
static mc_status stand_on(mc_cursor *cursor, const mc_row_page *page, bool backwards, mc_error *error)
{
    if (page->row_count == 0) {
        cursor->place = backwards ? AT_START : AT_END;
        return MC_OK;
    }
    if (!keep_order_values(&cursor->parts, page, 0, cursor->next_first)
        || !keep_order_values(&cursor->parts, page, page->row_count - 1, cursor->next_last))
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the place of a cursor");
    take_over_position(cursor);
    return MC_OK;
}

/// Finds the beginning of the next ranges; false if no rows are left in this direction.
static bool begin_run(mc_cursor *cursor, mc_connection *connection, bool backwards, page_run *run)
{
    *run = (page_run){.cursor = cursor, .connection = connection, .backwards = backwards};
    if (cursor->place == ON_PAGE)
        run->row = backwards ? cursor->first : cursor->last;
    return cursor->place != (backwards ? AT_START : AT_END);
}

static mc_status read_page(mc_cursor *cursor, mc_connection *connection, bool backwards, mc_page_fill *fill, bool *at_end, mc_error *error)
{
    mc_range ranges[MC_CURSOR_RANGES_MAXIMUM];
    page_run run;
    mc_error failure;
    mc_status status = MC_OK;
    *at_end = true;
    if (!begin_run(cursor, connection, backwards, &run))
        return MC_OK;
    const size_t count = mc_cursor_ranges(&cursor->parts, run.row, backwards, ranges);
    for (size_t i = 0; i < count && status == MC_OK && *at_end; i++)
        status = fill_range(&run, &ranges[i], fill, at_end, &failure);
    // A full page is followed by a step to one more row, to find the end: an error of that step belongs to the next page.
    if (status != MC_OK && mc_page_is_full(fill->page, fill->max_rows, fill->max_bytes)) {
        *at_end = false;
        status = MC_OK;
    }
    if (status != MC_OK && error != NULL)
        *error = failure;
    return status;
}

static mc_status go(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes, bool backwards,
                    bool *at_end, mc_error *error)
{
    mc_page_fill fill = {.page = page, .max_rows = max_rows, .max_bytes = max_bytes};
    mc_page_clear(page, cursor->parts.column_count, cursor->parts.stride);
    *at_end = true;
    if (max_rows == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "a page of 0 rows: use 1 or more");
    mc_status status = read_page(cursor, connection, backwards, &fill, at_end, error);
    if (status == MC_OK && backwards)
        mc_page_reverse(page);
    if (status == MC_OK)
        status = stand_on(cursor, page, backwards, error);
    if (status != MC_OK) {
        mc_page_clear(page, 0, 0);
        *at_end = true;
    }
    return status;
}

mc_status mc_cursor_next(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes, bool *at_end,
                         mc_error *error)
{
    return go(cursor, connection, page, max_rows, max_bytes, false, at_end, error);
}

mc_status mc_cursor_previous(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes,
                             bool *at_end, mc_error *error)
{
    return go(cursor, connection, page, max_rows, max_bytes, true, at_end, error);
}

/// Steps over at most `count` rows of one range. After `count` rows, the cursor is positioned on the last one.
static mc_status skip_range(const page_run *run, const mc_range *range, int64_t count, int64_t *skipped, mc_error *error)
{
    mc_cursor *const cursor = run->cursor;
    mc_statement *statement = NULL;
    bool has_row = true;
    const char *sql = NULL;
    size_t length = 0;
    mc_status status = text_of(run, range, MC_SELECT_ORDER, &sql, &length, error);
    if (status == MC_OK)
        status = mc_statement_prepare(run->connection, sql, length, &statement, error);
    if (status == MC_OK)
        status = bind(cursor, run->row, statement, false, error);
    if (status == MC_OK)
        status = bind_limit(statement, count - *skipped, error);
    while (status == MC_OK && has_row && *skipped < count) {
        status = mc_statement_step(statement, &has_row, error);
        *skipped += status == MC_OK && has_row;
    }
    if (status == MC_OK && *skipped == count) {
        mc_page_clear(cursor->next_first, cursor->parts.order_count, cursor->parts.order_count);
        mc_page_clear(cursor->next_last, cursor->parts.order_count, cursor->parts.order_count);
        if (mc_page_append_row(cursor->next_first, mc_statement_sqlite(statement))
            && mc_page_append_row(cursor->next_last, mc_statement_sqlite(statement)))
            take_over_position(cursor);
        else
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the place of a cursor");
    }
    mc_statement_return(statement);
    return status;
}

mc_status mc_cursor_skip(mc_cursor *cursor, mc_connection *connection, int64_t count, int64_t *skipped, mc_error *error)
{
    mc_range ranges[MC_CURSOR_RANGES_MAXIMUM];
    page_run run;
    *skipped = 0;
    if (count <= 0 || !begin_run(cursor, connection, false, &run))
        return MC_OK;
    const size_t range_count = mc_cursor_ranges(&cursor->parts, run.row, false, ranges);
    for (size_t i = 0; i < range_count && *skipped < count; i++) {
        const mc_status status = skip_range(&run, &ranges[i], count, skipped, error);
        if (status != MC_OK)
            return status;
    }
    if (*skipped < count)
        cursor->place = AT_END;
    return MC_OK;
}

void mc_cursor_rewind(mc_cursor *cursor, bool to_end)
{
    cursor->place = to_end ? AT_END : AT_START;
}

mc_status mc_cursor_seek(mc_cursor *cursor, const mc_value *values, size_t count, mc_error *error)
{
    if (count != cursor->parts.order_count)
        return mc_fail(error, MC_ERROR_MISUSE, "cursor: %zu values for an order of %zu terms", count, cursor->parts.order_count);
    if (!keep_values(cursor->next_first, values, count) || !keep_values(cursor->next_last, values, count))
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the place of a cursor");
    take_over_position(cursor);
    return MC_OK;
}

bool mc_cursor_position(const mc_cursor *cursor, bool last, size_t term, mc_value *value)
{
    if (cursor->place != ON_PAGE || term >= cursor->parts.order_count)
        return false;
    const mc_row_page *const row = last ? cursor->last : cursor->first;
    const mc_cell *const cell = mc_row_page_cell(row, 0, term);
    *value = (mc_value){.kind = MC_VALUE_NULL};
    switch ((mc_type)cell->type) {
    case MC_TYPE_INTEGER: *value = (mc_value){.kind = MC_VALUE_INTEGER, .value.integer = cell->value.integer}; break;
    case MC_TYPE_REAL: *value = (mc_value){.kind = MC_VALUE_REAL, .value.real = cell->value.real}; break;
    case MC_TYPE_TEXT:
    case MC_TYPE_BLOB:
        *value = (mc_value){.kind = cell->type == MC_TYPE_TEXT ? MC_VALUE_TEXT : MC_VALUE_BLOB,
                            .length = cell->length,
                            .value.bytes = (const char *)mc_row_page_bytes(row, cell)};
        break;
    case MC_TYPE_NULL: break;
    }
    return true;
}
