/// mc_row_reader.h: reads one row of the input into cells. Internal to the row scanner.
#ifndef MC_ROW_READER_H
#define MC_ROW_READER_H

#include "base/mc_arena.h"
#include "mc_rows.h"
#include "json/mc_json_scan.h"

/// A column as the reader needs it.
typedef struct mc_row_column {
    mc_column rule;  ///< `rule.name` belongs to the reader
    int64_t bound;   ///< scaled decimals: 10 ^ precision, beyond the largest one; else 0
    bool is_finite;  ///< MC_COLUMN_ANY: refuses numbers beyond the largest double, as their text would become infinite
    size_t name_length;
} mc_row_column;

/// How reading a row ended.
typedef enum mc_row_outcome {
    MC_ROW_COMPLETE,
    MC_ROW_LARGE,   ///< at `large` a value of the column `column` begins that is too long for a cell
    MC_ROW_CUT,     ///< the bytes ended; all of it was in order so far
    MC_ROW_REFUSED  ///< `status`, `at`, `expected` and `found` say why
} mc_row_outcome;

typedef struct mc_row_reader {
    mc_row_column *columns;
    size_t column_count;
    uint32_t *by_name;  ///< numbers of the columns, ordered by length and bytes of their names
    unsigned depth;
    mc_arena *arena;  ///< unfolded strings, blobs and decimal texts of the batch's rows; borrowed

    // Why a row was refused.
    mc_status status;
    const uint8_t *at;
    const char *expected;
    const char *found;  ///< NULL: describe the byte at `at`
    size_t column;      ///< number of the column the reader was in; `column_count` outside of all

    /// The opening quote of the large value that the reader stopped in, complete or not; NULL elsewhere.
    const uint8_t *large;
} mc_row_reader;

/// The longest large value that becomes a cell: bytes between its quotes. Only the text decides, never how it is cut into chunks.
enum { MC_ROW_LARGE_CELL = 16 * 1024 };

/// Copies the columns; `depth` 0: 32. The arena is set by the owner. Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY;
/// `mc_row_reader_destroy` is due in any case.
mc_status mc_row_reader_init(mc_row_reader *reader, const mc_column *columns, size_t column_count, unsigned depth, mc_error *error);

void mc_row_reader_destroy(mc_row_reader *reader);

/// Reads the row at `*at`, which is a bracket or a brace, into `cells`, one per column. `*at` is moved behind a complete row.
mc_row_outcome mc_row_reader_read(mc_row_reader *reader, const uint8_t **at, const uint8_t *end, mc_value *cells);

/// Goes on behind the value of `column`; `cells` are those read so far. `is_object`: the row has begun with a brace.
mc_row_outcome mc_row_reader_resume(mc_row_reader *reader, bool is_object, size_t column, const uint8_t **at, const uint8_t *end,
                                    mc_value *cells);

/// A cell of a row object that no member has filled yet.
enum { MC_CELL_MISSING = 0xFF };

#endif
