/// mc_page_memory.h: rows into the memory of a page, one value after the other. Internal to the pages.
#ifndef MC_PAGE_MEMORY_H
#define MC_PAGE_MEMORY_H

#include <sqlite3.h>

#include "mc_row_page.h"

/// Takes all rows out. The page is for rows of `stride` cells, of which `column_count` are the reader's.
void mc_page_clear(mc_row_page *page, size_t column_count, size_t stride);

/// Appends a row of `stride` values. False without memory: the page is then as it was.
bool mc_page_append(mc_row_page *page, sqlite3_value **values);

/// Appends the row that a statement of `stride` columns stands on. False without memory.
bool mc_page_append_row(mc_row_page *page, sqlite3_stmt *statement);

/// Appends a row of cells whose bytes lie in `arena`. False without memory.
bool mc_page_append_cells(mc_row_page *page, const mc_cell *cells, const uint8_t *arena);

/// Turns the order of the rows round.
void mc_page_reverse(mc_row_page *page);

/// Whether the page has all that it was asked for.
static inline bool mc_page_is_full(const mc_row_page *page, size_t max_rows, size_t max_bytes)
{
    const size_t cells = page->row_count * page->stride * sizeof(mc_cell);
    return page->row_count >= max_rows || (page->row_count > 0 && cells + page->arena_length >= max_bytes);
}

#endif
