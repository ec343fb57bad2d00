/// mc_row_cell.h: reads one value of a row into a cell, by the rule of its column. Internal to the row reader.
#ifndef MC_ROW_CELL_H
#define MC_ROW_CELL_H

#include "json/mc_row_reader.h"

/// Reads the value at `at`. The result is behind it; NULL where it stopped, with `*outcome` and the reader saying why.
const uint8_t *mc_row_cell_read(mc_row_reader *reader, const mc_column *rule, const uint8_t *at, const uint8_t *end, mc_value *cell,
                                mc_row_outcome *outcome);

/// Takes over why a scan stopped. Returns NULL for the caller to return.
const uint8_t *mc_row_stopped(mc_row_reader *reader, const mc_json_stop *stop, mc_row_outcome *outcome);

/// Refuses what is at `at`. Returns NULL for the caller to return.
const uint8_t *mc_row_refuse(mc_row_reader *reader, mc_status status, const uint8_t *at, const char *expected, const char *found,
                             mc_row_outcome *outcome);

#endif
