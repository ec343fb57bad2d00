/// mc_row_cell.h: reads one value of a row into a cell, by the rule of its column. Internal to the row reader.
#ifndef MC_ROW_CELL_H
#define MC_ROW_CELL_H

#include "json/mc_json_bytes.h"
#include "json/mc_row_reader.h"

/// Reads the value at `at`. The result is behind it; NULL where it stopped, with `*outcome` and the reader saying why.
const uint8_t *mc_row_cell_read(mc_row_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                mc_row_outcome *outcome);

/// Reads what most cells are, as `mc_row_cell_read` does: strings of plain ASCII for columns that take text, and short numbers
/// for columns that take them. NULL for everything else, which says nothing yet. Inline: a call costs as much as a short string.
static inline const uint8_t *mc_row_cell_read_short(const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell)
{
    if (at == end)
        return NULL;
    if (*at == '"') {
        const uint8_t *const quote = mc_json_plain_end(at + 1, end);
        if (quote == end || *quote != '"' || (rule->type != MC_COLUMN_ANY && rule->type != MC_COLUMN_TEXT))
            return NULL;
        cell->value.bytes = (const char *)at + 1;
        cell->length = (uint32_t)(quote - at - 1);
        cell->kind = MC_VALUE_TEXT;
        return quote + 1;
    }
    const bool takes_integers = rule->type == MC_COLUMN_ANY || rule->type == MC_COLUMN_INTEGER;
    const bool takes_doubles = rule->type == MC_COLUMN_ANY || rule->type == MC_COLUMN_REAL;
    mc_json_number number;
    if ((uint8_t)(*at - '0') > 9 || !(takes_integers || takes_doubles))
        return NULL;
    const uint8_t *const behind = mc_json_number_short_end(at, end, &number);
    if (behind == NULL)
        return NULL;
    if (number.integral && takes_integers) {
        cell->value.integer = (int64_t)number.digits;
        cell->kind = MC_VALUE_INTEGER;
        return behind;
    }
    if (!takes_doubles || !mc_json_number_short_double(&number, &cell->value.real))
        return NULL;
    cell->kind = MC_VALUE_REAL;
    return behind;
}

/// Takes over why a scan stopped. Returns NULL for the caller to return.
const uint8_t *mc_row_stopped(mc_row_reader *reader, const mc_json_stop *stop, mc_row_outcome *outcome);

/// Refuses what is at `at`. Returns NULL for the caller to return.
const uint8_t *mc_row_refuse(mc_row_reader *reader, mc_status status, const uint8_t *at, const char *expected, const char *found,
                             mc_row_outcome *outcome);

#endif
