/// mc_rows.c: the row scanner: chunks in, batches of rows out.
///
/// Between rows the input is single characters, which a small state takes as they come. A row is read as a whole: where the
/// chunk ends inside of it, its bytes are kept in `carry` and read again when there are more. To be read again costs, so it
/// happens only after the carried bytes have doubled: a row that comes byte by byte is still read in linear time.
#include "mc_rows.h"

#include <string.h>

#include "base/mc_memory.h"
#include "json/mc_byte_buffer.h"
#include "json/mc_row_reader.h"

enum {
    GATHER_BYTES = 16 * 1024,   // smaller chunks are gathered until they are worth a batch
    BATCH_CELLS = 4096,         // 64 KB: cells, and the text they point at, stay in a processor's second-level cache
    BATCH_ROWS = 1024,
    ROW_BYTES_DEFAULT = 16 * 1024 * 1024,
    ROW_BYTES_MAXIMUM = 1000 * 1000 * 1000,
};

/// What may come next between rows.
typedef enum place { PLACE_START, PLACE_FIRST_ROW, PLACE_ROW, PLACE_BEHIND_ROW, PLACE_END } place;

struct mc_rows {
    mc_row_reader reader;
    mc_rows_sink sink;
    void *context;
    char *name;
    size_t row_bytes;

    place place;
    bool stopped;               // finished, or an error was reported
    mc_byte_buffer carry;
    size_t attempt;             // the carried bytes are looked at again when there are this many
    int64_t offset;             // of the first byte that is neither scanned nor dropped

    mc_value *cells;
    int64_t *row_offsets;
    size_t row_count, row_capacity;
    int64_t rows_before;        // rows in earlier batches
};

mc_status mc_rows_open(const mc_rows_options *options, mc_rows **out, mc_error *error)
{
    *out = NULL;
    const char *const name = options->name != NULL ? options->name : "rows";
    if (options->row_bytes > ROW_BYTES_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "rows: rows of %zu bytes; %d is the most", options->row_bytes, ROW_BYTES_MAXIMUM);
    mc_rows *const rows = mc_allocate_zeroed(1, sizeof *rows);
    if (rows == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    mc_status status = mc_row_reader_init(&rows->reader, options, error);
    if (status != MC_OK)
        goto done;
    rows->sink = options->sink;
    rows->context = options->context;
    rows->row_bytes = options->row_bytes == 0 ? ROW_BYTES_DEFAULT : options->row_bytes;
    rows->carry.maximum = rows->row_bytes + GATHER_BYTES + 1;
    rows->attempt = GATHER_BYTES;
    rows->row_capacity = BATCH_CELLS / options->column_count;
    if (rows->row_capacity > BATCH_ROWS)
        rows->row_capacity = BATCH_ROWS;
    rows->cells = mc_allocate_zeroed(rows->row_capacity * options->column_count, sizeof *rows->cells);
    rows->row_offsets = mc_allocate_zeroed(rows->row_capacity, sizeof *rows->row_offsets);
    rows->name = mc_copy_text(name);
    if (rows->cells == NULL || rows->row_offsets == NULL || rows->name == NULL) {
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
        goto done;
    }
    *out = rows;

done:
    if (status != MC_OK)
        mc_rows_close(rows);
    return status;
}

void mc_rows_close(mc_rows *rows)
{
    if (rows == NULL)
        return;
    mc_row_reader_destroy(&rows->reader);
    mc_byte_buffer_free(&rows->carry);
    mc_free(rows->cells);
    mc_free(rows->row_offsets);
    mc_free(rows->name);
    mc_free(rows);
}

int64_t mc_rows_count(const mc_rows *rows)
{
    return rows->rows_before;
}

/// Hands the rows collected so far to the sink. Afterwards nothing points into the input or into `carry` any more.
static mc_status flush(mc_rows *rows, int64_t bytes, mc_error *error)
{
    if (rows->row_count == 0)
        return MC_OK;
    mc_status status = MC_OK;
    if (rows->sink != NULL) {
        const mc_row_batch batch = {
            .cells = rows->cells, .offsets = rows->row_offsets, .row_count = rows->row_count,
            .column_count = rows->reader.column_count, .first_row = rows->rows_before + 1, .bytes = bytes,
        };
        status = rows->sink(rows->context, &batch, error);
    }
    rows->rows_before += (int64_t)rows->row_count;
    rows->row_count = 0;
    mc_arena_reset(&rows->reader.arena);
    return status;
}

/// Reports what the row reader refused.
static mc_status fail_row(const mc_rows *rows, int64_t base, const uint8_t *start, const uint8_t *end, mc_error *error)
{
    const mc_row_reader *const reader = &rows->reader;
    const int64_t offset = base + (reader->at - start), row = rows->rows_before + (int64_t)rows->row_count + 1;
    char found[16];
    const char *const what = reader->found != NULL ? reader->found : mc_json_describe(reader->at, end, found, sizeof found);
    if (reader->column < reader->column_count)
        return mc_fail_at(error, reader->status, offset, row,
                          "import of \"%.80s\", row %lld, column \"%.80s\", byte %lld: expected %s, found %s", rows->name,
                          (long long)row, reader->columns[reader->column].rule.name, (long long)offset, reader->expected, what);
    return mc_fail_at(error, reader->status, offset, row, "import of \"%.80s\", row %lld, byte %lld: expected %s, found %s", rows->name,
                      (long long)row, (long long)offset, reader->expected, what);
}

/// Takes one character between rows; `*at` is moved behind it. A row's beginning is left where it is.
static const char *take_between(mc_rows *rows, const uint8_t **at)
{
    const uint8_t byte = **at;
    switch (rows->place) {
    case PLACE_START:
        if (byte != '[')
            return "'[' (an array of rows)";
        rows->place = PLACE_FIRST_ROW;
        break;
    case PLACE_FIRST_ROW:
        if (byte != ']')
            return "a row or ']'";
        rows->place = PLACE_END;
        break;
    case PLACE_ROW:
        return "a row";
    case PLACE_BEHIND_ROW:
        if (byte != ',' && byte != ']')
            return "',' or ']'";
        rows->place = byte == ',' ? PLACE_ROW : PLACE_END;
        break;
    case PLACE_END:
        return "nothing behind the rows";
    }
    (*at)++;
    return NULL;
}

/// Reads the row at `*at`. `*cut` is set where the bytes end inside of it.
static mc_status take_row(mc_rows *rows, const uint8_t **at, const uint8_t *start, const uint8_t *end, int64_t base, bool *cut,
                          mc_error *error)
{
    const uint8_t *const first = *at;
    // A row that is too long is refused at the same byte whether all of it is here or not.
    const bool bounded = (size_t)(end - first) > rows->row_bytes;
    const uint8_t *const limit = bounded ? first + rows->row_bytes : end;
    mc_value *const cells = rows->cells + rows->row_count * rows->reader.column_count;
    switch (mc_row_reader_read(&rows->reader, at, limit, cells)) {
    case MC_ROW_COMPLETE:
        rows->row_offsets[rows->row_count++] = base + (first - start);
        rows->place = PLACE_BEHIND_ROW;
        return rows->row_count < rows->row_capacity ? MC_OK : flush(rows, base + (*at - start), error);
    case MC_ROW_CUT:
        *cut = true;
        if (!bounded)
            return MC_OK;
        rows->reader.status = MC_ERROR_LIMIT;
        rows->reader.at = limit;
        rows->reader.expected = "the end of the row by now (its length is limited)";
        rows->reader.column = rows->reader.column_count;
        break;
    case MC_ROW_REFUSED:
        break;
    }
    // The rows before this one come first, and so does what is wrong with them.
    const mc_status status = flush(rows, base + (first - start), error);
    return status == MC_OK ? fail_row(rows, base, start, end, error) : status;
}

/// Scans from `start`, whose place in the input is `base`. `*behind` becomes the first byte that is still needed.
static mc_status scan(mc_rows *rows, const uint8_t *start, const uint8_t *end, int64_t base, const uint8_t **behind, mc_error *error)
{
    const uint8_t *at = start;
    bool cut = false;
    mc_status status = MC_OK;
    while (status == MC_OK && !cut) {
        at = mc_json_skip_blanks(at, end);
        if (at == end)
            break;
        const bool row_may_follow = rows->place == PLACE_FIRST_ROW || rows->place == PLACE_ROW;
        if (row_may_follow && (*at == '[' || *at == '{')) {
            status = take_row(rows, &at, start, end, base, &cut, error);
            continue;
        }
        const char *const expected = take_between(rows, &at);
        if (expected == NULL)
            continue;
        status = flush(rows, base + (at - start), error);
        if (status == MC_OK) {
            const int64_t offset = base + (at - start);
            char found[16];
            status = mc_fail_at(error, MC_ERROR_JSON, offset, 0, "import of \"%.80s\", byte %lld: expected %s, found %s", rows->name,
                                (long long)offset, expected, mc_json_describe(at, end, found, sizeof found));
        }
    }
    *behind = at;
    return status;
}

static mc_status fail_carry(mc_rows *rows, mc_status status, mc_error *error)
{
    return mc_fail(error, status, "import of \"%.80s\": no memory for a row cut by a chunk", rows->name);
}

/// Chooses when the carried bytes are looked at again.
static void plan_attempt(mc_rows *rows)
{
    const size_t length = rows->carry.length;
    // One byte more than a row may have decides in any case.
    const size_t most = rows->row_bytes + 1;
    size_t attempt = length > most / 2 ? most : length * 2;
    if (attempt < GATHER_BYTES)
        attempt = GATHER_BYTES;
    rows->attempt = attempt > length ? attempt : length + 1;
}

/// Scans the carried bytes, the last `fresh` of which are also the first ones of the chunk that is being pushed, and `*reread`
/// becomes the number of bytes of the chunk that were carried for nothing, to be scanned where they lie.
static mc_status scan_carry(mc_rows *rows, size_t fresh, size_t *reread, mc_error *error)
{
    const uint8_t *const start = rows->carry.bytes, *behind = start;
    mc_status status = scan(rows, start, start + rows->carry.length, rows->offset, &behind, error);
    if (status != MC_OK)
        return status;
    const size_t rest = rows->carry.length - (size_t)(behind - start);
    rows->offset += behind - start;
    *reread = 0;
    if (rest <= fresh) {
        // Cells may point into the carried bytes until the next flush: they are forgotten, but not overwritten before.
        *reread = rest;
        rows->carry.length = 0;
        return MC_OK;
    }
    status = flush(rows, rows->offset, error);
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
    status = scan(rows, at, end, rows->offset, &behind, error);
    if (status == MC_OK)
        status = flush(rows, rows->offset + (behind - at), error);
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
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": more input after its end or an error", rows->name);
    if (length == 0)
        return MC_OK;
    const mc_status status = push(rows, bytes, (const uint8_t *)bytes + length, error);
    rows->stopped = status != MC_OK;
    return status;
}

mc_status mc_rows_finish(mc_rows *rows, mc_error *error)
{
    if (rows->stopped)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": finished twice, or after an error", rows->name);
    rows->stopped = true;
    if (rows->carry.length > 0) {
        const uint8_t *const start = rows->carry.bytes, *behind = start;
        mc_status status = scan(rows, start, start + rows->carry.length, rows->offset, &behind, error);
        if (status == MC_OK)
            status = flush(rows, rows->offset + (behind - start), error);
        if (status != MC_OK)
            return status;
        rows->offset += (int64_t)rows->carry.length;
    }
    if (rows->place != PLACE_END)
        return mc_fail_at(error, MC_ERROR_TRUNCATED, rows->offset, 0, "import of \"%.80s\", byte %lld: the input ends in the middle",
                          rows->name, (long long)rows->offset);
    return MC_OK;
}
