/// mc_row_cell.h: reads one value of a row into a cell, by the rule of its column. Internal to the row reader.
#ifndef MC_ROW_CELL_H
#define MC_ROW_CELL_H

#include "base/mc_arena.h"
#include "mc_rows.h"
#include "json/mc_json_bytes.h"
#include "json/mc_json_scan.h"

/// A column, prepared for reading.
typedef struct mc_row_column {
    mc_column rule;  ///< `rule.name` belongs to the row reader
    int64_t bound;   ///< scaled decimals: 10 ^ precision, beyond the largest one; otherwise 0
    bool is_finite;  ///< MC_COLUMN_ANY: refuses numbers beyond the largest double, because their text would become infinite
    size_t name_length;
} mc_row_column;

/// The result of reading a row.
typedef enum mc_row_outcome {
    MC_ROW_COMPLETE,
    MC_ROW_LARGE,   ///< at `large` begins a value of the column `column` that is too long for a cell
    MC_ROW_CUT,     ///< the bytes ended; all of them were valid so far
    MC_ROW_REFUSED  ///< `status`, `at`, `expected` and `found` of the cell reader have the reason
} mc_row_outcome;

/// The longest large value that becomes a cell: bytes between its quotes. Only the text decides, never the chunks.
enum { MC_ROW_LARGE_CELL = 16 * 1024 };

/// The state of reading values, and the reason why one was refused.
typedef struct mc_cell_reader {
    unsigned depth;   ///< levels of arrays and objects
    mc_arena *arena;  ///< unfolded strings, blobs and decimal texts of the batch's rows; borrowed

    mc_status status;
    const uint8_t *at;
    const char *expected;
    const char *found;  ///< NULL: describe the byte at `at`

    /// The opening quote of the large value that the reader stopped in, complete or not; NULL in other cases.
    const uint8_t *large;
} mc_cell_reader;

/// Reads the value at `at`. Returns the position after it; NULL if it stopped: `*outcome` and the reader then have the reason.
const uint8_t *mc_row_cell_read(mc_cell_reader *reader, const mc_row_column *column, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                mc_row_outcome *outcome);

/// Returns 10 ^ precision for scaled decimals, an upper bound that their values never reach; 0 for other columns.
int64_t mc_row_cell_bound(const mc_column *rule);

/// Reads a number of up to 24 characters without sign, as `mc_row_cell_read` does; NULL for any other text.
static inline const uint8_t *mc_row_cell_read_number(const mc_row_column *column, const uint8_t *at, const uint8_t *end, mc_value *cell)
{
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    const mc_column_type type = column->rule.type;
    mc_json_number number;
    const uint8_t *const behind = mc_json_number_short_end(at, end, &number);
    if (behind == NULL)
        return NULL;
    if (type == MC_COLUMN_DECIMAL) {
        // Fewer than 18 digits times at most 10 ^ 8 may not fit; so the column's bound is checked first.
        const int64_t digits = (int64_t)number.digits, shift = (int64_t)column->rule.scale + number.exponent;
        if (shift < 0 || shift > 8 || digits >= column->bound / powers[shift])
            return NULL;
        cell->value.integer = digits * powers[shift];
        cell->kind = MC_VALUE_INTEGER;
        return behind;
    }
    if (number.integral && type != MC_COLUMN_REAL) {
        cell->value.integer = (int64_t)number.digits;
        cell->kind = MC_VALUE_INTEGER;
        return behind;
    }
    if (type == MC_COLUMN_INTEGER || !mc_json_number_short_double(&number, &cell->value.real))
        return NULL;
    cell->kind = MC_VALUE_REAL;
    return behind;
}

/// Reads the most frequent kinds of cells, as `mc_row_cell_read` does: strings of plain ASCII, short numbers, true and false, for columns
/// that take them. Returns NULL for all other text, which may be valid or not. Inline: a call costs as much as a short string.
static inline const uint8_t *mc_row_cell_read_short(const mc_row_column *column, const uint8_t *at, const uint8_t *end, mc_value *cell)
{
    const mc_column_type type = column->rule.type;
    if (end - at < 8)
        return NULL;
    if (*at == '"') {
        const uint8_t *const quote = mc_json_plain_end(at + 1, end);
        if (quote == end || *quote != '"' || (type != MC_COLUMN_ANY && type != MC_COLUMN_TEXT))
            return NULL;
        cell->value.bytes = (const char *)at + 1;
        cell->length = (uint32_t)(quote - at - 1);
        cell->kind = MC_VALUE_TEXT;
        return quote + 1;
    }
    if (type == MC_COLUMN_BOOLEAN) {
        const bool yes = memcmp(at, "true", 4) == 0;
        if (!yes && memcmp(at, "false", 5) != 0)
            return NULL;
        cell->value.integer = yes;
        cell->kind = MC_VALUE_INTEGER;
        return at + (yes ? 4 : 5);
    }
    const bool takes_numbers = type <= MC_COLUMN_INTEGER || type == MC_COLUMN_REAL || column->bound > 0;
    return takes_numbers && (uint8_t)(*at - '0') <= 9 ? mc_row_cell_read_number(column, at, end, cell) : NULL;
}

/// Copies the reason why a scan stopped. Returns NULL for the caller to return.
const uint8_t *mc_row_stopped(mc_cell_reader *reader, const mc_json_stop *stop, mc_row_outcome *outcome);

/// Refuses the value at `at`. Returns NULL for the caller to return.
const uint8_t *mc_row_refuse(mc_cell_reader *reader, mc_status status, const uint8_t *at, const char *expected, const char *found,
                             mc_row_outcome *outcome);

/// Refuses a character of a large value that is not base64. `text` is the beginning of the bytes that were unfolded and decoded,
/// `index` its number among them. Returns NULL for the caller to return.
const uint8_t *mc_row_refuse_base64(mc_cell_reader *reader, const uint8_t *text, size_t index, mc_row_outcome *outcome);

#endif
