/// mc_page_fill.c: fills pages with the rows of statements.
#include "pages/mc_page_fill.h"

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "pages/mc_page_memory.h"

/// The data of one connection's function. SQLite frees it with the function, when the connection is closed.
typedef struct page_function {
    const mc_page_fill *fill;  ///< the page that the running statement fills by itself; NULL: none
} page_function;

/// The condition that fills the page. It sets no result, which is NULL, for a row that was copied.
static void fill_page(sqlite3_context *context, int count, sqlite3_value **values)
{
    const mc_page_fill *const fill = ((const page_function *)sqlite3_user_data(context))->fill;
    if (fill == NULL || (size_t)count != fill->page->stride || mc_page_is_full(fill->page, fill->max_rows, fill->max_bytes))
        sqlite3_result_int(context, 1);
    else if (!mc_page_append(fill->page, values))
        sqlite3_result_error_nomem(context);
}

/// Registers the function with a connection.
static mc_status register_function(mc_connection *connection, void **state, mc_error *error)
{
    page_function *const function = mc_allocate_zeroed(1, sizeof *function);
    if (function == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a connection");
    // Not deterministic, so that SQLite calls it for every row. Not for triggers and views, which may come from an untrusted file.
    const int code = sqlite3_create_function_v2(connection->db, MC_PAGE_FUNCTION, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, function, fill_page,
                                                NULL, NULL, mc_free);  // also called if the registration fails
    if (code != SQLITE_OK)
        return mc_fail_sqlite(error, connection->db, code, "register " MC_PAGE_FUNCTION);
    *state = function;
    return MC_OK;
}

const mc_pool_hooks mc_page_hooks = {.connection_opened = register_function};

/// Steps once, which may fill the page. SQLite prepares a statement again inside of its first step if the schema has changed, or if
/// the plan depends on values: the rows in the page are then the result of an unchecked plan.
static mc_status step(mc_page_fill *fill, mc_statement *statement, bool *has_row, mc_error *error)
{
    mc_row_page *const page = fill->page;
    if (!fill->by_statement)
        return mc_statement_step(statement, has_row, error);
    const size_t row_count = page->row_count, arena_length = page->arena_length;
    page_function *const function = mc_connection_hook_state(statement->connection, &mc_page_hooks);
    function->fill = fill;
    const mc_status status = mc_statement_step(statement, has_row, error);
    function->fill = NULL;
    if (mc_page_plan_number(statement) > 0) {
        fill->plan_changed = true;
        page->row_count = row_count;
        page->arena_length = arena_length;
        mc_statement_reset(statement);
        *has_row = false;
    }
    return status;
}

/// Appends the statement's next rows to the page, up to the limits. `*at_end` reports whether it has no row left; it is then reset,
/// otherwise it is on the next row. On failure the page keeps its earlier rows, and may have some of the new ones.
static mc_status fill_rows(mc_page_fill *fill, mc_statement *statement, bool *at_end, mc_error *error)
{
    mc_row_page *const page = fill->page;
    mc_status status = MC_OK;
    // A statement with rows left is on the first of them.
    bool has_row = mc_statement_is_on_row(statement);
    *at_end = false;
    if (!has_row)
        status = step(fill, statement, &has_row, error);
    // SQLite prepares the statement again in its first step if the schema has changed.
    const size_t columns = (size_t)sqlite3_column_count(statement->handle);
    if (fill->takes_columns && columns != page->column_count)
        mc_page_clear(page, columns, columns);
    while (status == MC_OK && has_row && !mc_page_is_full(page, fill->max_rows, fill->max_bytes)) {
        if (!mc_page_append_row(page, statement->handle))
            status = mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for row %zu of a page", page->row_count + 1);
        else
            status = step(fill, statement, &has_row, error);
    }
    *at_end = status == MC_OK && !has_row;
    return status;
}

static mc_status prepare(const mc_page_source *source, mc_statement **statement, mc_error *error)
{
    if (source->hash != 0) {
        *statement = mc_statement_cache_take(source->connection, source->sql, source->length, source->hash);
        if (*statement != NULL)
            return MC_OK;
    }
    return mc_statement_prepare(source->connection, source->sql, source->length, statement, error);
}

mc_status mc_page_fill_by_statement(const mc_page_source *source, mc_page_fill *fill, bool *at_end, bool *done, mc_error *error)
{
    mc_status status = MC_OK;
    *done = false;
    // Two attempts: if another connection has changed the schema meanwhile, SQLite notices it in the first step.
    for (int attempt = 0; attempt < 2 && status == MC_OK && !*done; attempt++) {
        mc_statement *statement = NULL;
        // A text that SQLite refuses may be valid without the filling condition. If it is not, the plain statement reports the error.
        if (prepare(source, &statement, NULL) != MC_OK || !mc_page_plan_check(statement)) {
            mc_statement_return(statement);
            return MC_OK;
        }
        status = source->bind(source->context, statement, error);
        if (status == MC_OK) {
            fill->by_statement = true;
            fill->plan_changed = false;
            status = fill_rows(fill, statement, at_end, error);
            *done = !fill->plan_changed;
        }
        mc_statement_return(statement);
    }
    return status;
}

mc_status mc_page_fill_by_steps(const mc_page_source *source, mc_page_fill *fill, bool *at_end, mc_error *error)
{
    mc_statement *statement = NULL;
    const size_t left = fill->max_rows - fill->page->row_count;
    mc_status status = prepare(source, &statement, error);
    if (status == MC_OK)
        status = source->bind(source->context, statement, error);
    if (status == MC_OK) {
        // One more row, to find the end.
        const int index = sqlite3_bind_parameter_index(statement->handle, "@mc_rows");
        status = mc_statement_bind_integer(statement, index, left < INT64_MAX ? (int64_t)left + 1 : INT64_MAX, error);
    }
    if (status == MC_OK) {
        fill->by_statement = false;
        status = fill_rows(fill, statement, at_end, error);
    }
    mc_statement_return(statement);
    return status;
}

mc_status mc_row_page_fill(mc_row_page *page, mc_statement *statement, size_t max_rows, size_t max_bytes, bool *at_end, mc_error *error)
{
    const size_t columns = (size_t)sqlite3_column_count(statement->handle);
    mc_page_fill fill = {.page = page, .max_rows = max_rows, .max_bytes = max_bytes, .takes_columns = true};
    mc_error failure;
    mc_page_clear(page, columns, columns);
    *at_end = true;
    if (max_rows == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "a page of 0 rows: use 1 or more");
    const mc_status status = fill_rows(&fill, statement, at_end, &failure);
    if (status == MC_OK)
        return MC_OK;
    // A full page is followed by a step to one more row, to find the end: an error of that step belongs to the next page.
    if (mc_page_is_full(page, max_rows, max_bytes) && mc_statement_defer(statement, &failure))
        return MC_OK;
    mc_page_clear(page, 0, 0);
    mc_statement_reset(statement);
    *at_end = true;
    if (error != NULL)
        *error = failure;
    return status;
}
