/// mc_row_page.c: the memory of row pages.
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "pages/mc_page_memory.h"

enum { FIRST_ROWS = 32, FIRST_ARENA = 1024 };

mc_status mc_row_page_create(mc_row_page **out, mc_error *error)
{
    *out = NULL;
    mc_row_page *page = mc_allocate(sizeof *page);
    uint8_t *arena = mc_allocate(FIRST_ARENA);
    if (page == NULL || arena == NULL) {
        mc_free(page);
        mc_free(arena);
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a page of rows");
    }
    *page = (mc_row_page){.arena = arena, .arena_capacity = FIRST_ARENA};
    *out = page;
    return MC_OK;
}

void mc_row_page_free(mc_row_page *page)
{
    if (page == NULL)
        return;
    mc_free(page->cells);
    mc_free(page->arena);
    mc_free(page);
}

void mc_page_clear(mc_row_page *page, size_t column_count, size_t stride)
{
    page->row_count = 0;
    page->arena_length = 0;
    page->column_count = column_count;
    page->stride = stride;
}

static bool grow(void **memory, size_t *capacity, size_t unit, size_t needed)
{
    size_t count = *capacity > 0 ? *capacity : 16;
    while (count < needed) {
        if (count > SIZE_MAX / 2 / unit)
            return false;
        count *= 2;
    }
    void *larger = mc_reallocate(*memory, count, unit);
    if (larger == NULL)
        return false;
    *memory = larger;
    *capacity = count;
    return true;
}

/// Makes room for another row of cells.
static mc_cell *next_cells(mc_row_page *page)
{
    const size_t used = page->row_count * page->stride;
    const size_t needed = used + page->stride;
    if (needed > page->cell_capacity) {
        const size_t first = page->stride * FIRST_ROWS;
        void *cells = page->cells;
        if (!grow(&cells, &page->cell_capacity, sizeof(mc_cell), needed > first ? needed : first))
            return NULL;
        page->cells = cells;
    }
    return page->cells + used;
}

static bool copy_bytes(mc_row_page *page, const void *bytes, size_t length, mc_cell *cell)
{
    const size_t needed = page->arena_length + length;
    if (needed > page->arena_capacity) {
        void *arena = page->arena;
        if (!grow(&arena, &page->arena_capacity, 1, needed))
            return false;
        page->arena = arena;
    }
    if (length > 0)
        memcpy(page->arena + page->arena_length, bytes, length);
    cell->length = (uint32_t)length;
    cell->value.offset = page->arena_length;
    page->arena_length = needed;
    return true;
}

/// Copies one value; false without memory. The value is looked up once: its `sqlite3_value_*` calls are cheaper than the same number of
/// `sqlite3_column_*` calls, and allowed without a lock because only this thread uses the connection.
static inline bool copy_value(mc_row_page *page, sqlite3_value *value, mc_cell *cell)
{
    const int type = sqlite3_value_type(value);
    cell->type = (uint32_t)type;
    cell->length = 0;
    switch (type) {
    case SQLITE_INTEGER: cell->value.integer = sqlite3_value_int64(value); return true;
    case SQLITE_FLOAT: cell->value.real = sqlite3_value_double(value); return true;
    case SQLITE_TEXT: {
        const void *text = sqlite3_value_text(value);
        return text != NULL && copy_bytes(page, text, (size_t)sqlite3_value_bytes(value), cell);
    }
    case SQLITE_BLOB: {
        const void *bytes = sqlite3_value_blob(value);  // NULL for an empty blob
        const size_t length = (size_t)sqlite3_value_bytes(value);
        return (bytes != NULL || length == 0) && copy_bytes(page, bytes, length, cell);
    }
    default: cell->value.integer = 0; return true;
    }
}

/// Appends a row: the given values, or, if they are NULL, the values of the statement's current row.
/// One loop serves both, so that the compiler inlines the copying of a value: 725 instructions for a row of 17 values, not 1,003.
static bool append(mc_row_page *page, sqlite3_value **values, sqlite3_stmt *statement)
{
    mc_cell *const cells = next_cells(page);
    const size_t arena_length = page->arena_length, stride = page->stride;
    if (cells == NULL)
        return false;
    for (size_t i = 0; i < stride; i++) {
        if (!copy_value(page, values != NULL ? values[i] : sqlite3_column_value(statement, (int)i), &cells[i])) {
            page->arena_length = arena_length;
            return false;
        }
    }
    page->row_count++;
    return true;
}

bool mc_page_append(mc_row_page *page, sqlite3_value **values)
{
    return append(page, values, NULL);
}

bool mc_page_append_row(mc_row_page *page, sqlite3_stmt *statement)
{
    return append(page, NULL, statement);
}

bool mc_page_append_cells(mc_row_page *page, const mc_cell *cells, const uint8_t *arena)
{
    mc_cell *const to = next_cells(page);
    if (to == NULL)
        return false;
    for (size_t i = 0; i < page->stride; i++) {
        to[i] = cells[i];
        if ((cells[i].type == MC_TYPE_TEXT || cells[i].type == MC_TYPE_BLOB)
            && !copy_bytes(page, arena + cells[i].value.offset, cells[i].length, &to[i]))
            return false;
    }
    page->row_count++;
    return true;
}

void mc_page_reverse(mc_row_page *page)
{
    for (size_t low = 0, high = page->row_count; low + 1 < high; low++) {
        high--;
        mc_cell *const a = page->cells + low * page->stride, *const b = page->cells + high * page->stride;
        for (size_t i = 0; i < page->stride; i++) {
            const mc_cell cell = a[i];
            a[i] = b[i];
            b[i] = cell;
        }
    }
}

mc_status mc_row_page_bind(const mc_row_page *page, size_t row, size_t column, mc_statement *statement, int index, mc_error *error)
{
    if (row >= page->row_count || column >= page->stride)
        return mc_fail(error, MC_ERROR_MISUSE, "row %zu, column %zu of a page with %zu rows of %zu columns", row, column, page->row_count,
                       page->column_count);
    const mc_cell *cell = mc_row_page_cell(page, row, column);
    switch (cell->type) {
    case MC_TYPE_INTEGER: return mc_statement_bind_integer(statement, index, cell->value.integer, error);
    case MC_TYPE_REAL: return mc_statement_bind_real(statement, index, cell->value.real, error);
    case MC_TYPE_TEXT: return mc_statement_bind_text(statement, index, (const char *)mc_row_page_bytes(page, cell), cell->length, error);
    case MC_TYPE_BLOB: return mc_statement_bind_blob(statement, index, mc_row_page_bytes(page, cell), cell->length, error);
    default: return mc_statement_bind_null(statement, index, error);
    }
}
