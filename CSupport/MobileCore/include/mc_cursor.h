/// mc_cursor.h: pages through the rows of a query by key, forwards and backwards.
///
/// A cursor remembers the values that the rows are ordered by, of the first and of the last row of its page, and nothing else: it holds
/// no connection, no statement and no snapshot between pages. Any page costs what the first one does if an index has the order. Rows
/// that come or go between two pages shift nothing: the next page begins behind the last row seen, also if that row is gone.
///
///     columns    c.id, c.name                     order    c.name COLLATE NOCASE DESC
///     source     customer c                                c.id
///     condition  c.city = ?1
///
/// SQL is made from these parts. Behind a row, one SELECT is run for each term of the order, the last one first: `name IS v1 AND id > v2`,
/// then `name < v1`; so that each is one range of an index. Where SQLite's program allows it, the statement copies its rows into the page
/// by itself, which takes two thirds of the time of stepping through them (pages/mc_page_plan.c).
///
/// Order of calls: create; values; then any of next, previous, skip, seek, rewind; free. Each page may be read on another connection.
/// Threads:        one at a time.
/// Memory:         the query's text, its values, two rows of order values; some KB.
#ifndef MC_CURSOR_H
#define MC_CURSOR_H

#include "mc_row_page.h"
#include "mc_value.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Where NULL stands in the order.
typedef enum mc_nulls {
    MC_NULLS_AS_SQLITE = 0,  ///< as the smallest value: first when ascending, last when descending
    MC_NULLS_FIRST = 1,
    MC_NULLS_LAST = 2
} mc_nulls;

/// One term of an order.
typedef struct mc_order_term {
    const char *expression;  ///< SQL, with a COLLATE if it is not the column's own
    bool descending;
    mc_nulls nulls;
} mc_order_term;

/// A SELECT in parts. All of it is SQL and is not checked before it is run: never make it from what users write.
/// Parameters are numbered (?1, ?2), because parts are used more than once; names that begin with "mc_" are the cursor's.
typedef struct mc_cursor_query {
    const char *const MC_NONNULL *MC_NONNULL columns;  ///< expressions
    size_t column_count;                               ///< 1 to 2000; up to 127, those of the order included, are read fastest
    const char *source;                                ///< what stands behind FROM
    const char *MC_NULLABLE condition;                 ///< what stands behind WHERE; NULL: all rows
    const mc_order_term *order;  ///< together they tell any two rows apart, and the last one, mostly the key, is never NULL
    size_t order_count;          ///< 1 to 16
} mc_cursor_query;

typedef struct mc_cursor mc_cursor;

/// Makes a cursor before the first row. The query is copied. On success `*out` goes to `mc_cursor_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (no columns, no order, too many of either), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_cursor_create(const mc_cursor_query *query, mc_cursor *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// NULL is allowed.
void mc_cursor_free(mc_cursor *MC_NULLABLE cursor);

/// Sets the values of the parameters ?1, ?2 and so on, in place of all earlier ones; text and bytes are copied.
/// Fails with MC_ERROR_NO_MEMORY: there are no values then.
MC_MUST_USE mc_status mc_cursor_set_values(mc_cursor *cursor, const mc_value *MC_NULLABLE values, size_t count,
                                           mc_error *MC_NULLABLE error);

/// Fills the page with the rows behind the cursor's page, up to `max_rows` (at least 1) or until it holds `max_bytes`, and makes it the
/// cursor's page. `*at_end` tells whether there is no row behind it. An empty page is the end: the cursor then stands behind the last
/// row. On failure the page is empty, and the cursor is where it was.
/// Fails with MC_ERROR_MISUSE (a page of no rows, no such parameter), MC_ERROR_SQLITE (SQLite's reason, such as a wrong column), and as
/// `mc_statement_step` does.
MC_MUST_USE mc_status mc_cursor_next(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes,
                                     bool *at_end, mc_error *MC_NULLABLE error);

/// The same for the rows before the cursor's page, in the query's order; `*at_end` tells whether there is no row before them. An empty
/// page is the beginning: the cursor then stands before the first row.
MC_MUST_USE mc_status mc_cursor_previous(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes,
                                         bool *at_end, mc_error *MC_NULLABLE error);

/// Goes over the next `count` rows, at a cost that grows with `count`. `*skipped` is their number, less than `count` only at the end.
/// Fails as `mc_cursor_next` does.
MC_MUST_USE mc_status mc_cursor_skip(mc_cursor *cursor, mc_connection *connection, int64_t count, int64_t *skipped,
                                     mc_error *MC_NULLABLE error);

/// Goes before the first row, or behind the last one.
void mc_cursor_rewind(mc_cursor *cursor, bool to_end);

/// Goes to where a row with these values of the order's terms is or would be: the next page is behind it, the previous one before it.
/// Fails with MC_ERROR_MISUSE (another number of values than terms), MC_ERROR_NO_MEMORY: the cursor is where it was.
MC_MUST_USE mc_status mc_cursor_seek(mc_cursor *cursor, const mc_value *values, size_t count, mc_error *MC_NULLABLE error);

/// The value of the order's term `term` in the last row (`last`) or the first one of the cursor's page, for `mc_cursor_seek` at another
/// time. False where the cursor has no page, and for a term that does not exist. Valid until the cursor is used again.
bool mc_cursor_position(const mc_cursor *cursor, bool last, size_t term, mc_value *value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
