/// mc_cursor_sql.c: makes the SELECTs of a cursor.
#include "pages/mc_cursor_sql.h"

#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "pages/mc_page_fill.h"

static bool copy_order(mc_cursor_parts *parts, const mc_cursor_query *query)
{
    parts->order = mc_allocate_zeroed(query->order_count, sizeof *parts->order);
    for (size_t term = 0; parts->order != NULL && term < query->order_count; term++) {
        parts->order[term] = query->order[term];
        parts->order[term].expression = mc_copy_text(query->order[term].expression);
        parts->order_count++;
        if (parts->order[term].expression == NULL)
            return false;
    }
    return parts->order != NULL;
}

static size_t column_of(const mc_cursor_parts *parts, const char *expression)
{
    for (size_t column = 0; column < parts->stride; column++) {
        if (strcmp(parts->columns[column], expression) == 0)
            return column;
    }
    return parts->stride;
}

static bool copy_columns(mc_cursor_parts *parts, const mc_cursor_query *query)
{
    parts->columns = mc_allocate_zeroed(query->column_count + query->order_count, sizeof *parts->columns);
    if (parts->columns == NULL)
        return false;
    for (; parts->stride < query->column_count; parts->stride++) {
        parts->columns[parts->stride] = mc_copy_text(query->columns[parts->stride]);
        if (parts->columns[parts->stride] == NULL)
            return false;
    }
    parts->column_count = parts->stride;
    for (size_t term = 0; term < query->order_count; term++) {
        const char *const expression = query->order[term].expression;
        const size_t column = parts->term_columns[term] = column_of(parts, expression);
        if (column < parts->stride)
            continue;
        parts->columns[column] = mc_copy_text(expression);
        if (parts->columns[column] == NULL)
            return false;
        parts->stride++;
    }
    return true;
}

mc_status mc_cursor_parts_copy(mc_cursor_parts *parts, const mc_cursor_query *query, mc_error *error)
{
    *parts = (mc_cursor_parts){0};
    if (query->column_count < 1 || query->column_count > MC_CURSOR_COLUMNS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "cursor: %zu columns; use 1 to %d", query->column_count, MC_CURSOR_COLUMNS_MAXIMUM);
    if (query->order_count < 1 || query->order_count > MC_CURSOR_TERMS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "cursor: an order of %zu terms; use 1 to %d, the last one a key", query->order_count,
                       MC_CURSOR_TERMS_MAXIMUM);
    parts->source = mc_copy_text(query->source);
    parts->condition = query->condition != NULL ? mc_copy_text(query->condition) : NULL;
    if (parts->source == NULL || (query->condition != NULL && parts->condition == NULL) || !copy_order(parts, query)
        || !copy_columns(parts, query))
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a cursor");
    return MC_OK;
}

void mc_cursor_parts_free(mc_cursor_parts *parts)
{
    for (size_t column = 0; parts->columns != NULL && column < parts->stride; column++)
        mc_free(parts->columns[column]);
    for (size_t term = 0; term < parts->order_count; term++)
        mc_free((char *)(uintptr_t)parts->order[term].expression);
    mc_free(parts->columns);
    mc_free(parts->order);
    mc_free(parts->source);
    mc_free(parts->condition);
}

/// Whether the term descends in the direction of reading.
static bool descends(const mc_order_term *term, bool backwards)
{
    return term->descending != backwards;
}

/// Whether NULL comes first in the direction of reading.
static bool nulls_come_first(const mc_order_term *term, bool backwards)
{
    const bool first = term->nulls == MC_NULLS_AS_SQLITE ? !term->descending : term->nulls == MC_NULLS_FIRST;
    return first != backwards;
}

size_t mc_cursor_ranges(const mc_cursor_parts *parts, const mc_row_page *row, bool backwards, mc_range *ranges)
{
    if (row == NULL) {
        ranges[0] = (mc_range){.kind = MC_RANGE_ALL};
        return 1;
    }
    size_t count = 0;
    for (size_t term = parts->order_count; term-- > 0;) {
        const bool is_null = mc_row_page_cell(row, 0, term)->type == MC_TYPE_NULL;
        const bool nulls_first = nulls_come_first(&parts->order[term], backwards), is_key = term + 1 == parts->order_count;
        if (!is_null)
            ranges[count++] = (mc_range){.kind = MC_RANGE_BEYOND, .term = term};
        else if (nulls_first)
            ranges[count++] = (mc_range){.kind = MC_RANGE_NOT_NULL, .term = term};
        if (!is_null && !nulls_first && !is_key)
            ranges[count++] = (mc_range){.kind = MC_RANGE_NULL, .term = term};
    }
    return count;
}

static void append_columns(sqlite3_str *sql, const mc_cursor_parts *parts)
{
    for (size_t column = 0; column < parts->stride; column++)
        sqlite3_str_appendf(sql, "%s%s", column > 0 ? ", " : "", parts->columns[column]);
}

static void append_order_values(sqlite3_str *sql, const mc_cursor_parts *parts)
{
    for (size_t term = 0; term < parts->order_count; term++)
        sqlite3_str_appendf(sql, "%s%s", term > 0 ? ", " : "", parts->order[term].expression);
}

static void append_position(sqlite3_str *sql, const mc_cursor_parts *parts, const mc_range *range, bool backwards)
{
    if (range->kind == MC_RANGE_ALL)
        return;
    for (size_t term = 0; term < range->term; term++)
        sqlite3_str_appendf(sql, " AND (%s) IS @mc_%d", parts->order[term].expression, (int)term + 1);
    const mc_order_term *const term = &parts->order[range->term];
    sqlite3_str_appendf(sql, " AND (%s)", term->expression);
    if (range->kind == MC_RANGE_BEYOND)
        sqlite3_str_appendf(sql, " %s @mc_%d", descends(term, backwards) ? "<" : ">", (int)range->term + 1);
    else
        sqlite3_str_appendall(sql, range->kind == MC_RANGE_NULL ? " IS NULL" : " IS NOT NULL");
}

static void append_order(sqlite3_str *sql, const mc_cursor_parts *parts, const mc_range *range, bool backwards)
{
    const char *before = " ORDER BY ";
    // Terms that are equal in the whole range need no order, and would prevent SQLite from using an index for the rest.
    size_t term = range->kind == MC_RANGE_ALL ? 0 : range->kind == MC_RANGE_NULL ? range->term + 1 : range->term;
    const size_t without_nulls = range->kind == MC_RANGE_ALL ? parts->order_count : range->term;
    for (; term < parts->order_count; term++, before = ", ") {
        const mc_order_term *const by = &parts->order[term];
        const bool down = descends(by, backwards), nulls_first = nulls_come_first(by, backwards);
        sqlite3_str_appendf(sql, "%s(%s)%s", before, by->expression, down ? " DESC" : "");
        if (nulls_first == down && term != without_nulls && term + 1 < parts->order_count)
            sqlite3_str_appendall(sql, nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

char *mc_cursor_select(const mc_cursor_parts *parts, const mc_range *range, bool backwards, mc_select_use use)
{
    sqlite3_str *const sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "SELECT ");
    if (use == MC_SELECT_ORDER)
        append_order_values(sql, parts);
    else
        append_columns(sql, parts);
    sqlite3_str_appendf(sql, " FROM %s WHERE (%s)", parts->source, parts->condition != NULL ? parts->condition : "true");
    append_position(sql, parts, range, backwards);
    if (use == MC_SELECT_FILLING) {
        // After all other conditions.
        sqlite3_str_appendall(sql, " AND " MC_PAGE_FUNCTION "(");
        append_columns(sql, parts);
        sqlite3_str_appendall(sql, ")");
    }
    append_order(sql, parts, range, backwards);
    if (use != MC_SELECT_FILLING)
        sqlite3_str_appendall(sql, " LIMIT @mc_rows");
    return sqlite3_str_finish(sql);
}
