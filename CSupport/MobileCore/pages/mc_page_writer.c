#include "mc_page_writer.h"

#include "rows/mc_stored_value.h"
#include "json/mc_json_writer_internal.h"

static mc_stored stored_from_cell(const mc_row_page *page, const mc_cell *cell)
{
    mc_stored value = {.storage = (int)cell->type};
    switch (cell->type) {
    case MC_TYPE_INTEGER: value.integer = cell->value.integer; break;
    case MC_TYPE_REAL: value.real = cell->value.real; break;
    case MC_TYPE_TEXT:
    case MC_TYPE_BLOB:
        value.bytes = mc_row_page_bytes(page, cell);
        value.length = cell->length;
        break;
    default: break;
    }
    return value;
}

/// Appends one row, with the comma before it.
static mc_status append_row(mc_json_writer *writer, const mc_row_page *page, size_t row, const mc_column *columns, mc_error *error)
{
    static const mc_column any = {.name = "", .type = MC_COLUMN_ANY};
    mc_byte_buffer *const text = mc_json_writer_buffer(writer);
    mc_status status = row > 0 ? mc_byte_buffer_append(text, ",[", 2) : mc_byte_buffer_append(text, "[", 1);
    for (size_t column = 0; column < page->column_count && status == MC_OK; column++) {
        const char *problem = NULL;
        const mc_stored value = stored_from_cell(page, mc_row_page_cell(page, row, column));
        if (column > 0)
            status = mc_byte_buffer_append(text, ",", 1);
        if (status == MC_OK)
            status = mc_json_append_stored(text, &value, columns != NULL ? &columns[column] : &any, &problem);
        if (status == MC_ERROR_TYPE || status == MC_ERROR_CORRUPT) {
            (void)mc_json_writer_fail(writer, status, problem, NULL);
            return mc_fail_at(error, status, -1, (int64_t)row + 1, "JSON text, row %zu, column %zu: %s", row + 1, column + 1, problem);
        }
    }
    if (status == MC_OK)
        status = mc_byte_buffer_append(text, "]", 1);
    return status == MC_OK ? mc_json_writer_pass_on(writer, error) : mc_json_writer_fail(writer, status, NULL, error);
}

mc_status mc_json_write_rows(mc_json_writer *writer, const mc_row_page *page, const mc_column *columns, mc_error *error)
{
    mc_status status = mc_json_write_begin_array(writer, error);
    for (size_t row = 0; row < page->row_count && status == MC_OK; row++)
        status = append_row(writer, page, row, columns, error);
    return status == MC_OK ? mc_json_write_end(writer, error) : status;
}
