/// mc_rows_state.h: the state that the files of the row scanner share. Internal to them.
///
///     mc_rows.c        opening, and chunks: bytes carried from one to the next
///     mc_rows_scan.c   the text between rows, and rows
///     mc_rows_large.c  rows with a value that comes in parts
#ifndef MC_ROWS_STATE_H
#define MC_ROWS_STATE_H

#include "base/mc_byte_buffer.h"
#include "rows/mc_row_reader.h"
#include "rows/mc_rows_internal.h"
#include "json/mc_base64.h"

/// The position of the scanner in the grammar: the next element of the input.
typedef enum mc_rows_place {
    PLACE_START,
    PLACE_FIRST_MEMBER,
    PLACE_MEMBER,
    PLACE_COLON,
    PLACE_ROWS,
    PLACE_BEHIND_ROWS,
    PLACE_FIRST_ROW,
    PLACE_ROW,
    PLACE_LARGE,         // inside of a large value
    PLACE_BEHIND_LARGE,  // inside of its row
    PLACE_BEHIND_ROW,
    PLACE_END
} mc_rows_place;

/// The state of one member; an input that is one array has one without a key.
typedef struct mc_rows_table {
    mc_row_reader reader;
    char *name;
    size_t name_length;
    size_t row_capacity;  // of a batch
    int64_t rows_before;  // in earlier batches
} mc_rows_table;

/// The row that contains a large value.
typedef struct mc_cut_row {
    mc_value *cells;  // read so far; MC_VALUE_LARGE for values that have come in parts. Made when it is needed first
    mc_arena arena;   // the memory of the cells' text and bytes
    bool is_object;
    bool has_begun;  // a part of the value has gone to the sink
    size_t column;   // of the value
    size_t length;   // bytes of the row so far, without values that came in parts
    int64_t row_offset, value_offset;
    mc_base64_state base64;
} mc_cut_row;

struct mc_rows {
    mc_rows_table *members;
    size_t member_count;
    bool is_object;
    mc_rows_table *current;
    mc_rows_sink sink;
    void *context;
    size_t row_bytes;

    mc_rows_place place;
    bool stopped;  // finished, or an error was reported
    mc_byte_buffer carry;
    size_t attempt;  // number of carried bytes at which they are scanned again
    int64_t offset;  // of the first byte that is neither scanned nor dropped

    mc_row_block block;  // the memory of the rows collected so far
    size_t row_count;
    size_t cell_capacity, row_capacity;
    int64_t rows_before;  // rows of all members in earlier batches
    mc_cut_row cut;
};

/// The bytes that are being scanned.
typedef struct mc_rows_text {
    const uint8_t *start, *end;
    int64_t base;  // offset of `start` in the input
} mc_rows_text;

static inline int64_t mc_rows_offset(const mc_rows_text *text, const uint8_t *at)
{
    return text->base + (at - text->start);
}

/// Scans the text; `*behind` becomes the first byte that is still needed.
mc_status mc_rows_scan(mc_rows *rows, const mc_rows_text *text, const uint8_t **behind, mc_error *error);

/// Hands the rows collected so far to the sink. Afterwards no cell points into the input or into `carry`.
mc_status mc_rows_flush(mc_rows *rows, int64_t bytes, mc_error *error);

/// Reports the value that the row reader refused.
mc_status mc_rows_fail(const mc_rows *rows, const mc_rows_text *text, mc_error *error);

/// Reports that the row is longer than allowed, at `limit`.
mc_status mc_rows_fail_length(mc_rows *rows, const mc_rows_text *text, const uint8_t *limit, mc_error *error);

/// Begins a row that the reader has stopped in, at its `large`. The row is at `first`; its cells follow those of the rows collected so
/// far, which go to the sink. `*at` is moved to the position after the opening quote.
mc_status mc_rows_begin_large(mc_rows *rows, const mc_rows_text *text, const uint8_t *first, const uint8_t **at, mc_error *error);

/// Takes the available bytes of a large value, 64 KB at most. `*cut` is set if the bytes end in it.
mc_status mc_rows_take_part(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error);

/// Takes the rest of the row after a large value. `*cut` is set if the bytes end in it.
mc_status mc_rows_take_rest(mc_rows *rows, const mc_rows_text *text, const uint8_t **at, bool *cut, mc_error *error);

#endif
