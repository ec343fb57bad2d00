/// json_rows.c: fuzzes the row scanner (mc_rows.h).
///
/// The first two bytes choose the column rules and the size of chunks, the rest is row data. The limit of a row is low, so that large
/// values often come in parts. Rules: the result, both rows and error, does not depend on the chunks; jansson accepts every text that the
/// scanner accepts without type rules, with the same values; jansson refuses every text that the scanner refuses as JSON.
#include "fuzz_jansson.h"

enum { COLUMNS = 3 };

/// The result of a scan.
typedef struct outcome {
    mc_status status;
    mc_error error;
    int64_t rows;
    uint64_t digest;  // of all cells
    uint64_t parts;   // of the parts of large values in the next row
    int64_t large;    // values in them; in_value: the last part was not their end
    bool in_value;
    const json_t *expected;  // jansson's rows to compare with; NULL: none
} outcome;

static uint64_t mix(uint64_t digest, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    for (size_t index = 0; index < length; index++)
        digest = (digest ^ at[index]) * UINT64_C(0x100000001B3);
    return digest;
}

/// Compares a cell without a type rule with jansson's value.
static void compare_cell(const mc_value *cell, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_NULL: CHECK(cell->kind == MC_VALUE_NULL); break;
    case JSON_TRUE: CHECK(cell->kind == MC_VALUE_INTEGER && cell->value.integer == 1); break;
    case JSON_FALSE: CHECK(cell->kind == MC_VALUE_INTEGER && cell->value.integer == 0); break;
    case JSON_INTEGER: CHECK(cell->kind == MC_VALUE_INTEGER && cell->value.integer == json_integer_value(value)); break;
    case JSON_REAL: CHECK(cell->kind == MC_VALUE_REAL && same_double(cell->value.real, json_real_value(value))); break;
    case JSON_STRING:
        CHECK(cell->kind == MC_VALUE_TEXT && cell->length == json_string_length(value));
        CHECK(memcmp(cell->value.bytes, json_string_value(value), cell->length) == 0);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT: {
        CHECK(cell->kind == MC_VALUE_TEXT);
        json_t *const back = json_loadb(cell->value.bytes, cell->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        CHECK(back != NULL && json_equal(back, value));
        json_decref(back);
        break;
    }
    }
}

static const char *const names[COLUMNS] = {"a", "b", "\xC3\xBC"};

static void compare_row(const mc_value *cells, const json_t *row)
{
    for (size_t column = 0; column < COLUMNS; column++) {
        const json_t *const value = json_is_array(row) ? json_array_get(row, column) : json_object_get(row, names[column]);
        if (value != NULL)
            compare_cell(&cells[column], value);
        else
            CHECK(json_is_object(row) && cells[column].kind == MC_VALUE_NULL);
    }
}

static void take_part(outcome *outcome, const mc_large_part *part)
{
    CHECK(part->begins != outcome->in_value && part->column < COLUMNS && part->row == outcome->rows + 1);
    CHECK(part->length > 0 || part->ends);
    if (part->begins)
        outcome->parts = mix(mix(outcome->parts, &part->column, sizeof part->column), &part->offset, sizeof part->offset);
    outcome->parts = mix(outcome->parts, part->bytes, part->length);
    outcome->in_value = !part->ends;
    outcome->large += part->ends;
}

static mc_status take(void *context, const mc_row_batch *batch, mc_error *error)
{
    (void)error;
    outcome *const outcome = context;
    if (batch->is_part) {
        CHECK(batch->row_count == 0);
        take_part(outcome, &batch->part);
        return MC_OK;
    }
    CHECK(!outcome->in_value && (outcome->large == 0 || batch->row_count == 1));
    outcome->digest = mix(outcome->digest, &outcome->parts, outcome->large > 0 ? sizeof outcome->parts : 0);
    CHECK(batch->row_count > 0 && batch->column_count == COLUMNS && batch->first_row == outcome->rows + 1);
    for (size_t row = 0; row < batch->row_count; row++) {
        const mc_value *const cells = batch->cells + row * COLUMNS;
        for (size_t column = 0; column < COLUMNS; column++) {
            const mc_value *const cell = &cells[column];
            outcome->digest = mix(outcome->digest, &cell->kind, 1);
            outcome->large -= cell->kind == MC_VALUE_LARGE;
            if (cell->kind == MC_VALUE_LARGE)
                continue;
            if (cell->kind == MC_VALUE_TEXT || cell->kind == MC_VALUE_BLOB)
                outcome->digest = mix(mix(outcome->digest, &cell->length, 4), cell->value.bytes, cell->length);
            else if (cell->kind != MC_VALUE_NULL)
                outcome->digest = mix(outcome->digest, &cell->value, 8);
        }
        outcome->digest = mix(outcome->digest, &batch->offsets[row], 8);
        if (outcome->expected != NULL)
            compare_row(cells, json_array_get(outcome->expected, (size_t)outcome->rows + row));
    }
    CHECK(outcome->large == 0);
    outcome->parts = 0;
    outcome->rows += (int64_t)batch->row_count;
    return MC_OK;
}

/// Scans the input in chunks of `chunk` bytes.
static outcome scan(const uint8_t *bytes, size_t length, size_t chunk, const mc_column *columns, const json_t *expected)
{
    outcome outcome = {.expected = expected};
    mc_rows *rows = NULL;
    const mc_rows_options options = {
        MC_OPTIONS(mc_rows_options), .columns = columns, .column_count = COLUMNS, .depth = 16,
        .row_bytes = 4096,           .sink = take,       .context = &outcome,
    };
    CHECK(mc_rows_open(&options, &rows, NULL) == MC_OK);
    for (size_t at = 0; at < length && outcome.status == MC_OK; at += chunk) {
        // A separate copy, so that the sanitizer detects a read after the chunk.
        const size_t size = length - at < chunk ? length - at : chunk;
        uint8_t *const piece = malloc(size);
        memcpy(piece, bytes + at, size);
        outcome.status = mc_rows_push(rows, piece, size, &outcome.error);
        free(piece);
    }
    if (outcome.status == MC_OK)
        outcome.status = mc_rows_finish(rows, &outcome.error);
    mc_rows_free(rows);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 2)
        return 0;
    const uint8_t rules = bytes[0];
    const size_t chunk = (size_t)bytes[1] * bytes[1] + 1;  // 1 to 65026, so that some chunks are not gathered
    bytes += 2;
    length -= 2;
    static const mc_column_type types[] = {
        MC_COLUMN_ANY,  MC_COLUMN_INTEGER, MC_COLUMN_DECIMAL,    MC_COLUMN_REAL,       MC_COLUMN_BOOLEAN,
        MC_COLUMN_TEXT, MC_COLUMN_BLOB,    MC_COLUMN_LARGE_TEXT, MC_COLUMN_LARGE_BLOB, MC_COLUMN_DATE_TIME,
    };
    mc_column columns[COLUMNS];
    for (size_t column = 0; column < COLUMNS; column++)
        columns[column] = (mc_column){
            .name = names[column],
            .type = types[(rules >> (2 * column)) % (sizeof types / sizeof types[0])],
            .precision = rules & 1 ? 30 : 12,
            .scale = 2,
            .required = (rules & 0x80) != 0,
        };
    // Half of the inputs have no rules and are compared with jansson.
    const bool compares = (rules & 0x40) == 0;
    for (size_t column = 0; column < COLUMNS && compares; column++)
        columns[column] = (mc_column){.name = names[column]};

    json_error_t theirs;
    json_t *const tree = compares ? json_loadb((const char *)bytes, length, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &theirs) : NULL;
    const outcome whole = scan(bytes, length, length + 1, columns, tree);
    const outcome pieces = scan(bytes, length, chunk, columns, NULL);
    CHECK(whole.status == pieces.status && whole.rows == pieces.rows && whole.digest == pieces.digest);
    if (whole.status != MC_OK) {
        CHECK(whole.error.byte_offset == pieces.error.byte_offset && whole.error.row == pieces.error.row);
        CHECK(strcmp(whole.error.message, pieces.error.message) == 0);
        CHECK(whole.error.byte_offset >= 0 && (size_t)whole.error.byte_offset <= length);
    }
    if (compares && whole.status == MC_OK) {
        // The scanner does not compare keys of nested objects, so only jansson refuses duplicate ones.
        CHECK(tree != NULL || is_listed_difference(&theirs) || json_error_code(&theirs) == json_error_duplicate_key);
        CHECK(tree == NULL || (int64_t)json_array_size(tree) == whole.rows);
    }
    if (compares && whole.status == MC_ERROR_JSON)
        CHECK(tree == NULL || whole.rows < (int64_t)json_array_size(tree) || !json_is_array(tree) || may_lose_bytes(bytes, length));
    json_decref(tree);
    return 0;
}
