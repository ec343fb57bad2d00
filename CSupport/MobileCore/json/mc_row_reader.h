/// mc_row_reader.h: reads one row of the input into cells. Internal to the row scanner.
#ifndef MC_ROW_READER_H
#define MC_ROW_READER_H

#include "json/mc_arena.h"
#include "json/mc_json_scan.h"
#include "mc_rows.h"

/// A column as the reader needs it.
typedef struct mc_row_column {
    mc_column rule;       ///< `rule.name` belongs to the reader
    int64_t bound;        ///< scaled decimals: 10 ^ precision, beyond the largest one; else 0
    size_t name_length;
} mc_row_column;

/// How reading a row ended.
typedef enum mc_row_outcome {
    MC_ROW_COMPLETE,
    MC_ROW_CUT,      ///< the bytes ended; all of it was in order so far
    MC_ROW_REFUSED   ///< `status`, `at`, `expected` and `found` say why
} mc_row_outcome;

typedef struct mc_row_reader {
    mc_row_column *columns;
    size_t column_count;
    uint32_t *by_name;     ///< numbers of the columns, ordered by length and bytes of their names
    unsigned depth;
    mc_arena *arena;       ///< unfolded strings, blobs and decimal texts of the batch's rows; borrowed

    // Why a row was refused.
    mc_status status;
    const uint8_t *at;
    const char *expected;
    const char *found;     ///< NULL: describe the byte at `at`
    size_t column;         ///< number of the column the reader was in; `column_count` outside of all
} mc_row_reader;

/// Copies the columns; `depth` 0: 32. The arena is set by the owner. Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY; `mc_row_reader_destroy` is due in any case.
mc_status mc_row_reader_init(mc_row_reader *reader, const mc_column *columns, size_t column_count, unsigned depth, mc_error *error);

void mc_row_reader_destroy(mc_row_reader *reader);

/// Reads the row at `*at`, which is a bracket or a brace, into `cells`, one per column. `*at` is moved behind a complete row.
mc_row_outcome mc_row_reader_read(mc_row_reader *reader, const uint8_t **at, const uint8_t *end, mc_value *cells);

#endif
