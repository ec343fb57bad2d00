/// mc_cursor.h: pages through the rows of a query by key, forwards and backwards.
///
/// Between pages a cursor remembers only the values that its rows are ordered by, those of the first and of the last row of its page. It
/// holds no connection, no statement and no snapshot. Any page costs the same as the first one if an index has the order. Rows that are
/// inserted or deleted between two pages shift nothing: the next page begins after the last row read, even if that row is gone.
///
///     columns    c.id, c.name                     order    c.name COLLATE NOCASE DESC
///     source     customer c                                c.id
///     condition  c.city = ?1
///
/// SQL is made from these parts. After a row, one SELECT is run for each term of the order, the last one first: `name IS v1 AND id > v2`,
/// then `name < v1`; so each SELECT is one range of an index. Where SQLite's program allows it, the statement copies its rows into the page
/// by itself, which takes two thirds of the time of stepping through them.
///
/// Order of calls: create; set values; then any of next, previous, skip, seek, rewind; free. Each page may be read on another connection.
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

/// The position of NULL in the order.
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

/// A SELECT in parts. All parts are SQL and are not checked before they are run: never build them from a user's input.
/// Parameters are numbered (?1, ?2), because parts are used more than once; names that begin with "mc_" are reserved for the cursor.
typedef struct mc_cursor_query {
    const char *const MC_NONNULL *MC_NONNULL columns;  ///< expressions
    size_t column_count;                               ///< 1 to 2000; up to 127, those of the order included, are read fastest
    const char *source;                                ///< the text after FROM
    const char *MC_NULLABLE condition;                 ///< the text after WHERE; NULL: all rows
    const mc_order_term *order;  ///< together they distinguish any two rows; the last one, usually the key, is never NULL
    size_t order_count;          ///< 1 to 16
} mc_cursor_query;

typedef struct mc_cursor mc_cursor;

/// Makes a cursor that is before the first row. The query is copied. On success `*out` goes to `mc_cursor_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (no columns, no order, too many of either), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_cursor_create(const mc_cursor_query *query, mc_cursor *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Frees a cursor; NULL is allowed.
void mc_cursor_free(mc_cursor *MC_NULLABLE cursor);

/// Sets the values of the parameters ?1, ?2 and so on, replacing all earlier ones; text and bytes are copied.
/// Fails with MC_ERROR_NO_MEMORY: the cursor then has no values.
MC_MUST_USE mc_status mc_cursor_set_values(mc_cursor *cursor, const mc_value *MC_NULLABLE values, size_t count,
                                           mc_error *MC_NULLABLE error);

/// Fills the page with the rows after the cursor's page, up to `max_rows` (at least 1) or until it holds `max_bytes`, and makes it the
/// cursor's page. `*at_end` is true if no row follows it. An empty page is the end: the cursor is then after the last row. On failure the
/// page is empty, and the cursor has not moved.
/// Fails with MC_ERROR_MISUSE (a page of no rows, no such parameter), MC_ERROR_SQLITE (SQLite's reason, such as a wrong column), and as
/// `mc_statement_step` does.
MC_MUST_USE mc_status mc_cursor_next(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes,
                                     bool *at_end, mc_error *MC_NULLABLE error);

/// The same for the rows before the cursor's page, in the query's order; `*at_end` is true if no row precedes them. An empty page is the
/// beginning: the cursor is then before the first row.
MC_MUST_USE mc_status mc_cursor_previous(mc_cursor *cursor, mc_connection *connection, mc_row_page *page, size_t max_rows, size_t max_bytes,
                                         bool *at_end, mc_error *MC_NULLABLE error);

/// Skips the next `count` rows, at a cost that grows with `count`. `*skipped` is their number, less than `count` only at the end.
/// Fails as `mc_cursor_next` does.
MC_MUST_USE mc_status mc_cursor_skip(mc_cursor *cursor, mc_connection *connection, int64_t count, int64_t *skipped,
                                     mc_error *MC_NULLABLE error);

/// Moves before the first row, or after the last one.
void mc_cursor_rewind(mc_cursor *cursor, bool to_end);

/// Moves to the position of a row with these values of the order's terms, whether it exists or not: the next page is after it, the
/// previous one before it. Fails with MC_ERROR_MISUSE (the number of values is not that of the terms), MC_ERROR_NO_MEMORY: the cursor
/// has not moved.
MC_MUST_USE mc_status mc_cursor_seek(mc_cursor *cursor, const mc_value *values, size_t count, mc_error *MC_NULLABLE error);

/// Reads the value of the order's term `term` in the last row (`last`) or the first row of the cursor's page, for a later
/// `mc_cursor_seek`. Returns false if the cursor has no page or the term does not exist. Valid until the cursor is used again.
bool mc_cursor_position(const mc_cursor *cursor, bool last, size_t term, mc_value *value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
