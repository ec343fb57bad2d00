/// mc_page_fill.h: fills pages from statements, in one of two ways. Internal.
///
/// Any statement is stepped, and each row's values are copied. A statement of the form
///
///     SELECT a, b FROM t WHERE ... AND mc_fill_page(a, b) ORDER BY ...
///
/// can fill the page by itself: its last condition copies its arguments into the page and returns NULL, so that SQLite continues with
/// the next row inside of one step, until the page is full. That is correct only if the condition receives exactly the rows of the
/// result, in their order: `mc_page_plan_check` searches the statement's program for a proof. Without one the condition returns true
/// and copies nothing, and the statement is stepped.
#ifndef MC_PAGE_FILL_H
#define MC_PAGE_FILL_H

#include "mc_row_page.h"
#include "pool/mc_pool_internal.h"

/// A page that is being filled.
typedef struct mc_page_fill {
    mc_row_page *page;
    size_t max_rows, max_bytes;
    bool by_statement;   ///< the statement fills the page by itself; see `mc_page_plan_check`
    bool plan_changed;   ///< out: it was prepared again meanwhile. No row was appended; check, bind and fill once more
    bool takes_columns;  ///< the page has the columns of the statement, which its first step may change
} mc_page_fill;

/// The function's name, and SQLite's maximum number of arguments of a function.
#define MC_PAGE_FUNCTION "mc_fill_page"
enum { MC_PAGE_FUNCTION_COLUMNS = 127 };

/// The hooks that register the function with each connection of a pool.
extern const mc_pool_hooks mc_page_hooks;

/// Whether the statement fills pages by itself. To be called before values are bound: they are lost if SQLite has prepared the statement
/// again since the last check. A missing proof is not a failure, regardless of its reason.
bool mc_page_plan_check(mc_statement *statement);

/// The number of times that SQLite has prepared the statement again.
static inline int mc_page_plan_number(const mc_statement *statement)
{
    return sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
}

/// The source of a page's rows: the text of a statement, and the function that binds its values.
typedef struct mc_page_source {
    mc_connection *connection;
    const char *sql;
    size_t length;
    uint64_t hash;  ///< of the text (`mc_statement_hash`); 0: not known
    mc_status (*bind)(const void *context, mc_statement *statement, mc_error *error);
    const void *context;
} mc_page_source;

/// Runs the source's statement, which calls the function, to fill the page by itself. `*done` is false if it cannot; the page is then
/// unchanged. Fails as `mc_row_page_fill` does.
mc_status mc_page_fill_by_statement(const mc_page_source *source, mc_page_fill *fill, bool *at_end, bool *done, mc_error *error);

/// Steps through the source's statement, which "@mc_rows" limits. Fails as `mc_row_page_fill` does.
mc_status mc_page_fill_by_steps(const mc_page_source *source, mc_page_fill *fill, bool *at_end, mc_error *error);

#endif
