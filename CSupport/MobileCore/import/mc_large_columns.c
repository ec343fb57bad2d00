#include "import/mc_large_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mc_memory.h"
#include "blobs/mc_blob_internal.h"
#include "blobs/mc_utf8_counter.h"

static bool is_large(mc_column_type type)
{
    return type == MC_COLUMN_LARGE_TEXT || type == MC_COLUMN_LARGE_BLOB;
}

static mc_status fail_memory(mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a large value");
}

mc_status mc_large_columns_open(mc_large_columns *large, mc_connection *connection, const mc_import_table *table, mc_error *error)
{
    size_t count = 0;
    for (size_t column = 0; column < table->column_count; column++)
        count += is_large(table->columns[column].type);
    large->connection = connection;
    if (connection == NULL && count + table->large_count > 0)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": large columns, but no connection of a pool", table->table);
    if (count > MC_LARGE_COLUMNS_MAXIMUM || table->large_count > MC_LARGE_COLUMNS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": more than %d large columns", table->table, MC_LARGE_COLUMNS_MAXIMUM);
    if (count == 0)
        return MC_OK;
    large->columns = mc_allocate_zeroed(count, sizeof *large->columns);
    if (large->columns == NULL)
        return fail_memory(error);
    for (size_t number = 0; number < table->column_count; number++) {
        if (!is_large(table->columns[number].type))
            continue;
        mc_large_column *const column = &large->columns[large->count++];
        column->number = number;
        column->unit = table->columns[number].type == MC_COLUMN_LARGE_TEXT ? MC_BLOB_SCALARS : MC_BLOB_BYTES;
        column->name = mc_copy_text(table->columns[number].name);
        if (column->name == NULL)
            return fail_memory(error);
    }
    return MC_OK;
}

void mc_large_columns_close(mc_large_columns *large)
{
    for (size_t index = 0; index < large->count; index++)
        mc_free(large->columns[index].name);
    mc_free(large->columns);
    mc_free(large->content.buffer);
    mc_free(large->cells);
    mc_free(large->released);
    *large = (mc_large_columns){0};
}

// ---- One value --------------------------------------------------------------------------------------------------------------

static mc_status begin(mc_large_columns *large, mc_blob_unit unit, mc_error *error)
{
    mc_large_content *const content = &large->content;
    const size_t chunk_size = mc_blob_chunk_size(large->connection, unit);
    if (content->capacity < chunk_size) {
        uint8_t *const buffer = mc_reallocate(content->buffer, chunk_size, 1);
        if (buffer == NULL)
            return fail_memory(error);
        content->buffer = buffer;
        content->capacity = chunk_size;
    }
    *content = (mc_large_content){.unit = unit, .chunk_size = chunk_size, .buffer = content->buffer, .capacity = content->capacity};
    return mc_blob_insert_value(large->connection, unit, chunk_size, 0, &content->value, error);
}

static mc_status store_chunk(mc_large_columns *large, const uint8_t *bytes, size_t length, mc_error *error)
{
    mc_large_content *const content = &large->content;
    const mc_blob_chunk chunk = {
        .value = content->value,
        .unit = content->unit,
        .number = content->next_chunk,
        .start = content->start,
        .bytes = bytes,
        .length = length,
    };
    const mc_status status = mc_blob_store_chunk(large->connection, &chunk, error);
    content->next_chunk++;
    const int64_t units = content->unit == MC_BLOB_SCALARS ? mc_utf8_count(bytes, length) : (int64_t)length;
    content->start += units;
    content->units += units;
    content->bytes += (int64_t)length;
    return status;
}

/// Collects bytes up to whole chunks, because parts are shorter than chunks.
static mc_status append(mc_large_columns *large, const uint8_t *bytes, size_t length, mc_error *error)
{
    mc_large_content *const content = &large->content;
    mc_status status = MC_OK;
    while (length > 0 && status == MC_OK) {
        const size_t room = content->chunk_size - content->buffered;
        const size_t here = length < room ? length : room;
        memcpy(content->buffer + content->buffered, bytes, here);
        content->buffered += here;
        if (content->buffered == content->chunk_size) {
            status = store_chunk(large, content->buffer, content->buffered, error);
            content->buffered = 0;
        }
        bytes += here;
        length -= here;
    }
    return status;
}

static mc_status complete(mc_large_columns *large, mc_error *error)
{
    mc_large_content *const content = &large->content;
    mc_status status = MC_OK;
    if (content->buffered > 0)
        status = store_chunk(large, content->buffer, content->buffered, error);
    content->buffered = 0;
    return status == MC_OK ? mc_blob_complete_value(large->connection, content->value, content->units, content->bytes, error) : status;
}

// ---- Parts and batches ------------------------------------------------------------------------------------------------------

/// Adds the failing value's row and column to the database's error.
static mc_status fail_value(const mc_large_column *column, const char *table, int64_t row, int64_t offset, mc_status status,
                            mc_error *error)
{
    if (error == NULL || status == MC_OK)
        return status;
    const mc_error reason = *error;
    (void)mc_fail_at(error, status, offset, row, "import of \"%.80s\", row %" PRId64 ", column \"%.80s\", byte %" PRId64 ": %.250s", table,
                     row, column->name, offset, reason.message);
    error->sqlite_code = reason.sqlite_code;
    return status;
}

mc_status mc_large_columns_take(mc_large_columns *large, const char *table, const mc_large_part *part, mc_error *error)
{
    mc_large_column *column = large->columns;
    while (column->number != part->column)
        column++;
    mc_status status = part->begins ? begin(large, column->unit, error) : MC_OK;
    if (status == MC_OK)
        status = append(large, (const uint8_t *)part->bytes, part->length, error);
    if (status == MC_OK && part->ends)
        status = complete(large, error);
    column->value = large->content.value;
    return fail_value(column, table, part->row, part->offset, status, error);
}

/// Replaces a large value by its id.
static mc_status store_cell(mc_large_columns *large, const mc_large_column *column, mc_value *cell, mc_error *error)
{
    int64_t value = column->value;
    mc_status status = MC_OK;
    if (cell->kind == MC_VALUE_NULL)
        return MC_OK;
    if (cell->kind != MC_VALUE_LARGE) {
        status = begin(large, column->unit, error);
        if (status == MC_OK)
            status = append(large, (const uint8_t *)cell->value.bytes, cell->length, error);
        if (status == MC_OK)
            status = complete(large, error);
        value = large->content.value;
    }
    *cell = (mc_value){.value.integer = value, .kind = MC_VALUE_INTEGER};
    return status;
}

/// Copies the cells of a batch, which belong to the scanner.
static mc_status copy_cells(mc_large_columns *large, mc_row_batch *batch, mc_error *error)
{
    const size_t count = batch->row_count * batch->column_count;
    if (count > large->cell_capacity) {
        mc_value *const cells = mc_reallocate(large->cells, count, sizeof *cells);
        if (cells == NULL)
            return fail_memory(error);
        large->cells = cells;
        large->cell_capacity = count;
    }
    memcpy(large->cells, batch->cells, count * sizeof *large->cells);
    batch->cells = large->cells;
    return MC_OK;
}

mc_status mc_large_columns_store(mc_large_columns *large, const char *table, mc_row_batch *batch, mc_error *error)
{
    mc_status status = copy_cells(large, batch, error);
    for (size_t row = 0; row < batch->row_count && status == MC_OK; row++) {
        mc_value *const cells = large->cells + row * batch->column_count;
        for (size_t index = 0; index < large->count && status == MC_OK; index++) {
            const mc_large_column *const column = &large->columns[index];
            status = store_cell(large, column, &cells[column->number], error);
            status = fail_value(column, table, batch->first_row + (int64_t)row, batch->offsets[row], status, error);
        }
    }
    return status;
}

bool mc_large_columns_release(mc_large_columns *large, int64_t value)
{
    if (large->released_count == large->released_capacity) {
        const size_t capacity = large->released_capacity * 2 + 16;
        int64_t *const released = mc_reallocate(large->released, capacity, sizeof *released);
        if (released == NULL)
            return false;
        large->released = released;
        large->released_capacity = capacity;
    }
    large->released[large->released_count++] = value;
    return true;
}

mc_status mc_large_columns_drop(mc_large_columns *large, mc_error *error)
{
    const size_t count = large->released_count;
    large->released_count = 0;
    return count > 0 ? mc_blob_drop(large->connection, large->released, count, error) : MC_OK;
}
