/// mc_row_page.c: fills row pages.
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_row_page.h"

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

/// Room for one more row of cells.
static mc_cell *next_cells(mc_row_page *page)
{
    const size_t used = page->row_count * page->column_count;
    const size_t needed = used + page->column_count;
    if (needed > page->cell_capacity || page->cells == NULL) {
        const size_t first = page->column_count * FIRST_ROWS;
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

/// Copies one value; false without memory. The value is looked up once: its `sqlite3_value_*` calls are cheaper than as many
/// `sqlite3_column_*` calls, and allowed without a lock because only this thread uses the connection.
static bool copy_value(mc_row_page *page, sqlite3_value *value, mc_cell *cell)
{
    const int type = sqlite3_value_type(value);
    cell->type = (uint32_t)type;
    cell->length = 0;
    switch (type) {
    case SQLITE_INTEGER:
        cell->value.integer = sqlite3_value_int64(value);
        return true;
    case SQLITE_FLOAT:
        cell->value.real = sqlite3_value_double(value);
        return true;
    case SQLITE_TEXT: {
        const void *text = sqlite3_value_text(value);
        return text != NULL && copy_bytes(page, text, (size_t)sqlite3_value_bytes(value), cell);
    }
    case SQLITE_BLOB: {
        const void *bytes = sqlite3_value_blob(value);  // NULL when it is empty
        return copy_bytes(page, bytes, (size_t)sqlite3_value_bytes(value), cell);
    }
    default:
        cell->value.integer = 0;
        return true;
    }
}

/// Copies the row that the statement stands on.
static bool copy_row(mc_row_page *page, sqlite3_stmt *statement)
{
    mc_cell *cells = next_cells(page);
    if (cells == NULL)
        return false;
    const int count = (int)page->column_count;
    for (int i = 0; i < count; i++) {
        if (!copy_value(page, sqlite3_column_value(statement, i), &cells[i]))
            return false;
    }
    page->row_count++;
    return true;
}

static void clear(mc_row_page *page, size_t column_count)
{
    page->row_count = 0;
    page->arena_length = 0;
    page->column_count = column_count;
}

/// Whether the page has all that it was asked for.
static bool is_full(const mc_row_page *page, size_t max_rows, size_t max_bytes)
{
    const size_t cells = page->row_count * page->column_count * sizeof(mc_cell);
    return page->row_count >= max_rows || (page->row_count > 0 && cells + page->arena_length >= max_bytes);
}

mc_status mc_row_page_fill(mc_row_page *page, mc_statement *statement, size_t max_rows, size_t max_bytes, bool *at_end,
                           mc_error *error)
{
    sqlite3_stmt *handle = mc_statement_sqlite(statement);
    mc_error failure;
    bool has_row = true;
    mc_status status = MC_OK;
    clear(page, (size_t)sqlite3_column_count(handle));
    *at_end = true;
    if (max_rows == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "a page of 0 rows: use 1 or more");

    // A statement that has rows left stands on the first of them.
    if (!mc_statement_is_on_row(statement))
        status = mc_statement_step(statement, &has_row, &failure);
    while (status == MC_OK && has_row && !is_full(page, max_rows, max_bytes)) {
        if (!copy_row(page, handle))
            status = mc_fail(&failure, MC_ERROR_NO_MEMORY, "no memory for row %zu of a page", page->row_count + 1);
        else
            status = mc_statement_step(statement, &has_row, &failure);
    }
    // Behind a full page one row has been stepped ahead, to know the end: what failed there belongs to the next page.
    if (status != MC_OK && is_full(page, max_rows, max_bytes) && mc_statement_defer(statement, &failure)) {
        *at_end = false;
        return MC_OK;
    }
    if (status != MC_OK) {
        clear(page, 0);
        mc_statement_reset(statement);
        if (error != NULL)
            *error = failure;
        return status;
    }
    *at_end = !has_row;
    return MC_OK;
}

mc_status mc_row_page_bind(const mc_row_page *page, size_t row, size_t column, mc_statement *statement, int index,
                           mc_error *error)
{
    if (row >= page->row_count || column >= page->column_count)
        return mc_fail(error, MC_ERROR_MISUSE, "row %zu, column %zu of a page with %zu rows of %zu columns", row, column,
                       page->row_count, page->column_count);
    const mc_cell *cell = mc_row_page_cell(page, row, column);
    switch (cell->type) {
    case MC_TYPE_INTEGER: return mc_statement_bind_integer(statement, index, cell->value.integer, error);
    case MC_TYPE_REAL: return mc_statement_bind_real(statement, index, cell->value.real, error);
    case MC_TYPE_TEXT:
        return mc_statement_bind_text(statement, index, (const char *)mc_row_page_bytes(page, cell), cell->length, error);
    case MC_TYPE_BLOB: return mc_statement_bind_blob(statement, index, mc_row_page_bytes(page, cell), cell->length, error);
    default: return mc_statement_bind_null(statement, index, error);
    }
}
