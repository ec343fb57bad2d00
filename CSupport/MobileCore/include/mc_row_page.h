/// mc_row_page.h: many rows of a statement, copied into one block of memory in one call.
///
/// A page is a table of cells, row by row, and an arena that holds the text and bytes:
///
///     cells:  | row 0: cell cell cell | row 1: cell cell cell | ...      16 bytes each
///     arena:  | text of row 0 | bytes of row 0 | text of row 1 | ...     found by the cells' offsets
///
/// It is self-contained: it stays valid after its statement, its connection and its pool are gone, and many threads may read
/// it. Filling it again reuses its memory, which grows to the largest page seen.
#ifndef MC_ROW_PAGE_H
#define MC_ROW_PAGE_H

#include "mc_statement.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// One value. Swift reads this layout as well (`PageCell`).
typedef struct mc_cell {
    uint32_t type;    ///< an `mc_type`
    uint32_t length;  ///< of text and blob: bytes
    union {
        int64_t integer;
        double real;
        uint64_t offset;  ///< of text and blob: bytes from the start of the arena
    } value;
} mc_cell;

MC_STATIC_ASSERT(sizeof(mc_cell) == 16 && offsetof(mc_cell, length) == 4 && offsetof(mc_cell, value) == 8,
                 "Swift reads cells by these offsets");

/// The rows. Read the first five fields, through the functions below; the others belong to the page.
typedef struct mc_row_page {
    mc_cell *MC_NULLABLE cells;
    uint8_t *MC_NULLABLE arena;
    size_t row_count;
    size_t column_count;
    size_t stride;  ///< cells of a row: its columns, followed by those that a cursor (mc_cursor.h) keeps there
    size_t cell_capacity;
    size_t arena_capacity;
    size_t arena_length;
} mc_row_page;

/// Makes an empty page without memory. On success `*out` goes to `mc_row_page_free`. Fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_row_page_create(mc_row_page *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Frees a page; NULL is allowed.
void mc_row_page_free(mc_row_page *MC_NULLABLE page);

/// Fills the page with the statement's next rows: until it has `max_rows` (at least 1), or holds `max_bytes` or more of
/// cells and arena (so it is longer by at most one row), or the statement ends. `*at_end` is true if the statement has
/// no row left; it is then reset. On failure the page is empty and the statement reset.
/// A cursor (mc_cursor.h) fills pages by key faster, because it may let SQLite itself fill them.
/// Fails as `mc_statement_step` does, and with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_row_page_fill(mc_row_page *page, mc_statement *statement, size_t max_rows, size_t max_bytes, bool *at_end,
                                       mc_error *MC_NULLABLE error);

/// Binds a value of the page to a parameter: continues a query after the last row of its previous page (keyset paging).
/// Fails with MC_ERROR_MISUSE (no such row, column or parameter) and as the bind functions do.
MC_MUST_USE mc_status mc_row_page_bind(const mc_row_page *page, size_t row, size_t column, mc_statement *statement, int index,
                                       mc_error *MC_NULLABLE error);

/// Returns the memory that the page holds, in bytes.
static inline size_t mc_row_page_memory(const mc_row_page *page)
{
    return page->cell_capacity * sizeof(mc_cell) + page->arena_capacity;
}

/// Returns the cell of a value: `row` < `row_count`, `column` < `column_count`, not checked.
static inline const mc_cell *mc_row_page_cell(const mc_row_page *page, size_t row, size_t column)
{
    return &page->cells[row * page->stride + column];
}

/// Returns the text of a value and its length in bytes, as stored in the database; NULL and 0 if the value is not a text. An empty text is
/// a pointer and the length 0. `row` and `column` as for `mc_row_page_cell`; valid until the page is filled again or freed.
static inline const char *MC_NULLABLE mc_row_page_text(const mc_row_page *page, size_t row, size_t column, size_t *length)
{
    const mc_cell *const cell = mc_row_page_cell(page, row, column);
    const bool is_text = cell->type == MC_TYPE_TEXT;
    *length = is_text ? cell->length : 0;
    if (*length > 0)
        return MC_CHARACTERS(page->arena + cell->value.offset);
    return is_text ? "" : NULL;
}

/// Returns the content of a text or blob: `cell->length` bytes, as stored in the database (text need not be valid UTF-8 and may contain
/// zero bytes). Valid until the page is filled again or freed.
static inline const uint8_t *mc_row_page_bytes(const mc_row_page *page, const mc_cell *cell)
{
    return page->arena + cell->value.offset;
}

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
