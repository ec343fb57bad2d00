/// mc_page_select.c: pages from a SELECT in its two forms: one that fills pages by itself, and one that is stepped.
#include "mc_page_select.h"

#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "pages/mc_cursor_sql.h"
#include "pages/mc_page_fill.h"
#include "pages/mc_page_memory.h"

struct mc_page_select {
    char *filling, *plain;
    size_t filling_length, plain_length;
    uint64_t filling_hash, plain_hash;  ///< for the statement caches: hashing is a measurable part of a look-up of one row
    size_t column_count, stride;
};

static mc_status put_into_words(mc_page_select *select, const mc_cursor_parts *parts, mc_error *error)
{
    const mc_range all = {.kind = MC_RANGE_ALL};
    select->column_count = parts->column_count;
    select->stride = parts->stride;
    select->filling = mc_cursor_select(parts, &all, false, MC_SELECT_FILLING);
    select->plain = mc_cursor_select(parts, &all, false, MC_SELECT_PLAIN);
    if (select->filling == NULL || select->plain == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the SQL of a page");
    select->filling_length = strlen(select->filling);
    select->plain_length = strlen(select->plain);
    select->filling_hash = mc_statement_hash(select->filling, select->filling_length);
    select->plain_hash = mc_statement_hash(select->plain, select->plain_length);
    return MC_OK;
}

mc_status mc_page_select_create(const mc_cursor_query *query, mc_page_select **out, mc_error *error)
{
    mc_cursor_parts parts;
    *out = NULL;
    mc_page_select *select = mc_allocate_zeroed(1, sizeof *select);
    if (select == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the SQL of a page");
    mc_status status = mc_cursor_parts_copy(&parts, query, error);
    if (status == MC_OK)
        status = put_into_words(select, &parts, error);
    mc_cursor_parts_free(&parts);
    if (status == MC_OK) {
        *out = select;
        select = NULL;
    }
    mc_page_select_free(select);
    return status;
}

void mc_page_select_free(mc_page_select *select)
{
    if (select == NULL)
        return;
    sqlite3_free(select->filling);
    sqlite3_free(select->plain);
    mc_free(select);
}

/// The values of the query's parameters, and the number of further parameters, which follow them.
typedef struct values {
    const mc_value *values;
    size_t count;
    int others;
} values;

static mc_status bind_value(mc_statement *statement, int index, const mc_value *value, mc_error *error)
{
    switch ((mc_value_kind)value->kind) {
    case MC_VALUE_INTEGER: return mc_statement_bind_integer(statement, index, value->value.integer, error);
    case MC_VALUE_REAL: return mc_statement_bind_real(statement, index, value->value.real, error);
    case MC_VALUE_TEXT: return mc_statement_bind_text(statement, index, value->value.bytes, value->length, error);
    case MC_VALUE_BLOB: return mc_statement_bind_blob(statement, index, value->value.bytes, value->length, error);
    default: return mc_statement_bind_null(statement, index, error);
    }
}

static mc_status bind_values(const void *context, mc_statement *statement, mc_error *error)
{
    const values *const bound = context;
    const int parameters = mc_statement_parameter_count(statement) - bound->others;
    mc_status status = MC_OK;
    if (bound->count > (size_t)parameters)
        return mc_fail(error, MC_ERROR_MISUSE, "page: there is a value %d, but no parameter for it", parameters + 1);
    for (size_t i = 0; i < bound->count && status == MC_OK; i++)
        status = bind_value(statement, (int)i + 1, &bound->values[i], error);
    return status;
}

static mc_status fill_page(const mc_page_select *select, mc_connection *connection, values *bound, mc_page_fill *fill, bool *at_end,
                           mc_error *error)
{
    mc_page_source source = {.connection = connection,
                             .sql = select->filling,
                             .length = select->filling_length,
                             .hash = select->filling_hash,
                             .bind = bind_values,
                             .context = bound};
    bool done = false;
    if (select->stride <= MC_PAGE_FUNCTION_COLUMNS) {
        const mc_status status = mc_page_fill_by_statement(&source, fill, at_end, &done, error);
        if (status != MC_OK || done)
            return status;
    }
    source.sql = select->plain;
    source.length = select->plain_length;
    source.hash = select->plain_hash;
    bound->others = 1;  // "@mc_rows"
    return mc_page_fill_by_steps(&source, fill, at_end, error);
}

mc_status mc_page_select_fill(const mc_page_select *select, mc_connection *connection, const mc_value *given, size_t count,
                              mc_row_page *page, size_t max_rows, size_t max_bytes, bool *at_end, mc_error *error)
{
    mc_page_fill fill = {.page = page, .max_rows = max_rows, .max_bytes = max_bytes};
    values bound = {.values = given, .count = count};
    mc_error failure;
    mc_page_clear(page, select->column_count, select->stride);
    *at_end = true;
    if (max_rows == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "a page of 0 rows: use 1 or more");
    const mc_status status = fill_page(select, connection, &bound, &fill, at_end, &failure);
    if (status == MC_OK)
        return MC_OK;
    // A full page is followed by a search for one more row, to find the end: an error there belongs to the request for that row.
    if (mc_page_is_full(page, max_rows, max_bytes)) {
        *at_end = false;
        return MC_OK;
    }
    mc_page_clear(page, 0, 0);
    *at_end = true;
    if (error != NULL)
        *error = failure;
    return status;
}
