/// mc_export.h: writes the rows of a statement as JSON text, in pieces of the size that the reader requests.
///
///     [[1,"Harbour Foods",12.34],
///     [2,"Mill & Sons",null]]
///
/// The reverse of an import (mc_import.h): numbers are exact, doubles have the shortest text that reads back as the same value,
/// blobs are base64, text is checked to be UTF-8. The statement is stepped as far as the reader's buffer needs, no further.
///
/// Order of calls: open, read until it gives no bytes, free. The statement must have its values bound; it is stepped by the
///                 export alone until it is freed, which resets it.
/// Threads:        those of the statement's connection.
/// Memory:         some 100 KB and the longest row, large values not counted; 270 KB more when deflating.
#ifndef MC_EXPORT_H
#define MC_EXPORT_H

#include <stdint.h>
#include <string.h>

#include "mc_error.h"
#include "mc_row_digest.h"
#include "mc_rows.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct sqlite3_stmt;
struct mc_pool;

typedef enum mc_export_format {
    MC_EXPORT_ARRAYS = 0,  ///< a row is an array in the order of the columns
    MC_EXPORT_OBJECTS = 1  ///< a row is an object under the names of the columns
} mc_export_format;

/// The output of a column whose integers are ids of large values (mc_blob.h).
typedef enum mc_export_large {
    MC_EXPORT_LARGE_REFERENCE = 0,  ///< the id, written by the column's rule like any other value
    MC_EXPORT_LARGE_BASE64 = 1,     ///< a value of bytes, as a string in base64
    MC_EXPORT_LARGE_TEXT = 2        ///< a value of text, as a string
} mc_export_large;

/// The values that a column may give, among those of its type. For any other one `mc_export_next_row` fails, and continues with the next row.
/// A column of type DATE, TIME or DATE_TIME with a limit gives texts of this form only.
typedef struct mc_export_limit {
    bool required;              ///< no null
    bool is_single;             ///< REAL: numbers that are finite in 32 bits
    int64_t least, greatest;    ///< INTEGER
    size_t shortest, longest;   ///< TEXT: characters; BLOB: bytes
} mc_export_limit;

/// The limits of a column without any.
#define MC_EXPORT_ANY_VALUE {false, false, INT64_MIN, INT64_MAX, 0, SIZE_MAX}

typedef struct mc_export_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    /// The rules of the columns, as many as the statement has (see `sums`), or NULL: all of type MC_COLUMN_ANY under the statement's names.
    /// The output of a value by its column's type:
    ///   ANY      by its storage: null, numbers, strings, base64
    ///   INTEGER  a number; other storage is an error
    ///   DECIMAL  an integer in plain notation, its last `scale` digits after the point; a text unchanged if it is a number
    ///   REAL     a number with a point or an exponent
    ///   BOOLEAN  true and false; an integer other than 0 is true
    ///   TEXT     a string; numbers are converted to text
    ///   BLOB     a string in base64
    /// `precision` and `required` are ignored; null is always null.
    const mc_column *MC_NULLABLE columns;
    size_t column_count;  ///< of `columns`
    mc_export_format format;
    int deflate_level;  ///< 0: plain text; 1 (fast) to 9 (small): a zlib stream
    /// For each column of the statement the form of large values, in line in pieces of some KB; NULL: the ids.
    const mc_export_large *MC_NULLABLE large;
    struct mc_pool *MC_NULLABLE pool;  ///< the pool that the values are read from; outlives the export. Not NULL if a value is in line
    /// For each of `columns` whether numbers, and texts that are numbers, are brought to the form of the column's type: for INTEGER as
    /// `mc_exact_integer` does (mc_exact.h), for DECIMAL as `mc_exact_decimal` does with `precision - scale` digits before the point; for REAL
    /// integers only. NULL: none.
    const bool *MC_NULLABLE exact;
    /// For each of `columns` the SQL that brings any stored value to the form of the column's type, or NULL: an expression of the parameter
    /// `?1`. It runs for all values but NULL, those that `exact` converts, and those that have the form plainly: integers for INTEGER and
    /// BOOLEAN; reals for REAL; plain times (mc_plain_time.h) for DATE, TIME and DATE_TIME, which are written as `mc_plain_time` gives them. It
    /// costs about half a microsecond a value. The texts are copied. SQL sees the texts of a UTF-16 database as UTF-8. NULL: none.
    const char *MC_NULLABLE const *MC_NULLABLE conversions;
    /// Sums of the rows that are read one by one: the column 0 has the key, and `summed_count` columns from `summed_first` on have the values,
    /// as they are stored. They outlive the export. The statement may then have more columns than `columns`, which are summed only. Summing makes
    /// UTF-8 of texts in a UTF-16 database, also where a column of bytes writes them. NULL: none.
    mc_row_digest_pass *MC_NULLABLE sums;
    size_t summed_first, summed_count;
    /// For each of `columns` the limits of its values; NULL: none has one.
    const mc_export_limit *MC_NULLABLE limits;
} mc_export_options;

/// Returns the defaults: all columns of type MC_COLUMN_ANY, as plain text.
static inline mc_export_options mc_export_default_options(void)
{
    mc_export_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

typedef struct mc_export mc_export;

/// Opens an export. The statement is borrowed and must outlive it. On success the caller owns `*out` and gives it to
/// `mc_export_free`; on failure it is NULL.
/// Fails with MC_ERROR_MISUSE (a statement without columns, a wrong number of rules, two columns of one name in objects, a level
/// out of its range, large values in line without a pool, conversions, exact numbers or limits without rules), MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_export_open(struct sqlite3_stmt *statement, const mc_export_options *options,
                                     mc_export *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Writes the next bytes to `buffer`; `*length` is their number: `capacity` until the last piece, and 0 after it.
/// Fails with MC_ERROR_CORRUPT (a text that is not UTF-8; `row` is set), MC_ERROR_TYPE (a value that its column's type cannot
/// write, an infinity), MC_ERROR_NO_MEMORY, as SQLite does, and as reading a large value does. After a failure every read fails with
/// MC_ERROR_MISUSE.
MC_MUST_USE mc_status mc_export_read(mc_export *rows, void *buffer, size_t capacity, size_t *length, mc_error *MC_NULLABLE error);

/// A row of an export as JSON values with commas between them, without brackets. It is valid until the next call.
typedef struct mc_export_row {
    const uint8_t *MC_NULLABLE text;
    size_t length;
    const size_t *MC_NULLABLE ends;  ///< for each column the place in `text` after its value
    size_t column_count;
} mc_export_row;

/// Writes the next row; `*has_row` is false after the last one. An export is read by rows or with `mc_export_read`, not both.
/// After a row with a value that cannot be written (see `mc_export_refused_column`), the next call continues with the next row; after any other failure
/// every call fails. Such a row counts in the sums. Fails as `mc_export_read`, with MC_ERROR_TYPE for a value beyond its limit, and with
/// MC_ERROR_MISUSE for objects, deflated text, and large values in line.
MC_MUST_USE mc_status mc_export_next_row(mc_export *rows, mc_export_row *row, bool *has_row, mc_error *MC_NULLABLE error);

/// Returns the number from 1 of the column whose value the last `mc_export_next_row` could not write; 0 if there was none. Until the next call
/// the statement stays on the row of that value.
size_t mc_export_refused_column(const mc_export *rows);

/// Returns the number of rows written so far.
int64_t mc_export_rows(const mc_export *rows);

/// Frees an export; NULL is allowed.
void mc_export_free(mc_export *MC_NULLABLE rows);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
