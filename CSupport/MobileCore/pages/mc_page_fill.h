/// mc_page_fill.h: fills pages from statements, in one of two ways. Internal.
///
/// Any statement is stepped, and each row's values are copied. A statement of the form
///
///     SELECT a, b FROM t WHERE ... AND mc_fill_page(a, b) ORDER BY ...
///
/// can fill the page by itself: its last condition copies its arguments into the page and says no, so that SQLite goes on to the next
/// row inside of one step, until the page is full. That is right only where the condition sees exactly the rows of the result, in
/// their order: `mc_page_plan_check` looks for a proof in the statement's program. Everywhere else the condition says yes and does
/// nothing, and the statement is one like any other.
#ifndef MC_PAGE_FILL_H
#define MC_PAGE_FILL_H

#include "mc_row_page.h"
#include "pool/mc_pool_internal.h"

/// A page that is being filled.
typedef struct mc_page_fill {
    mc_row_page *page;
    size_t max_rows, max_bytes;
    bool by_statement;  ///< the statement fills the page by itself, as `mc_page_plan_check` has found
    bool plan_changed;  ///< out: it was prepared again meanwhile. Nothing was appended; check, bind and fill once more
} mc_page_fill;

/// The function's name, and how many arguments SQLite lets a function have.
#define MC_PAGE_FUNCTION "mc_fill_page"
enum { MC_PAGE_FUNCTION_COLUMNS = 127 };

/// Make the function known to each connection of a pool.
extern const mc_pool_hooks mc_page_hooks;

/// Whether the statement fills pages by itself. Without values: they are gone afterwards if SQLite has prepared the statement again
/// since it was looked at. No proof, for whatever reason, is no failure.
bool mc_page_plan_check(mc_statement *statement);

/// How often SQLite has prepared the statement again.
static inline int mc_page_plan_number(const mc_statement *statement)
{
    return sqlite3_stmt_status(statement->handle, SQLITE_STMTSTATUS_REPREPARE, 0);
}

/// Where the rows of a page come from: a statement by its text, and who binds its values.
typedef struct mc_page_source {
    mc_connection *connection;
    const char *sql;
    size_t length;
    uint64_t hash;  ///< of the text (`mc_statement_hash`); 0: not known
    mc_status (*bind)(const void *context, mc_statement *statement, mc_error *error);
    const void *context;
} mc_page_source;

/// Lets the source's statement, which calls the function, fill the page by itself. `*done` is false where it cannot; the page is then
/// as it was. Fails as `mc_row_page_fill` does.
mc_status mc_page_fill_by_statement(const mc_page_source *source, mc_page_fill *fill, bool *at_end, bool *done, mc_error *error);

/// Steps through the source's statement, which "@mc_rows" limits. Fails as `mc_row_page_fill` does.
mc_status mc_page_fill_by_steps(const mc_page_source *source, mc_page_fill *fill, bool *at_end, mc_error *error);

#endif
