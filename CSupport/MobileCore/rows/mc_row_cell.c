#include "rows/mc_row_cell.h"

#include "rows/mc_iso8601.h"
#include "json/mc_base64.h"
#include "json/mc_json_bytes.h"

const uint8_t *mc_row_refuse(mc_cell_reader *reader, mc_status status, const uint8_t *at, const char *expected, const char *found,
                             mc_row_outcome *outcome)
{
    reader->status = status;
    reader->at = at;
    reader->expected = expected;
    reader->found = found;
    *outcome = MC_ROW_REFUSED;
    return NULL;
}

const uint8_t *mc_row_stopped(mc_cell_reader *reader, const mc_json_stop *stop, mc_row_outcome *outcome)
{
    if (stop->expected == NULL) {
        *outcome = MC_ROW_CUT;
        return NULL;
    }
    return mc_row_refuse(reader, stop->too_deep ? MC_ERROR_LIMIT : MC_ERROR_JSON, stop->at, stop->expected, NULL, outcome);
}

/// The values that a column takes, for "expected a number".
static const char *expectation(const mc_column *rule)
{
    switch (rule->type) {
    case MC_COLUMN_INTEGER: return "an integer";
    case MC_COLUMN_DECIMAL:
    case MC_COLUMN_REAL: return "a number";
    case MC_COLUMN_BOOLEAN: return "true or false";
    case MC_COLUMN_TEXT: return "a string";
    case MC_COLUMN_LARGE_TEXT: return "a string";
    case MC_COLUMN_BLOB:
    case MC_COLUMN_LARGE_BLOB: return "a string in base64";
    case MC_COLUMN_DATE: return "a date (\"2026-05-17\")";
    case MC_COLUMN_TIME: return "a time (\"10:00:00\")";
    case MC_COLUMN_DATE_TIME: return "a date and time in UTC (\"2026-05-17T10:00:00.000Z\")";
    case MC_COLUMN_ANY: break;
    }
    return "a value";
}

static const uint8_t *refuse_type(mc_cell_reader *reader, const mc_column *rule, const uint8_t *at, const char *found,
                                  mc_row_outcome *outcome)
{
    return mc_row_refuse(reader, MC_ERROR_TYPE, at, expectation(rule), found, outcome);
}

static const uint8_t *refuse_memory(mc_cell_reader *reader, const uint8_t *at, mc_row_outcome *outcome)
{
    return mc_row_refuse(reader, MC_ERROR_NO_MEMORY, at, "memory for a value", "none", outcome);
}

static inline void set_bytes(mc_value *cell, mc_value_kind kind, const uint8_t *bytes, size_t length)
{
    cell->value.bytes = (const char *)bytes;
    cell->length = (uint32_t)length;
    cell->kind = (uint8_t)kind;
}

static bool takes_strings(mc_column_type type)
{
    return type == MC_COLUMN_ANY || type >= MC_COLUMN_TEXT;
}

/// Checks a text by the rule of its column. `*has_memory` becomes false if there is no memory for the result.
static bool check_text(mc_cell_reader *reader, mc_column_type type, mc_value *cell, bool *has_memory)
{
    const uint8_t *const text = (const uint8_t *)cell->value.bytes;
    if (type == MC_COLUMN_DATE)
        return mc_iso8601_is_date(text, cell->length);
    if (type == MC_COLUMN_TIME)
        return mc_iso8601_is_time(text, cell->length);
    if (type != MC_COLUMN_DATE_TIME)
        return true;
    if (!mc_iso8601_is_date_time(text, cell->length))
        return false;
    if (mc_iso8601_is_stored(text, cell->length))
        return true;
    uint8_t *const stored = mc_arena_take(reader->arena, MC_ISO8601_STORED);
    *has_memory = stored != NULL;
    if (stored == NULL)
        return false;
    mc_iso8601_store(text, cell->length, stored);
    set_bytes(cell, MC_VALUE_TEXT, stored, MC_ISO8601_STORED);
    return true;
}

const uint8_t *mc_row_refuse_base64(mc_cell_reader *reader, const uint8_t *text, size_t index, mc_row_outcome *outcome)
{
    // The bytes before it are ASCII, each one byte or an escape.
    for (; index > 0; index--)
        text += *text != '\\' ? 1 : text[1] == 'u' ? 6 : 2;
    return mc_row_refuse(reader, MC_ERROR_TYPE, text, "a character of base64", NULL, outcome);
}

/// Reads a large value that is short enough for a cell. Its errors are reported as if it came in parts.
static const uint8_t *read_large(mc_cell_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                 mc_row_outcome *outcome)
{
    const bool decides = end - at > MC_ROW_LARGE_CELL + 1;  // with both quotes it would be too long
    const uint8_t *const text = at + 1, *const limit = decides ? text + MC_ROW_LARGE_CELL + 1 : end;
    mc_json_stop stop;
    bool escaped = false;
    const uint8_t *const quote = mc_json_string_end(text, limit, &escaped, &stop);
    const bool cut = quote == NULL && stop.expected == NULL;
    reader->large = at;
    if (cut) {
        *outcome = decides ? MC_ROW_LARGE : MC_ROW_CUT;
        return NULL;
    }
    size_t length = (size_t)((quote != NULL ? quote : stop.whole) - text);
    const uint8_t *bytes = text;
    if (escaped) {
        uint8_t *const copy = mc_arena_take(reader->arena, mc_json_unescape_room(length));
        if (copy == NULL)
            return refuse_memory(reader, at, outcome);
        length = mc_json_unescape(text, length, copy);
        bytes = copy;
    }
    if (rule->type == MC_COLUMN_LARGE_BLOB) {
        uint8_t *const decoded = mc_arena_take(reader->arena, mc_base64_part_room(length));
        if (decoded == NULL)
            return refuse_memory(reader, at, outcome);
        mc_base64_state state = {0};
        size_t decoded_length;
        const size_t good = mc_base64_decode_part(&state, bytes, length, decoded, &decoded_length);
        if (good < length)
            return mc_row_refuse_base64(reader, text, good, outcome);
        if (quote != NULL && !mc_base64_is_complete(&state))
            return mc_row_refuse(reader, MC_ERROR_TYPE, quote, "a character of base64", NULL, outcome);
        bytes = decoded;
        length = decoded_length;
    }
    if (quote == NULL)
        return mc_row_stopped(reader, &stop, outcome);
    reader->large = NULL;
    set_bytes(cell, rule->type == MC_COLUMN_LARGE_BLOB ? MC_VALUE_BLOB : MC_VALUE_TEXT, bytes, length);
    return quote + 1;
}

static const uint8_t *read_string(mc_cell_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                  mc_row_outcome *outcome)
{
    if (!takes_strings(rule->type))
        return refuse_type(reader, rule, at, "a string", outcome);
    if (rule->type >= MC_COLUMN_LARGE_TEXT)
        return read_large(reader, rule, at, end, cell, outcome);
    mc_json_stop stop;
    bool escaped = false;
    const uint8_t *text = at + 1;
    const uint8_t *quote = mc_json_plain_end(text, end);
    if (quote == end || *quote != '"')
        quote = mc_json_string_end(quote, end, &escaped, &stop);
    if (quote == NULL)
        return mc_row_stopped(reader, &stop, outcome);
    size_t length = (size_t)(quote - text);
    if (escaped || rule->type == MC_COLUMN_BLOB) {
        const size_t room = mc_json_unescape_room(length);
        uint8_t *const copy = mc_arena_take(reader->arena, room);
        if (copy == NULL)
            return refuse_memory(reader, at, outcome);
        size_t used = escaped ? mc_json_unescape(text, length, copy) : length;
        if (rule->type == MC_COLUMN_BLOB && !mc_base64_decode(escaped ? copy : text, used, copy, &used))
            return refuse_type(reader, rule, at, "a string that is not", outcome);
        mc_arena_trim(reader->arena, room - used);
        text = copy;
        length = used;
    }
    set_bytes(cell, rule->type == MC_COLUMN_BLOB ? MC_VALUE_BLOB : MC_VALUE_TEXT, text, length);
    bool has_memory = true;
    if (check_text(reader, rule->type, cell, &has_memory))
        return quote + 1;
    return has_memory ? refuse_type(reader, rule, at, "another string", outcome) : refuse_memory(reader, at, outcome);
}

/// Stores a decimal that is too wide for a scaled integer as text. Returns false if it does not fit its column, and if `*has_memory` is
/// false.
static bool store_plain(mc_cell_reader *reader, const mc_column *rule, const mc_json_number *number, mc_value *cell, bool *has_memory)
{
    const size_t capacity = (size_t)rule->precision + 3;
    uint8_t *const text = mc_arena_take(reader->arena, capacity);
    *has_memory = text != NULL;
    if (text == NULL)
        return false;
    const size_t length = mc_json_number_plain(number, rule->precision, rule->scale, text);
    mc_arena_trim(reader->arena, capacity - length);
    set_bytes(cell, MC_VALUE_TEXT, text, length);
    return length > 0;
}

int64_t mc_row_cell_bound(const mc_column *rule)
{
    if (rule->type != MC_COLUMN_DECIMAL || rule->precision > MC_DECIMAL_SCALED_PRECISION)
        return 0;
    int64_t bound = 1;
    for (unsigned digit = 0; digit < rule->precision; digit++)
        bound *= 10;
    return bound;
}

static const uint8_t *read_number(mc_cell_reader *reader, const mc_row_column *column, const uint8_t *at, const uint8_t *end,
                                  mc_value *cell, mc_row_outcome *outcome)
{
    const mc_column *const rule = &column->rule;
    if (rule->type == MC_COLUMN_BOOLEAN || (takes_strings(rule->type) && rule->type != MC_COLUMN_ANY))
        return refuse_type(reader, rule, at, "a number", outcome);
    mc_json_number number;
    mc_json_stop stop;
    const uint8_t *behind = mc_json_number_short_end(at, end, &number);
    if (behind == NULL)
        behind = mc_json_number_end(at, end, &number, &stop);
    if (behind == NULL)
        return mc_row_stopped(reader, &stop, outcome);
    if (behind == end) {
        // In a row another character always follows a number; it may be a further digit.
        *outcome = MC_ROW_CUT;
        return NULL;
    }
    if (rule->type == MC_COLUMN_DECIMAL) {
        bool has_memory = true;
        const bool scaled = column->bound > 0;
        const bool fits = scaled ? mc_json_number_scaled(&number, rule->scale, &cell->value.integer) && cell->value.integer < column->bound
                && cell->value.integer > -column->bound
                                 : store_plain(reader, rule, &number, cell, &has_memory);
        if (!has_memory)
            return refuse_memory(reader, at, outcome);
        if (!fits)
            return mc_row_refuse(reader, MC_ERROR_TYPE, at, "a decimal within the column's precision and scale", "one with more digits",
                                 outcome);
        if (scaled)
            cell->kind = MC_VALUE_INTEGER;
        return behind;
    }
    if (rule->type != MC_COLUMN_REAL && mc_json_number_integer(&number, &cell->value.integer)) {
        cell->kind = MC_VALUE_INTEGER;
        return behind;
    }
    if (rule->type == MC_COLUMN_INTEGER)
        return refuse_type(reader, rule, at, number.integral ? "one beyond 64 bits" : "a number with a fraction or an exponent", outcome);
    const bool is_any = rule->type == MC_COLUMN_ANY;
    if (is_any && number.integral && !column->is_finite) {
        set_bytes(cell, MC_VALUE_TEXT, number.text, number.length);
        return behind;
    }
    const bool is_double = mc_json_number_double(&number, &cell->value.real);
    if (!is_double && (!is_any || column->is_finite))
        return mc_row_refuse(reader, MC_ERROR_TYPE, at, "a number within the range of a double", "a larger one", outcome);
    if (is_any && (number.integral || !is_double))
        set_bytes(cell, MC_VALUE_TEXT, number.text, number.length);
    else
        cell->kind = MC_VALUE_REAL;
    return behind;
}

/// Reads null, true or false.
static const uint8_t *read_word(mc_cell_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                mc_row_outcome *outcome)
{
    const bool null = *at == 'n', yes = *at == 't';
    const char *const word = null ? "null" : yes ? "true" : "false";
    if (null ? rule->required : rule->type != MC_COLUMN_BOOLEAN && rule->type != MC_COLUMN_ANY)
        return refuse_type(reader, rule, at, word, outcome);
    mc_json_stop stop;
    const uint8_t *const behind = mc_json_word_end(at, end, word, &stop);
    if (behind == NULL)
        return mc_row_stopped(reader, &stop, outcome);
    cell->value.integer = yes;
    cell->kind = null ? MC_VALUE_NULL : MC_VALUE_INTEGER;
    return behind;
}

static const uint8_t *read_container(mc_cell_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                     mc_row_outcome *outcome)
{
    if (rule->type != MC_COLUMN_ANY)
        return refuse_type(reader, rule, at, *at == '[' ? "an array" : "an object", outcome);
    mc_json_stop stop;
    const uint8_t *const behind = mc_json_value_end(at, end, reader->depth, &stop);
    if (behind == NULL)
        return mc_row_stopped(reader, &stop, outcome);
    set_bytes(cell, MC_VALUE_TEXT, at, (size_t)(behind - at));
    return behind;
}

const uint8_t *mc_row_cell_read(mc_cell_reader *reader, const mc_row_column *column, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                mc_row_outcome *outcome)
{
    const mc_column *const rule = &column->rule;
    if (at == end) {
        *outcome = MC_ROW_CUT;
        return NULL;
    }
    switch (*at) {
    case '"': return read_string(reader, rule, at, end, cell, outcome);
    case MC_JSON_NUMBER_START: return read_number(reader, column, at, end, cell, outcome);
    case 'n':
    case 't':
    case 'f': return read_word(reader, rule, at, end, cell, outcome);
    case '[':
    case '{': return read_container(reader, rule, at, end, cell, outcome);
    default: return mc_row_refuse(reader, MC_ERROR_JSON, at, "a value", NULL, outcome);
    }
}
