/// mc_row_reader.h: reads one row of the input into cells. Internal to the row scanner.
#ifndef MC_ROW_READER_H
#define MC_ROW_READER_H

#include "rows/mc_row_cell.h"

typedef struct mc_row_reader {
    mc_row_column *columns;
    size_t column_count;
    uint32_t *by_name;  ///< numbers of the columns, ordered by length and bytes of their names
    mc_cell_reader cell;
    size_t column;  ///< number of the column the reader was in; `column_count` outside of all columns
} mc_row_reader;

/// Copies the columns; `depth` 0: 32. The owner sets `cell.arena`. Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY;
/// `mc_row_reader_destroy` must be called in any case.
mc_status mc_row_reader_init(mc_row_reader *reader, const mc_column *columns, size_t column_count, unsigned depth, mc_error *error);

void mc_row_reader_destroy(mc_row_reader *reader);

/// Reads the row at `*at`, which is a bracket or a brace, into `cells`, one per column. `*at` is moved past a complete row.
mc_row_outcome mc_row_reader_read(mc_row_reader *reader, const uint8_t **at, const uint8_t *end, mc_value *cells);

/// Continues after the value of `column`; `cells` are those read so far. `is_object`: the row has begun with a brace.
mc_row_outcome mc_row_reader_resume(mc_row_reader *reader, bool is_object, size_t column, const uint8_t **at, const uint8_t *end,
                                    mc_value *cells);

/// The kind of a cell of a row object that no member has filled yet.
enum { MC_CELL_MISSING = 0xFF };

#endif
