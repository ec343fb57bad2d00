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
#include "json/mc_rows_internal.h"

enum {
    GATHER_BYTES = 16 * 1024,   // smaller chunks are gathered until they are worth a batch
    BATCH_CELLS = 4096,         // 64 KB: cells, and the text they point at, stay in a processor's second-level cache
    BATCH_ROWS = 1024,
    MEMBERS_MAXIMUM = 1000,
    ROW_BYTES_DEFAULT = 16 * 1024 * 1024,
    ROW_BYTES_MAXIMUM = 1000 * 1000 * 1000,
};

/// What may come next between rows.
typedef enum place {
    PLACE_START,
    PLACE_FIRST_MEMBER,
    PLACE_MEMBER,
    PLACE_COLON,
    PLACE_ROWS,
    PLACE_BEHIND_ROWS,
    PLACE_FIRST_ROW,
    PLACE_ROW,
    PLACE_BEHIND_ROW,
    PLACE_END
} place;

/// What is known of one member; an input that is one array has one without a key.
typedef struct member {
    mc_row_reader reader;
    char *name;
    size_t name_length;
    size_t row_capacity;        // of a batch
    int64_t rows_before;        // in earlier batches
} member;

struct mc_rows {
    member *members;
    size_t member_count;
    bool is_object;
    member *current;
    mc_rows_sink sink;
    void *context;
    size_t row_bytes;

    place place;
    bool stopped;               // finished, or an error was reported
    mc_byte_buffer carry;
    size_t attempt;             // the carried bytes are looked at again when there are this many
    int64_t offset;             // of the first byte that is neither scanned nor dropped

    mc_row_block block;         // what the rows collected so far lie in
    size_t row_count;
    size_t cell_capacity, row_capacity;
    int64_t rows_before;        // rows of all members in earlier batches
};

static mc_status open_member(mc_rows *rows, const mc_rows_member *from, unsigned depth, mc_error *error)
{
    member *const to = &rows->members[rows->member_count++];
    const mc_status status = mc_row_reader_init(&to->reader, from->columns, from->column_count, depth, error);
    if (status != MC_OK)
        return status;
    to->reader.arena = &rows->block.arena;
    to->name = mc_copy_text(from->name);
    if (to->name == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    to->name_length = strlen(to->name);
    for (const member *other = rows->members; other < to; other++) {
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
        .name = options->name != NULL ? options->name : "rows", .columns = options->columns, .column_count = options->column_count,
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
    mc_status status = open_members(rows, options, error);
    if (status == MC_OK && !mc_row_block_init(&rows->block, rows))
        status = mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory");
    if (status != MC_OK)
        goto done;
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
    for (size_t index = 0; index < rows->member_count; index++) {
        mc_row_reader_destroy(&rows->members[index].reader);
        mc_free(rows->members[index].name);
    }
    mc_free(rows->members);
    mc_byte_buffer_free(&rows->carry);
    mc_row_block_free(&rows->block);
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

/// Hands the rows collected so far to the sink. Afterwards nothing points into the input or into `carry` any more.
static mc_status flush(mc_rows *rows, int64_t bytes, mc_error *error)
{
    if (rows->row_count == 0)
        return MC_OK;
    member *const current = rows->current;
    mc_status status = MC_OK;
    if (rows->sink != NULL) {
        const mc_row_batch batch = {
            .cells = rows->block.cells, .offsets = rows->block.offsets, .row_count = rows->row_count,
            .column_count = current->reader.column_count, .member = (size_t)(current - rows->members),
            .first_row = current->rows_before + 1, .bytes = bytes,
        };
        status = rows->sink(rows->context, &batch, error);
    }
    current->rows_before += (int64_t)rows->row_count;
    rows->rows_before += (int64_t)rows->row_count;
    rows->row_count = 0;
    mc_arena_reset(&rows->block.arena);
    return status;
}

/// Reports what the row reader refused.
static mc_status fail_row(const mc_rows *rows, int64_t base, const uint8_t *start, const uint8_t *end, mc_error *error)
{
    const mc_row_reader *const reader = &rows->current->reader;
    const int64_t offset = base + (reader->at - start), row = rows->current->rows_before + (int64_t)rows->row_count + 1;
    char found[16];
    const char *const what = reader->found != NULL ? reader->found : mc_json_describe(reader->at, end, found, sizeof found);
    if (reader->column < reader->column_count)
        return mc_fail_at(error, reader->status, offset, row,
                          "import of \"%.80s\", row %lld, column \"%.80s\", byte %lld: expected %s, found %s", rows->current->name,
                          (long long)row, reader->columns[reader->column].rule.name, (long long)offset, reader->expected, what);
    return mc_fail_at(error, reader->status, offset, row, "import of \"%.80s\", row %lld, byte %lld: expected %s, found %s", rows->current->name,
                      (long long)row, (long long)offset, reader->expected, what);
}

/// Takes one character between rows; `*at` is moved behind it. A row's or a member's beginning is left where it is. Returns what
/// was expected where something else is there.
static const char *take_between(mc_rows *rows, const uint8_t **at)
{
    const uint8_t byte = **at;
    place next = rows->place;
    const char *expected = NULL;
    switch (rows->place) {
    case PLACE_START:
        next = rows->is_object ? PLACE_FIRST_MEMBER : PLACE_FIRST_ROW;
        expected = byte == (rows->is_object ? '{' : '[') ? NULL : rows->is_object ? "'{' (an object of tables)" : "'[' (an array of rows)";
        break;
    case PLACE_FIRST_MEMBER:
        next = PLACE_END;
        expected = byte == '}' ? NULL : "the name of a table or '}'";
        break;
    case PLACE_MEMBER:
        return "the name of a table";
    case PLACE_COLON:
        next = PLACE_ROWS;
        expected = byte == ':' ? NULL : "':'";
        break;
    case PLACE_ROWS:
        next = PLACE_FIRST_ROW;
        expected = byte == '[' ? NULL : "'[' (an array of rows)";
        break;
    case PLACE_BEHIND_ROWS:
        next = byte == ',' ? PLACE_MEMBER : PLACE_END;
        expected = byte == ',' || byte == '}' ? NULL : "',' or '}'";
        break;
    case PLACE_FIRST_ROW:
        next = rows->is_object ? PLACE_BEHIND_ROWS : PLACE_END;
        expected = byte == ']' ? NULL : "a row or ']'";
        break;
    case PLACE_ROW:
        return "a row";
    case PLACE_BEHIND_ROW:
        next = byte == ',' ? PLACE_ROW : rows->is_object ? PLACE_BEHIND_ROWS : PLACE_END;
        expected = byte == ',' || byte == ']' ? NULL : "',' or ']'";
        break;
    case PLACE_END:
        return "nothing behind the rows";
    }
    if (expected != NULL)
        return expected;
    rows->place = next;
    (*at)++;
    return NULL;
}

/// The member with this name; NULL where there is none.
static member *find_member(mc_rows *rows, const uint8_t *name, size_t length)
{
    for (member *member = rows->members; member < rows->members + rows->member_count; member++) {
        if (member->name_length == length && memcmp(member->name, name, length) == 0)
            return member;
    }
    return NULL;
}

/// Reads the name of a member at `*at`, behind its opening quote. `stop` tells why it cannot be read.
static mc_status read_member(mc_rows *rows, const uint8_t **at, const uint8_t *end, mc_json_stop *stop, mc_error *error)
{
    const uint8_t *name = *at;
    bool escaped = false;
    const uint8_t *const quote = mc_json_string_end(name, end, &escaped, stop);
    if (quote == NULL)
        return MC_OK;
    size_t length = (size_t)(quote - name);
    if (escaped) {
        uint8_t *const copy = mc_arena_take(&rows->block.arena, mc_json_unescape_room(length));
        if (copy == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory for the name of a table");
        length = mc_json_unescape(name, length, copy);
        name = copy;
    }
    member *const found = find_member(rows, name, length);
    if (found == NULL) {
        (void)mc_json_stop_at(stop, *at - 1, end, "the name of a table that is imported");
        return MC_OK;
    }
    rows->current = found;
    rows->place = PLACE_COLON;
    *at = quote + 1;
    return MC_OK;
}

/// Takes the name of a member; the rows before it go to the sink, they belong to another one.
static mc_status take_member(mc_rows *rows, const uint8_t **at, const uint8_t *start, const uint8_t *end, int64_t base, bool *cut,
                             mc_error *error)
{
    mc_status status = flush(rows, base + (*at - start), error);
    if (status != MC_OK)
        return status;
    const bool bounded = (size_t)(end - *at) > rows->row_bytes;
    const uint8_t *const limit = bounded ? *at + rows->row_bytes : end;
    const uint8_t *behind = *at + 1;
    mc_json_stop stop = {0};
    status = read_member(rows, &behind, limit, &stop, error);
    if (status != MC_OK)
        return status;
    if (stop.at == NULL) {
        *at = behind;
        return MC_OK;
    }
    *cut = stop.expected == NULL;
    if (*cut && !bounded)
        return MC_OK;
    const int64_t offset = base + (stop.at - start);
    char found[16];
    if (stop.expected == NULL)
        return mc_fail_at(error, MC_ERROR_LIMIT, offset, 0, "import, byte %lld: expected the end of a name by now", (long long)offset);
    const bool unknown = stop.at == *at;
    return mc_fail_at(error, unknown ? MC_ERROR_TYPE : MC_ERROR_JSON, offset, 0, "import, byte %lld: expected %s, found %s", (long long)offset,
                      stop.expected, unknown ? "another one" : mc_json_describe(stop.at, end, found, sizeof found));
}

/// Reads the row at `*at`. `*cut` is set where the bytes end inside of it.
static mc_status take_row(mc_rows *rows, const uint8_t **at, const uint8_t *start, const uint8_t *end, int64_t base, bool *cut,
                          mc_error *error)
{
    const uint8_t *const first = *at;
    // A row that is too long is refused at the same byte whether all of it is here or not.
    const bool bounded = (size_t)(end - first) > rows->row_bytes;
    const uint8_t *const limit = bounded ? first + rows->row_bytes : end;
    mc_row_reader *const reader = &rows->current->reader;
    mc_value *const cells = rows->block.cells + rows->row_count * reader->column_count;
    switch (mc_row_reader_read(reader, at, limit, cells)) {
    case MC_ROW_COMPLETE:
        rows->block.offsets[rows->row_count++] = base + (first - start);
        rows->place = PLACE_BEHIND_ROW;
        return rows->row_count < rows->current->row_capacity ? MC_OK : flush(rows, base + (*at - start), error);
    case MC_ROW_CUT:
        *cut = true;
        if (!bounded)
            return MC_OK;
        reader->status = MC_ERROR_LIMIT;
        reader->at = limit;
        reader->expected = "the end of the row by now (its length is limited)";
        reader->column = reader->column_count;
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
        if ((rows->place == PLACE_FIRST_MEMBER || rows->place == PLACE_MEMBER) && *at == '"') {
            status = take_member(rows, &at, start, end, base, &cut, error);
            continue;
        }
        const char *const expected = take_between(rows, &at);
        if (expected == NULL)
            continue;
        status = flush(rows, base + (at - start), error);
        if (status == MC_OK) {
            const int64_t offset = base + (at - start);
            char found[16];
            status = mc_fail_at(error, MC_ERROR_JSON, offset, 0, "import of \"%.80s\", byte %lld: expected %s, found %s", rows->current->name,
                                (long long)offset, expected, mc_json_describe(at, end, found, sizeof found));
        }
    }
    *behind = at;
    return status;
}

static mc_status fail_carry(mc_rows *rows, mc_status status, mc_error *error)
{
    return mc_fail(error, status, "import of \"%.80s\": no memory for a row cut by a chunk", rows->current->name);
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
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": more input after its end or an error", rows->current->name);
    if (length == 0)
        return MC_OK;
    const mc_status status = push(rows, bytes, (const uint8_t *)bytes + length, error);
    rows->stopped = status != MC_OK;
    return status;
}

mc_status mc_rows_finish(mc_rows *rows, mc_error *error)
{
    if (rows->stopped)
        return mc_fail(error, MC_ERROR_MISUSE, "import of \"%.80s\": finished twice, or after an error", rows->current->name);
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
                          rows->current->name, (long long)rows->offset);
    return MC_OK;
}
