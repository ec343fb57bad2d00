/// mc_rows_large.c: rows with a value that comes in parts.
///
/// Ordinary rows are read as a whole, and again if a chunk cuts them. A row with a large value is read once up to the value. Its
/// cells so far are copied, because they point into input that does not stay. Then the value goes to the sink as it arrives, and the
/// reader continues after it. This repeats for each such value of the row.
#include <string.h>

#include "base/mc_memory.h"
#include "rows/mc_rows_state.h"

enum { PART_BYTES = 64 * 1024 };

static bool has_bytes(const mc_value *cell)
{
    return cell->kind == MC_VALUE_TEXT || cell->kind == MC_VALUE_BLOB;
}

/// Copies the bytes of a cell; false without memory.
static bool copy_bytes(mc_value *cell, mc_arena *arena)
{
    uint8_t *const copy = mc_arena_take(arena, cell->length);
    if (copy == NULL)
        return false;
    memcpy(copy, cell->value.bytes, cell->length);
    cell->value.bytes = (const char *)copy;
    return true;
}

static mc_status fail_memory(const mc_rows *rows, mc_error *error)
{
    return mc_fail(error, MC_ERROR_NO_MEMORY, "import of \"%.80s\": no memory for a row with a large value", rows->current->name);
}

/// Keeps the cells that the reader has read up to the value it stopped in. Cells that were kept before are not copied again.
static bool keep_cells(mc_rows *rows, const mc_value *cells, bool is_first)
{
    mc_cut_row *const cut = &rows->cut;
    const mc_row_reader *const reader = &rows->current->reader;
    if (cut->cells == NULL)
        cut->cells = mc_allocate_zeroed(rows->cell_capacity, sizeof *cut->cells);
    if (cut->cells == NULL)
        return false;
    for (size_t index = 0; index < reader->column_count; index++) {
        mc_value *const kept = &cut->cells[index];
        if (!cut->is_object && index >= reader->column) {
            kept->kind = MC_CELL_MISSING;
            continue;
        }
        const bool is_kept = !is_first && has_bytes(kept);
        *kept = cells[index];
        if (has_bytes(kept) && !is_kept && !copy_bytes(kept, &cut->arena))
            return false;
    }
    cut->cells[reader->column].kind = MC_VALUE_LARGE;
    return true;
}

/// Begins the value that the reader stopped in; `first` is the position at which the reader began.
static mc_status begin_value(mc_rows *rows, const mc_rows_text *text, const uint8_t *first, const mc_value *cells, bool is_first,
                             const uint8_t **at, mc_error *error)
{
    mc_cut_row *const cut = &rows->cut;
    const mc_row_reader *const reader = &rows->current->reader;
    if (!keep_cells(rows, cells, is_first))
        return fail_memory(rows, error);
    cut->column = reader->column;
    cut->length += (size_t)(reader->cell.large - first);
    cut->value_offset = mc_rows_offset(text, reader->cell.large);
    cut->has_begun = false;
    cut->base64 = (mc_base64_state){0};
    rows->place = PLACE_LARGE;
    *at = reader->cell.large + 1;
    return MC_OK;
}

mc_status mc_rows_begin_large(mc_rows *rows, const mc_rows_text *text, const uint8_t *first, const uint8_t **at, mc_error *error)
{
    mc_cut_row *const cut = &rows->cut;
    const mc_value *const cells = rows->block.cells + rows->row_count * rows->current->reader.column_count;
    cut->is_object = *first == '{';
    cut->length = 0;
    cut->row_offset = mc_rows_offset(text, first);
    mc_arena_reset(&cut->arena);
    const mc_status status = begin_value(rows, text, first, cells, true, at, error);
    if (status != MC_OK)
        return status;
    return mc_rows_flush(rows, cut->row_offset, error);
}

/// Decodes the available bytes of the value, `length` bytes from `from`, into `part`. `outcome` is set if they are not valid.
static void decode(mc_rows *rows, const uint8_t *from, size_t length, bool escaped, mc_large_part *part, mc_row_outcome *outcome)
{
    mc_row_reader *const reader = &rows->current->reader;
    const uint8_t *bytes = from;
    *outcome = MC_ROW_COMPLETE;
    part->bytes = (const char *)from;
    part->length = length;
    if (escaped) {
        uint8_t *const unfolded = mc_arena_take(reader->cell.arena, mc_json_unescape_room(length));
        if (unfolded == NULL) {
            (void)mc_row_refuse(&reader->cell, MC_ERROR_NO_MEMORY, from, "memory for a large value", "none", outcome);
            return;
        }
        part->length = mc_json_unescape(from, length, unfolded);
        part->bytes = (const char *)unfolded;
        bytes = unfolded;
    }
    if (reader->columns[rows->cut.column].rule.type != MC_COLUMN_LARGE_BLOB)
        return;
    const size_t characters = part->length;
    uint8_t *const decoded = mc_arena_take(reader->cell.arena, mc_base64_part_room(characters) + 1);
    if (decoded == NULL) {
        (void)mc_row_refuse(&reader->cell, MC_ERROR_NO_MEMORY, from, "memory for a large value", "none", outcome);
        return;
    }
    const size_t good = mc_base64_decode_part(&rows->cut.base64, bytes, characters, decoded, &part->length);
    part->bytes = (const char *)decoded;
    if (good < characters)
        (void)mc_row_refuse_base64(&reader->cell, from, good, outcome);
}

static mc_status send(mc_rows *rows, const mc_large_part *part, int64_t bytes, mc_error *error)
{
    const mc_rows_table *const current = rows->current;
    const mc_row_batch batch = {
        .cells = rows->block.cells,
        .offsets = rows->block.offsets,
        .column_count = current->reader.column_count,
        .member = (size_t)(current - rows->members),
        .first_row = current->rows_before + 1,
        .bytes = bytes,
        .is_part = true,
        .part = *part,
    };
    const mc_status status = rows->sink != NULL ? rows->sink(rows->context, &batch, error) : MC_OK;
    mc_arena_reset(&rows->block.arena);
    return status;
}

mc_status mc_rows_take_part(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error)
{
    mc_cut_row *const row = &rows->cut;
    mc_row_reader *const reader = &rows->current->reader;
    const uint8_t *const from = *at;
    const bool bounded = text->end - from > PART_BYTES;
    mc_json_stop stop = {0};
    bool escaped = false;
    const uint8_t *const quote = mc_json_string_end(from, bounded ? from + PART_BYTES : text->end, &escaped, &stop);
    const uint8_t *const whole = quote != NULL ? quote : stop.whole;
    mc_large_part part = {
        .column = row->column,
        .row = rows->current->rows_before + 1,
        .offset = row->value_offset,
        .begins = !row->has_begun,
        .ends = quote != NULL,
    };
    mc_row_outcome outcome;
    reader->column = row->column;
    decode(rows, from, (size_t)(whole - from), escaped, &part, &outcome);
    const bool is_incomplete = quote != NULL && !mc_base64_is_complete(&row->base64);
    if (outcome == MC_ROW_COMPLETE && is_incomplete)
        (void)mc_row_refuse(&reader->cell, MC_ERROR_TYPE, quote, "a character of base64", NULL, &outcome);
    if (outcome == MC_ROW_COMPLETE && quote == NULL && stop.expected != NULL)
        (void)mc_row_stopped(&reader->cell, &stop, &outcome);
    if (outcome != MC_ROW_COMPLETE)
        return mc_rows_fail(rows, text, error);
    *cut = quote == NULL && !bounded;
    *at = quote != NULL ? quote + 1 : whole;
    if (quote != NULL)
        rows->place = PLACE_BEHIND_LARGE;
    if (quote == NULL && whole == from)
        return MC_OK;
    row->has_begun = true;
    return send(rows, &part, mc_rows_offset(text, *at), error);
}

/// Makes the row a batch of its own. Its kept cells move to the batch, which may outlive them.
static mc_status complete(mc_rows *rows, mc_value *cells, int64_t bytes, mc_error *error)
{
    mc_cut_row *const row = &rows->cut;
    for (size_t index = 0; index < rows->current->reader.column_count; index++) {
        if (has_bytes(&row->cells[index]) && !copy_bytes(&cells[index], &rows->block.arena))
            return fail_memory(rows, error);
    }
    mc_arena_reset(&row->arena);
    rows->block.offsets[rows->row_count++] = row->row_offset;
    rows->place = PLACE_BEHIND_ROW;
    return mc_rows_flush(rows, bytes, error);
}

mc_status mc_rows_take_rest(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error)
{
    mc_cut_row *const row = &rows->cut;
    mc_row_reader *const reader = &rows->current->reader;
    mc_value *const cells = rows->block.cells;
    const uint8_t *const first = *at;
    const size_t allowed = rows->row_bytes - row->length;  // the value began before the limit
    const bool bounded = (size_t)(text->end - first) > allowed;
    const uint8_t *const limit = bounded ? first + allowed : text->end;
    memcpy(cells, row->cells, reader->column_count * sizeof *cells);
    const mc_row_outcome outcome = mc_row_reader_resume(reader, row->is_object, row->column, at, limit, cells);
    switch (outcome) {
    case MC_ROW_COMPLETE: return complete(rows, cells, mc_rows_offset(text, *at), error);
    case MC_ROW_LARGE: return begin_value(rows, text, first, cells, false, at, error);
    case MC_ROW_CUT:
        if (bounded && reader->cell.large != NULL)
            return begin_value(rows, text, first, cells, false, at, error);
        *cut = true;
        return bounded ? mc_rows_fail_length(rows, text, limit, error) : MC_OK;
    case MC_ROW_REFUSED: break;
    }
    return mc_rows_fail(rows, text, error);
}
