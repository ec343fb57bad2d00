/// mc_page_select.h: the first rows of a query as a page, by a SELECT whose text is made once.
///
/// For queries that are run again and again with other values: a row by its key, the rows after a key. Where SQLite's program allows it,
/// the statement copies its rows into the page by itself, as a cursor's does (mc_cursor.h); unlike a cursor it has no position.
///
/// Order of calls: create; any number of fills, on any connections; free.
/// Threads:        any number at the same time: it never changes.
/// Memory:         two SQL texts.
#ifndef MC_PAGE_SELECT_H
#define MC_PAGE_SELECT_H

#include "mc_cursor.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_page_select mc_page_select;

/// Makes the SQL texts of a query. The query is copied. On success `*out` goes to `mc_page_select_free`; on failure it is NULL.
/// Fails as `mc_cursor_create` does.
MC_MUST_USE mc_status mc_page_select_create(const mc_cursor_query *query, mc_page_select *MC_NULLABLE *MC_NONNULL out,
                                            mc_error *MC_NULLABLE error);

/// Frees a select; NULL is allowed.
void mc_page_select_free(mc_page_select *MC_NULLABLE select);

/// Fills the page with the first rows of the query, in its order: up to `max_rows` (at least 1), or until it holds `max_bytes`.
/// `values` are those of the parameters ?1, ?2 and so on. `*at_end` is true if no row follows the page. The statement is reset before the
/// call returns, so that outside of a transaction its snapshot has ended. On failure the page is empty.
/// Fails with MC_ERROR_MISUSE (a page of no rows, no such parameter), MC_ERROR_SQLITE (SQLite's reason, such as a wrong column), and as
/// `mc_statement_step` does.
MC_MUST_USE mc_status mc_page_select_fill(const mc_page_select *select, mc_connection *connection, const mc_value *MC_NULLABLE values,
                                          size_t count, mc_row_page *page, size_t max_rows, size_t max_bytes, bool *at_end,
                                          mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
