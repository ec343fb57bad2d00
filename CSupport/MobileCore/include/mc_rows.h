/// mc_rows.h: scans row data, a JSON array of rows, from chunks of any size into batches of typed cells.
///
///     [[1,"Harbour Foods",null], [2,"Mill & Sons","Cork"]]              arrays: values in the order of the columns
///     [{"id":1,"name":"Harbour Foods"}, {"name":"Mill", "id":2}]         objects: by name; a member left out is null
///
/// or, for several tables in one stream, an object of such arrays, in any order, also with a name that occurs again:
///
///     {"customer":[[1,"Harbour Foods",null]], "order":[[7,1,"2026-05-17"]], "customer":[[2,"Mill & Sons","Cork"]]}
///
/// Both kinds of rows may be mixed. The scanner validates as it goes (RFC 8259, UTF-8, number ranges, the columns' types) and hands
/// complete rows to a sink, many at a time. Strings are not copied from the input; only those with escapes are unfolded, into
/// memory of the batch. A row that the chunk cuts is kept and completed by the next one; small chunks are gathered.
///
/// Large values (MC_COLUMN_LARGE_TEXT, MC_COLUMN_LARGE_BLOB) are ordinary cells as long as their strings have at most 16 KB. A
/// longer one goes to the sink in parts, while its row is read. The parts of a value follow each other; the values of a row
/// come in the order of the input. Then the row comes in a batch of its own, with MC_VALUE_LARGE in their places.
///
/// The chunks of the input affect only when an error is reported, not which one: it is the first one in the input, and
/// all rows before it have gone to the sink. After an error the scanner only accepts `mc_rows_free`.
///
/// Order of calls: open, push any number of times, finish, free.
/// Threads:        one at a time per scanner. The sink is called during push and finish, on their thread.
/// Memory:         the batch (some 100 KB), and one row, which is bounded by `row_bytes`; for a value that comes in parts 64 KB.
#ifndef MC_ROWS_H
#define MC_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mc_error.h"
#include "mc_value.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The values that a column accepts, and the values that it stores.
typedef enum mc_column_type {
    /// Everything: integers of 64 bits; larger ones as their digits in text; other numbers as the nearest double, those beyond the
    /// largest one as they are written, in text; true and false as 1 and 0; strings as text; arrays and objects as their JSON text.
    MC_COLUMN_ANY = 0,
    MC_COLUMN_INTEGER = 1,  ///< numbers without fraction and exponent, of 64 bits
    /// Numbers, exactly. With a precision up to 18 an integer, scaled by `10 ^ scale`; beyond as text in plain notation without
    /// superfluous zeros. More digits than precision and scale allow are an error, except for zeros after the point.
    MC_COLUMN_DECIMAL = 2,
    MC_COLUMN_REAL = 3,     ///< numbers, as the nearest double; beyond the largest one is an error
    MC_COLUMN_BOOLEAN = 4,  ///< true and false, as 1 and 0
    MC_COLUMN_TEXT = 5,     ///< strings
    MC_COLUMN_BLOB = 6,     ///< strings in base64 (RFC 4648, padded), as bytes
    MC_COLUMN_DATE = 7,     ///< strings such as "2026-05-17", as text
    MC_COLUMN_TIME = 8,     ///< strings such as "10:00:00", as text
    /// Strings such as "2026-05-17T10:00:00.000Z", as text in exactly this form, so that text order is time order: UTC, with or without
    /// the Z; the fraction may be missing or longer, and is cut to milliseconds.
    MC_COLUMN_DATE_TIME = 9,
    MC_COLUMN_LARGE_TEXT = 10,  ///< strings of any length
    MC_COLUMN_LARGE_BLOB = 11   ///< strings of any length in base64, as bytes
} mc_column_type;

/// The precision up to which decimals are scaled integers, and the largest one.
enum { MC_DECIMAL_SCALED_PRECISION = 18, MC_DECIMAL_PRECISION_MAXIMUM = 1000 };

typedef struct mc_column {
    const char *name;  ///< UTF-8, NUL-terminated; the key in row objects
    mc_column_type type;
    uint16_t precision;  ///< decimals: digits in all, 1...1000
    uint16_t scale;      ///< decimals: digits after the point, 0...precision
    bool required;       ///< null, or a member left out, is an error
} mc_column;

/// A part of a value that is too long to be held. It is the text, or the bytes, that follow the part before it. Texts are cut between
/// characters.
typedef struct mc_large_part {
    const char *MC_NULLABLE bytes;  ///< not NUL-terminated
    size_t length;                  ///< the last part may be empty
    size_t column;                  ///< its number
    int64_t row;                    ///< number of its row among those of the member, from 1
    int64_t offset;                 ///< bytes from the start of the input to the opening quote
    bool begins, ends;              ///< it is the first part, the last part of its value
} mc_large_part;

/// Complete rows, in the order of the input, or a part of a large value. Everything in it is valid during the call of the sink.
typedef struct mc_row_batch {
    const mc_value *cells;   ///< row by row, `column_count` cells each
    const int64_t *offsets;  ///< per row: bytes from the start of the input to its first byte
    size_t row_count;
    size_t column_count;
    size_t member;      ///< number of the member that contains the rows; 0 if the input is one array
    int64_t first_row;  ///< number of the first row among those of its member, from 1
    int64_t bytes;      ///< bytes of the input up to the end of the last row
    bool is_part;       ///< no rows, but `part`
    mc_large_part part;
} mc_row_batch;

/// Takes a batch. Any status but MC_OK stops the scanner, which returns that status from push or finish.
typedef mc_status (*mc_rows_sink)(void *MC_NULLABLE context, const mc_row_batch *batch, mc_error *MC_NULLABLE error);

/// A table of an input with several tables.
typedef struct mc_rows_member {
    const char *name;  ///< its key in the object; also the name of the rows in error messages
    const mc_column *columns;
    size_t column_count;  ///< 1...2000
} mc_rows_member;

typedef struct mc_rows_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    const char *MC_NULLABLE name;               ///< the name of the rows in error messages, such as a table; NULL: "rows"
    const mc_column *MC_NULLABLE columns;       ///< copied, names included
    size_t column_count;                        ///< 1...2000
    const mc_rows_member *MC_NULLABLE members;  ///< copied; NULL: the input is one array of rows with `columns`
    size_t member_count;                        ///< 1...1000
    unsigned depth;                             ///< levels of arrays and objects inside of a row's values; 0: 32; at most 1024
    size_t row_bytes;                           ///< the longest row in bytes, without values in parts; 0: 16 MB; at most 1,000,000,000
    mc_rows_sink MC_NULLABLE sink;              ///< NULL: rows are validated and dropped
    void *MC_NULLABLE context;                  ///< handed to the sink
} mc_rows_options;

/// Returns the defaults: no columns yet.
static inline mc_rows_options mc_rows_default_options(void)
{
    mc_rows_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

typedef struct mc_rows mc_rows;

/// Makes a scanner. On success the caller owns `*out` and gives it to `mc_rows_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (no columns, two columns or members of one name, a number out of its range), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_rows_open(const mc_rows_options *options, mc_rows *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Scans the next bytes of the input, which must stay in place during the call only.
/// Fails with MC_ERROR_JSON (input that is not JSON, or has no rows; `byte_offset` is the first byte that is not allowed),
/// MC_ERROR_TYPE (a value that does not fit its column, an unknown column or member, too few or too many values), MC_ERROR_LIMIT (a row
/// too long or too deep), MC_ERROR_NO_MEMORY, MC_ERROR_MISUSE (after finish or an error), and as the sink does.
MC_MUST_USE mc_status mc_rows_push(mc_rows *rows, const void *MC_NULLABLE bytes, size_t length, mc_error *MC_NULLABLE error);

/// Scans the bytes that were kept because more input was expected, for a caller that knows that the rest of the input is damaged or
/// missing: an earlier error is then reported first. Only `mc_rows_free` may follow. Fails as push does, never for an incomplete row.
MC_MUST_USE mc_status mc_rows_settle(mc_rows *rows, mc_error *MC_NULLABLE error);

/// Ends the input. Fails as push does, and with MC_ERROR_TRUNCATED if the input ended in the middle of a value.
MC_MUST_USE mc_status mc_rows_finish(mc_rows *rows, mc_error *MC_NULLABLE error);

/// Returns the number of rows handed to the sink so far.
int64_t mc_rows_count(const mc_rows *rows);

/// Frees a scanner; NULL is allowed.
void mc_rows_free(mc_rows *MC_NULLABLE rows);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
