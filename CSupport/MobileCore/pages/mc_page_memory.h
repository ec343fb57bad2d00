/// mc_page_memory.h: appends rows to the memory of a page. Internal to the pages.
#ifndef MC_PAGE_MEMORY_H
#define MC_PAGE_MEMORY_H

#include <sqlite3.h>

#include "mc_row_page.h"

/// Removes all rows. The page is then for rows of `stride` cells; the first `column_count` cells are the reader's.
void mc_page_clear(mc_row_page *page, size_t column_count, size_t stride);

/// Appends a row of `stride` values. False without memory: the page is then unchanged.
bool mc_page_append(mc_row_page *page, sqlite3_value **values);

/// Appends the current row of a statement of `stride` columns. False without memory.
bool mc_page_append_row(mc_row_page *page, sqlite3_stmt *statement);

/// Appends a row of cells whose bytes are in `arena`. False without memory.
bool mc_page_append_cells(mc_row_page *page, const mc_cell *cells, const uint8_t *arena);

/// Reverses the order of the rows.
void mc_page_reverse(mc_row_page *page);

/// Whether the page has reached one of its limits.
static inline bool mc_page_is_full(const mc_row_page *page, size_t max_rows, size_t max_bytes)
{
    const size_t cells = page->row_count * page->stride * sizeof(mc_cell);
    return page->row_count >= max_rows || (page->row_count > 0 && cells + page->arena_length >= max_bytes);
}

#endif
