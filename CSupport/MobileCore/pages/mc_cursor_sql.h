/// mc_cursor_sql.h: the SELECTs of a cursor, made from its query's parts. Internal to the pages.
#ifndef MC_CURSOR_SQL_H
#define MC_CURSOR_SQL_H

#include "mc_cursor.h"

enum { MC_CURSOR_TERMS_MAXIMUM = 16, MC_CURSOR_COLUMNS_MAXIMUM = 2000 };

/// The rows of a SELECT. `term` is a term of the order. Except for MC_RANGE_ALL, the terms before it are equal to those of the row
/// after which the page begins, so only it and the later terms still have an order.
typedef enum mc_range_kind {
    MC_RANGE_ALL,       ///< all rows
    MC_RANGE_BEYOND,    ///< the term is beyond its value
    MC_RANGE_NULL,      ///< the term is NULL, which is ordered after all values
    MC_RANGE_NOT_NULL,  ///< the term is not NULL; the row's NULL is ordered before all values
    MC_RANGE_KINDS
} mc_range_kind;

typedef struct mc_range {
    mc_range_kind kind;
    size_t term;
} mc_range;

/// The cursor's copy of a query, with the order's terms among the columns.
typedef struct mc_cursor_parts {
    char **columns;  ///< the columns of the query, then the terms of the order that are not among them
    size_t column_count, stride;
    char *source, *condition;
    mc_order_term *order;  ///< expressions owned
    size_t order_count;
    size_t term_columns[MC_CURSOR_TERMS_MAXIMUM];  ///< the columns with the terms' values
} mc_cursor_parts;

/// Copies a query. On failure the parts are for `mc_cursor_parts_free` as well. Fails as `mc_cursor_create` does.
mc_status mc_cursor_parts_copy(mc_cursor_parts *parts, const mc_cursor_query *query, mc_error *error);
void mc_cursor_parts_free(mc_cursor_parts *parts);

/// The maximum number of ranges of `mc_cursor_ranges`.
enum { MC_CURSOR_RANGES_MAXIMUM = 2 * MC_CURSOR_TERMS_MAXIMUM };

/// The ranges that together are all rows after `row`, whose cells are the order's values (NULL: all rows of the query), in the order
/// of their rows; `backwards`: before it, the nearest first. Returns their number.
size_t mc_cursor_ranges(const mc_cursor_parts *parts, const mc_row_page *row, bool backwards, mc_range *ranges);

/// The purpose of a SELECT.
typedef enum mc_select_use {
    MC_SELECT_FILLING,  ///< it fills the page by itself
    MC_SELECT_PLAIN,    ///< it is stepped; "@mc_rows" limits it
    MC_SELECT_ORDER     ///< it returns only the order's values; "@mc_rows" limits it
} mc_select_use;

/// The SQL text; values of terms are the parameters "@mc_1" and so on. Freed by sqlite3_free; NULL without memory.
char *mc_cursor_select(const mc_cursor_parts *parts, const mc_range *range, bool backwards, mc_select_use use);

#endif
