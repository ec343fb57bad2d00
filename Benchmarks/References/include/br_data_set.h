/// br_data_set.h: data set R30 in memory, as values for the references and as JSON for the importers.
///
/// A row has 12 values: 3 integers, 2 decimals, a date and time, a boolean, and 5 strings (3 words; 8 words; text with an escaped
/// quote and line feed; text with letters beyond ASCII; 32 hexadecimal digits), words from a list of 20. Equal seeds yield equal
/// bytes.
#ifndef BR_DATA_SET_H
#define BR_DATA_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A string in the data set: UTF-8, not NUL-terminated, borrowed from it.
typedef struct br_text {
    const char *bytes;
    size_t length;
} br_text;

/// The values of one row as a table holds them.
typedef struct br_row {
    int64_t key;     ///< unique, the first value of the row
    int64_t number;  ///< 1 to 2^31
    int64_t small;   ///< 0 to 100
    int64_t price;   ///< decimal(7, 2) as a scaled integer: hundredths
    int64_t rate;    ///< decimal(7, 6) as a scaled integer: millionths
    br_text moment;  ///< `2026-05-17T10:00:00`
    bool flag;
    br_text texts[5];  ///< in the order of the list above
} br_row;

typedef struct br_data_set br_data_set;

/// Makes `count` rows with the keys `first_key`, `first_key + 1` and so on. NULL when memory is short. The caller owns the result.
br_data_set *br_data_set_make(uint64_t seed, size_t count, int64_t first_key);
void br_data_set_free(br_data_set *data);

size_t br_data_set_count(const br_data_set *data);
const br_row *br_data_set_rows(const br_data_set *data);

/// All rows as one JSON array of arrays, 6.5 MB for 30,000 rows. Borrowed.
const char *br_data_set_json(const br_data_set *data, size_t *length);

/// Gives the rows new keys from `first_key` on, in the values and in the JSON, for imports that are larger than the data set.
/// Returns false and changes nothing unless all old and new keys have the same number of digits.
bool br_data_set_rekey(br_data_set *data, int64_t first_key);

/// The check sum that `br_table_checksum` gives for a table with exactly these rows, read in the order of their keys.
/// `sum` is the result for the previous rows, 0 for the first ones.
uint64_t br_data_set_checksum(const br_data_set *data, uint64_t sum);

#endif
