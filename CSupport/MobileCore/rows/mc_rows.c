/// mc_rows.c: the row scanner: chunks in, batches of rows out.
///
/// Between rows the input is single characters, which a small state machine reads one by one. A row is read as a whole. If the
/// chunk ends inside of it, its bytes are kept in `carry` and read again when there are more. Reading again costs time, so it
/// happens only after the carried bytes have doubled: a row that comes byte by byte is still read in linear time.
#include "mc_rows.h"

#include <string.h>

#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "rows/mc_rows_state.h"

enum {
    GATHER_BYTES = 16 * 1024,  // smaller chunks are gathered up to this number of bytes
    BATCH_CELLS = 4096,        // 64 KB: cells, and the text they point at, stay in a processor's second-level cache
    BATCH_ROWS = 1024,
    MEMBERS_MAXIMUM = 1000,
    ROW_BYTES_DEFAULT = 16 * 1024 * 1024,
    ROW_BYTES_MAXIMUM = 1000 * 1000 * 1000,
};

static mc_status open_member(mc_rows *rows, const mc_rows_member *from, unsigned depth, mc_error *error)
{
    mc_rows_table *const to = &rows->members[rows->member_count++];
    const mc_status status = mc_row_reader_init(&to->reader, from->columns, from->column_count, depth, error);
    if (status != MC_OK)
        return status;
    to->reader.cell.arena = &rows->block.arena;
    to->name = mc_copy_text(from->name);
    if (to->name == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    to->name_length = strlen(to->name);
    for (const mc_rows_table *other = rows->members; other < to; other++) {
        if (strcmp(other->name, to->name) == 0)
            return mc_fail(error, MC_ERROR_MISUSE, "rows: the member \"%.80s\" is named twice", to->name);
    }
    to->row_capacity = BATCH_CELLS / from->column_count;
    if (to->row_capacity > BATCH_ROWS)
        to->row_capacity = BATCH_ROWS;
    if (to->row_capacity > rows->row_capacity)
        rows->row_capacity = to->row_capacity;
    if (to->row_capacity * from->column_count > rows->cell_capacity)
        rows->cell_capacity = to->row_capacity * from->column_count;
    return MC_OK;
}

static mc_status open_members(mc_rows *rows, const mc_rows_options *options, mc_error *error)
{
    const mc_rows_member one = {
        .name = options->name != NULL ? options->name : "rows",
        .columns = options->columns,
        .column_count = options->column_count,
    };
    rows->is_object = options->members != NULL;
    const mc_rows_member *const members = rows->is_object ? options->members : &one;
    const size_t count = rows->is_object ? options->member_count : 1;
    if (count < 1 || count > MEMBERS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "rows: %zu members; use 1 to %d", count, MEMBERS_MAXIMUM);
    rows->members = mc_allocate_zeroed(count, sizeof *rows->members);
    if (rows->members == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    rows->current = rows->members;
    mc_status status = MC_OK;
    for (size_t index = 0; index < count && status == MC_OK; index++)
        status = open_member(rows, &members[index], options->depth, error);
    return status;
}

mc_status mc_rows_open(const mc_rows_options *options, mc_rows **out, mc_error *error)
{
    *out = NULL;
    mc_status status = MC_OPTIONS_CHECK(mc_rows_options, options, error);
    if (status != MC_OK)
        return status;
    if (options->row_bytes > ROW_BYTES_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "rows: rows of %zu bytes; %d is the most", options->row_bytes, ROW_BYTES_MAXIMUM);
    mc_rows *const rows = mc_allocate_zeroed(1, sizeof *rows);
    if (rows == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    rows->sink = options->sink;
    rows->context = options->context;
    rows->row_bytes = options->row_bytes == 0 ? ROW_BYTES_DEFAULT : options->row_bytes;
    rows->carry.maximum = rows->row_bytes + GATHER_BYTES + 1;
    rows->attempt = GATHER_BYTES;
    status = open_members(rows, options, error);
    if (status == MC_OK && !mc_row_block_init(&rows->block, rows))
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    if (status != MC_OK)
        goto done;
    *out = rows;

done:
    if (status != MC_OK)
        mc_rows_free(rows);
    return status;
}

void mc_rows_free(mc_rows *rows)
{
    if (rows == NULL)
        return;
    for (size_t index = 0; index < rows->member_count; index++) {
        mc_row_reader_destroy(&rows->members[index].reader);
        mc_free(rows->members[index].name);
    }
    mc_free(rows->members);
    mc_byte_buffer_free(&rows->carry);
    mc_row_block_free(&rows->block);
    mc_free(rows->cut.cells);
    mc_arena_free(&rows->cut.arena);
    mc_free(rows);
}

bool mc_row_block_init(mc_row_block *block, const mc_rows *rows)
{
    block->cells = mc_allocate_zeroed(rows->cell_capacity, sizeof *block->cells);
    block->offsets = mc_allocate_zeroed(rows->row_capacity, sizeof *block->offsets);
    return block->cells != NULL && block->offsets != NULL;
}

void mc_row_block_free(mc_row_block *block)
{
    mc_free(block->cells);
    mc_free(block->offsets);
    mc_arena_free(&block->arena);
    *block = (mc_row_block){0};
}

void mc_rows_set_finite(mc_rows *rows, size_t member, size_t column)
{
    rows->members[member].reader.columns[column].is_finite = true;
}

void mc_rows_set_sink(mc_rows *rows, mc_rows_sink sink, void *context)
{
    rows->sink = sink;
    rows->context = context;
}

void mc_rows_exchange(mc_rows *rows, mc_row_block *block)
{
    const mc_row_block mine = rows->block;
    rows->block = *block;
    *block = mine;
}

size_t mc_rows_carried(const mc_rows *rows)
{
    return rows->carry.length;
}

void mc_rows_take_carried(mc_rows *rows, uint8_t *end)
{
    if (rows->carry.length > 0)
        memcpy(end - rows->carry.length, rows->carry.bytes, rows->carry.length);
    rows->carry.length = 0;
}

int64_t mc_rows_count(const mc_rows *rows)
{
    return rows->rows_before;
}

static mc_status fail_carry(mc_rows *rows, mc_status status, mc_error *error)
{
    return mc_fail(error, status, "import of \"%.80s\": no memory for a row cut by a chunk", rows->current->name);
}

/// Chooses when the carried bytes are scanned again.
static void plan_attempt(mc_rows *rows)
{
    const size_t length = rows->carry.length;
    // One byte more than the longest row is enough to decide in any case.
    const size_t most = rows->row_bytes + 1;
    size_t attempt = length > most / 2 ? most : length * 2;
    if (attempt < GATHER_BYTES)
        attempt = GATHER_BYTES;
    rows->attempt = attempt;
}

/// Scans the carried bytes; the last `fresh` bytes of them are also the first ones of the chunk that is being pushed. `*reread` becomes the
/// number of bytes of the chunk that were carried needlessly: they are scanned in the chunk.
static mc_status scan_carry(mc_rows *rows, size_t fresh, size_t *reread, mc_error *error)
{
    const uint8_t *const start = rows->carry.bytes, *behind = start;
    const mc_rows_text text = {.start = start, .end = start + rows->carry.length, .base = rows->offset};
    mc_status status = mc_rows_scan(rows, &text, &behind, error);
    if (status != MC_OK)
        return status;
    const size_t rest = rows->carry.length - (size_t)(behind - start);
    rows->offset += behind - start;
    *reread = 0;
    if (rest <= fresh) {
        // Cells may point into the carried bytes until the next flush: so the bytes are dropped, but not overwritten before.
        *reread = rest;
        rows->carry.length = 0;
        return MC_OK;
    }
    status = mc_rows_flush(rows, rows->offset, error);
    memmove(rows->carry.bytes, behind, rest);
    rows->carry.length = rest;
    plan_attempt(rows);
    return status;
}

/// Keeps the bytes for later.
static mc_status keep(mc_rows *rows, const uint8_t *bytes, size_t length, mc_error *error)
{
    const mc_status status = mc_byte_buffer_append(&rows->carry, bytes, length);
    return status == MC_OK ? MC_OK : fail_carry(rows, status, error);
}

static mc_status push(mc_rows *rows, const uint8_t *at, const uint8_t *end, mc_error *error)
{
    mc_status status;
    if (rows->carry.length == 0 && end - at < GATHER_BYTES) {
        rows->attempt = GATHER_BYTES;
        return keep(rows, at, (size_t)(end - at), error);
    }
    while (rows->carry.length > 0 && at < end) {
        const size_t wanted = rows->attempt - rows->carry.length, here = (size_t)(end - at);
        const size_t fresh = here < wanted ? here : wanted;
        status = keep(rows, at, fresh, error);
        if (status != MC_OK)
            return status;
        at += fresh;
        if (rows->carry.length < rows->attempt)
            return MC_OK;
        size_t reread = 0;
        status = scan_carry(rows, fresh, &reread, error);
        if (status != MC_OK)
            return status;
        at -= reread;
    }
    const uint8_t *behind = at;
    const mc_rows_text text = {.start = at, .end = end, .base = rows->offset};
    status = mc_rows_scan(rows, &text, &behind, error);
    if (status == MC_OK)
        status = mc_rows_flush(rows, rows->offset + (behind - at), error);
    if (status != MC_OK)
        return status;
    rows->offset += behind - at;
    status = keep(rows, behind, (size_t)(end - behind), error);
    plan_attempt(rows);
    return status;
}

mc_status mc_rows_push(mc_rows *rows, const void *bytes, size_t length, mc_error *error)
{
    if (rows->stopped)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": more input after its end or an error", rows->current->name);
    if (length == 0)
        return MC_OK;
    const mc_status status = push(rows, bytes, (const uint8_t *)bytes + length, error);
    rows->stopped = status != MC_OK;
    return status;
}

mc_status mc_rows_settle(mc_rows *rows, mc_error *error)
{
    if (rows->stopped)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": finished twice, or after an error", rows->current->name);
    rows->stopped = true;
    if (rows->carry.length == 0)
        return MC_OK;
    const uint8_t *const start = rows->carry.bytes, *behind = start;
    const mc_rows_text text = {.start = start, .end = start + rows->carry.length, .base = rows->offset};
    mc_status status = mc_rows_scan(rows, &text, &behind, error);
    if (status == MC_OK)
        status = mc_rows_flush(rows, rows->offset + (behind - start), error);
    if (status == MC_OK)
        rows->offset += (int64_t)rows->carry.length;
    return status;
}

mc_status mc_rows_finish(mc_rows *rows, mc_error *error)
{
    const mc_status status = mc_rows_settle(rows, error);
    if (status != MC_OK)
        return status;
    if (rows->place != PLACE_END)
        return mc_fail_at(error, MC_ERROR_TRUNCATED, rows->offset, 0, "import of \"%.80s\", byte %lld: the input ends in the middle",
                          rows->current->name, (long long)rows->offset);
    return MC_OK;
}

void mc_rows_begin_again(mc_rows *rows)
{
    for (size_t index = 0; index < rows->member_count; index++)
        rows->members[index].rows_before = 0;
    rows->current = rows->members;
    rows->place = PLACE_START;
    rows->stopped = false;
    rows->carry.length = 0;
    rows->attempt = GATHER_BYTES;
    rows->offset = 0;
}
