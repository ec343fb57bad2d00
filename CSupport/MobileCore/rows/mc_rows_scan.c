/// mc_rows_scan.c: scans the text between rows, and the rows that are read as a whole.
#include <string.h>

#include "rows/mc_rows_state.h"

mc_status mc_rows_flush(mc_rows *rows, int64_t bytes, mc_error *error)
{
    if (rows->row_count == 0)
        return MC_OK;
    mc_rows_table *const current = rows->current;
    mc_status status = MC_OK;
    if (rows->sink != NULL) {
        const mc_row_batch batch = {
            .cells = rows->block.cells,
            .offsets = rows->block.offsets,
            .row_count = rows->row_count,
            .column_count = current->reader.column_count,
            .member = (size_t)(current - rows->members),
            .first_row = current->rows_before + 1,
            .bytes = bytes,
        };
        status = rows->sink(rows->context, &batch, error);
    }
    current->rows_before += (int64_t)rows->row_count;
    rows->rows_before += (int64_t)rows->row_count;
    rows->row_count = 0;
    mc_arena_reset(&rows->block.arena);
    return status;
}

mc_status mc_rows_fail(const mc_rows *rows, const mc_rows_text *text, mc_error *error)
{
    const mc_row_reader *const reader = &rows->current->reader;
    const mc_cell_reader *const cell = &reader->cell;
    const int64_t offset = mc_rows_offset(text, cell->at), row = rows->current->rows_before + (int64_t)rows->row_count + 1;
    char found[16];
    const char *const what = cell->found != NULL ? cell->found : mc_json_describe(cell->at, text->end, found, sizeof found);
    if (reader->column < reader->column_count)
        return mc_fail_at(error, cell->status, offset, row,
                          "import of \"%.80s\", row %lld, column \"%.80s\", byte %lld: expected %s, found %s", rows->current->name,
                          (long long)row, reader->columns[reader->column].rule.name, (long long)offset, cell->expected, what);
    return mc_fail_at(error, cell->status, offset, row, "import of \"%.80s\", row %lld, byte %lld: expected %s, found %s",
                      rows->current->name, (long long)row, (long long)offset, cell->expected, what);
}

mc_status mc_rows_fail_length(mc_rows *rows, const mc_rows_text *text, const uint8_t *limit, mc_error *error)
{
    mc_row_reader *const reader = &rows->current->reader;
    reader->cell.status = MC_ERROR_LIMIT;
    reader->cell.at = limit;
    reader->cell.expected = "the end of the row by now (its length is limited)";
    reader->cell.found = NULL;
    reader->column = reader->column_count;
    return mc_rows_fail(rows, text, error);
}

/// Takes one character between rows and moves `*at` to the next one. The beginning of a row or a member is not taken. Returns the
/// expected text if the character is another one.
static const char *take_between(mc_rows *rows, const uint8_t **at)
{
    const uint8_t byte = **at;
    mc_rows_place next = rows->place;
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
    case PLACE_MEMBER: return "the name of a table";
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
    case PLACE_LARGE:  // never between rows
    case PLACE_BEHIND_LARGE: return "a row";
    case PLACE_BEHIND_ROW:
        next = byte == ',' ? PLACE_ROW : rows->is_object ? PLACE_BEHIND_ROWS : PLACE_END;
        expected = byte == ',' || byte == ']' ? NULL : "',' or ']'";
        break;
    case PLACE_END: return "nothing after the rows";
    }
    if (expected != NULL)
        return expected;
    rows->place = next;
    (*at)++;
    return NULL;
}

/// The member with this name; NULL if there is none.
static mc_rows_table *find_member(mc_rows *rows, const uint8_t *name, size_t length)
{
    for (mc_rows_table *member = rows->members; member < rows->members + rows->member_count; member++) {
        if (member->name_length == length && memcmp(member->name, name, length) == 0)
            return member;
    }
    return NULL;
}

/// Reads the name of a member at `*at`, after its opening quote. If it cannot be read, `stop` has the reason.
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
    mc_rows_table *const found = find_member(rows, name, length);
    if (found == NULL) {
        (void)mc_json_stop_at(stop, *at - 1, end, "the name of a table that is imported");
        return MC_OK;
    }
    rows->current = found;
    rows->place = PLACE_COLON;
    *at = quote + 1;
    return MC_OK;
}

/// Takes the name of a member. The rows before it go to the sink, because they belong to another member.
static mc_status take_member(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error)
{
    mc_status status = mc_rows_flush(rows, mc_rows_offset(text, *at), error);
    if (status != MC_OK)
        return status;
    const bool bounded = (size_t)(text->end - *at) > rows->row_bytes;
    const uint8_t *const limit = bounded ? *at + rows->row_bytes : text->end;
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
    const int64_t offset = mc_rows_offset(text, stop.at);
    char found[MC_JSON_NAME_SHOWN];
    if (stop.expected == NULL)
        return mc_fail_at(error, MC_ERROR_LIMIT, offset, 0, "import, byte %lld: expected the end of a name by now", (long long)offset);
    const bool unknown = stop.at == *at;
    return mc_fail_at(error, unknown ? MC_ERROR_TYPE : MC_ERROR_JSON, offset, 0, "import, byte %lld: expected %s, found %s",
                      (long long)offset, stop.expected,
                      unknown ? mc_json_quote_name(stop.at, text->end, "", found)
                              : mc_json_describe(stop.at, text->end, found, sizeof found));
}

/// Reads the row at `*at`. `*cut` is set if the bytes end inside of it.
static mc_status take_row(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error)
{
    const uint8_t *const first = *at;
    // A row that is too long is refused at the same byte whether all its bytes have arrived or not.
    const bool bounded = (size_t)(text->end - first) > rows->row_bytes;
    const uint8_t *const limit = bounded ? first + rows->row_bytes : text->end;
    mc_row_reader *const reader = &rows->current->reader;
    mc_value *const cells = rows->block.cells + rows->row_count * reader->column_count;
    const mc_row_outcome outcome = mc_row_reader_read(reader, at, limit, cells);
    if (outcome == MC_ROW_COMPLETE) {
        rows->block.offsets[rows->row_count++] = mc_rows_offset(text, first);
        rows->place = PLACE_BEHIND_ROW;
        return rows->row_count < rows->current->row_capacity ? MC_OK : mc_rows_flush(rows, mc_rows_offset(text, *at), error);
    }
    *cut = outcome == MC_ROW_CUT;
    if (*cut && !bounded)
        return MC_OK;
    // The rows before this one are handed over first, and their errors are reported first.
    if (outcome == MC_ROW_LARGE || (*cut && reader->cell.large != NULL)) {
        *cut = false;
        return mc_rows_begin_large(rows, text, first, at, error);
    }
    const mc_status status = mc_rows_flush(rows, mc_rows_offset(text, first), error);
    if (status != MC_OK)
        return status;
    return *cut ? mc_rows_fail_length(rows, text, limit, error) : mc_rows_fail(rows, text, error);
}

/// Takes text between rows and names of members. `*cut` is set if the bytes end in it.
static mc_status take_other(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error)
{
    if ((rows->place == PLACE_FIRST_MEMBER || rows->place == PLACE_MEMBER) && **at == '"')
        return take_member(rows, text, at, cut, error);
    const char *const expected = take_between(rows, at);
    if (expected == NULL)
        return MC_OK;
    const mc_status status = mc_rows_flush(rows, mc_rows_offset(text, *at), error);
    if (status != MC_OK)
        return status;
    const int64_t offset = mc_rows_offset(text, *at);
    char found[16];
    return mc_fail_at(error, MC_ERROR_JSON, offset, 0, "import of \"%.80s\", byte %lld: expected %s, found %s", rows->current->name,
                      (long long)offset, expected, mc_json_describe(*at, text->end, found, sizeof found));
}

mc_status mc_rows_scan(mc_rows *rows, const mc_rows_text *text, const uint8_t **behind, mc_error *error)
{
    const uint8_t *at = text->start;
    bool cut = false;
    mc_status status = MC_OK;
    while (status == MC_OK && !cut) {
        if (rows->place == PLACE_LARGE) {
            status = mc_rows_take_part(rows, text, &at, &cut, error);
            continue;
        }
        at = mc_json_skip_blanks(at, text->end);
        if (at == text->end)
            break;
        const bool row_may_follow = rows->place == PLACE_FIRST_ROW || rows->place == PLACE_ROW;
        if (row_may_follow && (*at == '[' || *at == '{'))
            status = take_row(rows, text, &at, &cut, error);
        else if (rows->place == PLACE_BEHIND_LARGE)
            status = mc_rows_take_rest(rows, text, &at, &cut, error);
        else
            status = take_other(rows, text, &at, &cut, error);
    }
    *behind = at;
    return status;
}
