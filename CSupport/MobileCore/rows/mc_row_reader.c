#include "rows/mc_row_reader.h"

#include <string.h>

#include "base/mc_memory.h"

enum { DEPTH_DEFAULT = 32, COLUMNS_MAXIMUM = 2000 };

static int compare_names(const char *left, size_t left_length, const char *right, size_t right_length)
{
    if (left_length != right_length)
        return left_length < right_length ? -1 : 1;
    return memcmp(left, right, left_length);
}

/// Sorts the columns by their names. Few columns, once per scanner: insertion is enough.
static mc_status sort_names(mc_row_reader *reader, mc_error *error)
{
    for (uint32_t index = 0; index < reader->column_count; index++) {
        const mc_row_column *const column = &reader->columns[index];
        size_t place = index;
        for (; place > 0; place--) {
            const mc_row_column *const before = &reader->columns[reader->by_name[place - 1]];
            const int order = compare_names(before->rule.name, before->name_length, column->rule.name, column->name_length);
            if (order == 0)
                return mc_fail(error, MC_ERROR_MISUSE, "rows: the column \"%.80s\" is named twice", column->rule.name);
            if (order < 0)
                break;
            reader->by_name[place] = reader->by_name[place - 1];
        }
        reader->by_name[place] = index;
    }
    return MC_OK;
}

static mc_status check_column(const mc_column *column, mc_error *error)
{
    if ((unsigned)column->type > MC_COLUMN_LARGE_BLOB)
        return mc_fail(error, MC_ERROR_MISUSE, "rows, column \"%.80s\": there is no type %d", column->name, (int)column->type);
    if (column->type == MC_COLUMN_DECIMAL
        && (column->precision < 1 || column->precision > MC_DECIMAL_PRECISION_MAXIMUM || column->scale > column->precision))
        return mc_fail(error, MC_ERROR_MISUSE, "rows, column \"%.80s\": decimal(%u,%u); use a precision of 1 to %d, and a scale up to it",
                       column->name, column->precision, column->scale, MC_DECIMAL_PRECISION_MAXIMUM);
    return MC_OK;
}

mc_status mc_row_reader_init(mc_row_reader *reader, const mc_column *columns, size_t column_count, unsigned depth, mc_error *error)
{
    *reader = (mc_row_reader){.cell.depth = depth == 0 ? DEPTH_DEFAULT : depth};
    if (column_count < 1 || column_count > COLUMNS_MAXIMUM)
        return mc_fail(error, MC_ERROR_MISUSE, "rows: %zu columns; use 1 to %d", column_count, COLUMNS_MAXIMUM);
    if (reader->cell.depth > MC_JSON_DEPTH_LIMIT)
        return mc_fail(error, MC_ERROR_MISUSE, "rows: a depth of %u; %d is the most", reader->cell.depth, MC_JSON_DEPTH_LIMIT);
    reader->columns = mc_allocate_zeroed(column_count, sizeof *reader->columns);
    reader->by_name = mc_allocate_zeroed(column_count, sizeof *reader->by_name);
    if (reader->columns == NULL || reader->by_name == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory for the columns");
    for (; reader->column_count < column_count; reader->column_count++) {
        const mc_column *const from = &columns[reader->column_count];
        const mc_status status = check_column(from, error);
        if (status != MC_OK)
            return status;
        mc_row_column *const to = &reader->columns[reader->column_count];
        to->rule = *from;
        to->bound = mc_row_cell_bound(from);
        to->name_length = strlen(from->name);
        char *const name = mc_allocate(to->name_length + 1);
        if (name == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "rows: no memory for the columns");
        memcpy(name, from->name, to->name_length + 1);
        to->rule.name = name;
    }
    return sort_names(reader, error);
}

void mc_row_reader_destroy(mc_row_reader *reader)
{
    for (size_t index = 0; index < reader->column_count; index++)
        mc_free((void *)(uintptr_t)reader->columns[index].rule.name);
    mc_free(reader->columns);
    mc_free(reader->by_name);
}

static const uint8_t *expect(mc_row_reader *reader, const uint8_t *at, const uint8_t *end, const char *expected, mc_row_outcome *outcome)
{
    mc_json_stop stop;
    (void)mc_json_stop_at(&stop, at, end, expected);
    return mc_row_stopped(&reader->cell, &stop, outcome);
}

/// Reads the values of a row in the order of the columns: from the value of `index` on or, if `behind`, from the position after it.
static inline const uint8_t *read_array(mc_row_reader *reader, size_t index, bool behind, const uint8_t *at, const uint8_t *end,
                                        mc_value *cells, mc_row_outcome *outcome)
{
    const size_t count = reader->column_count;
    for (;; index++, behind = false) {
        reader->column = index;
        at = mc_json_skip_blanks(at, end);
        if (!behind) {
            if (index == 0 && at < end && *at == ']')
                return mc_row_refuse(&reader->cell, MC_ERROR_TYPE, at, "a value for each column", "the end of the row", outcome);
            const mc_row_column *const column = &reader->columns[index];
            const uint8_t *const short_end = mc_row_cell_read_short(column, at, end, &cells[index]);
            at = short_end != NULL ? short_end : mc_row_cell_read(&reader->cell, column, at, end, &cells[index], outcome);
            if (at == NULL)
                return NULL;
            at = mc_json_skip_blanks(at, end);
        }
        if (index + 1 == count)
            break;
        if (at < end && *at == ',') {
            at++;
            continue;
        }
        if (at < end && *at == ']') {
            reader->column = index + 1;
            return mc_row_refuse(&reader->cell, MC_ERROR_TYPE, at, "a value for each column", "the end of the row", outcome);
        }
        return expect(reader, at, end, "','", outcome);
    }
    reader->column = count;
    if (at < end && *at == ']')
        return at + 1;
    if (at < end && *at == ',')
        return mc_row_refuse(&reader->cell, MC_ERROR_TYPE, at, "the end of the row", "more values than columns", outcome);
    return expect(reader, at, end, "']'", outcome);
}

/// The number of the column with this name; `column_count` if there is none. `guess` is checked first: most senders keep
/// one order of members.
static size_t find_column(const mc_row_reader *reader, const char *name, size_t length, size_t guess)
{
    const mc_row_column *const columns = reader->columns;
    if (guess < reader->column_count && compare_names(columns[guess].rule.name, columns[guess].name_length, name, length) == 0)
        return guess;
    size_t low = 0, high = reader->column_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const mc_row_column *const column = &columns[reader->by_name[middle]];
        const int order = compare_names(column->rule.name, column->name_length, name, length);
        if (order == 0)
            return reader->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return reader->column_count;
}

/// Refuses the name at `key` and shows it, followed by `after`.
static const uint8_t *refuse_name(mc_row_reader *reader, mc_status status, const uint8_t *key, const uint8_t *end, const char *expected,
                                  const char *after, mc_row_outcome *outcome)
{
    char *const shown = (char *)mc_arena_take(reader->cell.arena, MC_JSON_NAME_SHOWN);
    const char *const found = shown != NULL ? mc_json_quote_name(key, end, after, shown) : "another name";
    return mc_row_refuse(&reader->cell, status, key, expected, found, outcome);
}

/// Reads the key at `at` and the following colon, and sets `reader->column`.
static const uint8_t *read_key(mc_row_reader *reader, const uint8_t *at, const uint8_t *end, const char *expected, size_t guess,
                               const mc_value *cells, mc_row_outcome *outcome)
{
    const uint8_t *const key = at;
    if (at == end || *at != '"')
        return expect(reader, at, end, expected, outcome);
    mc_json_stop stop;
    bool escaped = false;
    const uint8_t *text = at + 1;
    at = mc_json_string_end(text, end, &escaped, &stop);
    if (at == NULL)
        return mc_row_stopped(&reader->cell, &stop, outcome);
    size_t length = (size_t)(at - text);
    if (escaped) {
        uint8_t *const copy = mc_arena_take(reader->cell.arena, mc_json_unescape_room(length));
        if (copy == NULL)
            return mc_row_refuse(&reader->cell, MC_ERROR_NO_MEMORY, key, "memory for a key", "none", outcome);
        length = mc_json_unescape(text, length, copy);
        text = copy;
    }
    reader->column = find_column(reader, (const char *)text, length, guess);
    if (reader->column == reader->column_count)
        return refuse_name(reader, MC_ERROR_TYPE, key, end, "the name of a column", "", outcome);
    if (cells[reader->column].kind != MC_CELL_MISSING)
        return refuse_name(reader, MC_ERROR_JSON, key, end, "each column once", " twice", outcome);
    at = mc_json_skip_blanks(at + 1, end);
    if (at == end || *at != ':')
        return expect(reader, at, end, "':'", outcome);
    return mc_json_skip_blanks(at + 1, end);
}

/// Sets the columns that the row leaves out to null; `brace` is its end.
static const uint8_t *fill_missing(mc_row_reader *reader, const uint8_t *brace, mc_value *cells, mc_row_outcome *outcome)
{
    for (size_t index = 0; index < reader->column_count; index++) {
        if (cells[index].kind != MC_CELL_MISSING)
            continue;
        if (reader->columns[index].rule.required) {
            reader->column = index;
            return mc_row_refuse(&reader->cell, MC_ERROR_TYPE, brace, "a value", "the end of the row", outcome);
        }
        cells[index].kind = MC_VALUE_NULL;
    }
    return brace + 1;
}

/// Reads the values of a row under the names of the columns: from a key on or, if `behind`, from the position after a value.
/// `guess` is the column that probably comes first.
static const uint8_t *read_object(mc_row_reader *reader, size_t guess, bool behind, const uint8_t *at, const uint8_t *end, mc_value *cells,
                                  mc_row_outcome *outcome)
{
    for (;; guess = reader->column + 1, behind = false) {
        if (!behind) {
            at = read_key(reader, at, end, guess == 0 ? "a key or '}'" : "a key", guess, cells, outcome);
            if (at == NULL)
                return NULL;
            at = mc_row_cell_read(&reader->cell, &reader->columns[reader->column], at, end, &cells[reader->column], outcome);
            if (at == NULL)
                return NULL;
        }
        at = mc_json_skip_blanks(at, end);
        if (at < end && *at == '}')
            return fill_missing(reader, at, cells, outcome);
        if (at == end || *at != ',')
            return expect(reader, at, end, "',' or '}'", outcome);
        at = mc_json_skip_blanks(at + 1, end);
    }
}

/// Begins a row object; `at` is after its brace.
static const uint8_t *begin_object(mc_row_reader *reader, const uint8_t *at, const uint8_t *end, mc_value *cells, mc_row_outcome *outcome)
{
    for (size_t index = 0; index < reader->column_count; index++)
        cells[index].kind = MC_CELL_MISSING;
    at = mc_json_skip_blanks(at, end);
    return at < end && *at == '}' ? fill_missing(reader, at, cells, outcome) : read_object(reader, 0, false, at, end, cells, outcome);
}

mc_row_outcome mc_row_reader_read(mc_row_reader *reader, const uint8_t **at, const uint8_t *end, mc_value *cells)
{
    mc_row_outcome outcome = MC_ROW_COMPLETE;
    reader->column = reader->column_count;
    reader->cell.large = NULL;
    const uint8_t *const behind =
        **at == '[' ? read_array(reader, 0, false, *at + 1, end, cells, &outcome) : begin_object(reader, *at + 1, end, cells, &outcome);
    if (behind != NULL)
        *at = behind;
    return outcome;
}

mc_row_outcome mc_row_reader_resume(mc_row_reader *reader, bool is_object, size_t column, const uint8_t **at, const uint8_t *end,
                                    mc_value *cells)
{
    mc_row_outcome outcome = MC_ROW_COMPLETE;
    reader->column = column;
    reader->cell.large = NULL;
    const uint8_t *const behind = is_object ? read_object(reader, column, true, *at, end, cells, &outcome)
                                            : read_array(reader, column, true, *at, end, cells, &outcome);
    if (behind != NULL)
        *at = behind;
    return outcome;
}
