/// mc_json_scan.h: the scanner that all readers of JSON in the core are built on. Internal.
///
/// The functions read bytes in place and validate them (RFC 8259, UTF-8 included). Each returns the position that it has reached, or
/// NULL with a `mc_json_stop` that has the position and the reason of the stop. The position is exact in one strict sense: everything
/// before it could still have become valid JSON, with the byte at it nothing can. A stop without `expected` means that the input ended
/// and was valid so far; so the same functions serve a whole document, and a chunk that is continued later.
#ifndef MC_JSON_SCAN_H
#define MC_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mc_fail.h"
#include "mc_json.h"

/// The reason why a scan stopped.
typedef struct mc_json_stop {
    const uint8_t *at;     ///< the first byte that is not allowed, or the end of the input
    const char *expected;  ///< the text that is allowed there; NULL: the input ended
    const uint8_t *whole;  ///< strings: the end of the last whole character before `at`; otherwise not set
    bool too_deep;         ///< it is valid JSON, but nested deeper than the caller allows
} mc_json_stop;

/// The first bytes of numbers, for use after the word `case` of a switch.
#define MC_JSON_NUMBER_START                                                                                                               \
    '-' : case '0' : case '1' : case '2' : case '3' : case '4' : case '5' : case '6' : case '7' : case '8' : case '9'

/// A number as written. Its value is `digits * 10 ^ exponent` unless `inexact`.
typedef struct mc_json_number {
    const uint8_t *text;  ///< its first byte
    size_t length;
    uint64_t digits;  ///< up to 19 significant digits
    int64_t exponent;
    bool negative;
    bool integral;  ///< written without fraction and exponent
    bool inexact;   ///< a digit after the nineteenth is not 0: only `text` has the whole value
} mc_json_number;

/// Skips blanks: spaces, tabs, line feeds and carriage returns.
static inline const uint8_t *mc_json_skip_blanks(const uint8_t *at, const uint8_t *end)
{
    if (at<end && * at> ' ')
        return at;  // usually there are no blanks
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/// Records why a scan stopped, and returns NULL for the caller to return.
static inline const uint8_t *mc_json_stop_at(mc_json_stop *stop, const uint8_t *at, const uint8_t *end, const char *expected)
{
    stop->at = at;
    stop->expected = at < end ? expected : NULL;
    stop->too_deep = false;
    return NULL;
}

/// Checks one UTF-8 sequence of more than one byte (Unicode 15, table 3-7); `at` is its lead byte.
const uint8_t *mc_json_utf8_end(const uint8_t *at, const uint8_t *end, mc_json_stop *stop);

/// Finds the end of a string: `at` is after the opening quote, the result is the closing quote. `*escaped` is set to true
/// if the string has a backslash, and is otherwise unchanged.
const uint8_t *mc_json_string_end(const uint8_t *at, const uint8_t *end, bool *escaped, mc_json_stop *stop);

/// Returns the room that `mc_json_unescape` needs for a string of `length` bytes: it copies 16 bytes at a time.
static inline size_t mc_json_unescape_room(size_t length)
{
    return length + 16;
}

/// Unfolds the escapes of the validated string `text` into `out`, which has room for `mc_json_unescape_room(length)` bytes.
/// Returns its new length.
size_t mc_json_unescape(const uint8_t *text, size_t length, uint8_t *out);

/// Reads a number from its first byte. Returns the position after its last byte. If the number reaches up to `end`, the caller
/// decides whether that is the end of the number.
const uint8_t *mc_json_number_end(const uint8_t *at, const uint8_t *end, mc_json_number *number, mc_json_stop *stop);

/// Checks that the word (null, true or false) is at `at`.
const uint8_t *mc_json_word_end(const uint8_t *at, const uint8_t *end, const char *word, mc_json_stop *stop);

/// Validates one value of any kind, containers included, `depth_left` levels deep: MC_JSON_DEPTH_LIMIT at most. Returns the position
/// after its last byte.
const uint8_t *mc_json_value_end(const uint8_t *at, const uint8_t *end, unsigned depth_left, mc_json_stop *stop);

/// Computes the exact integer; false if the number has a fraction or an exponent, or does not fit.
bool mc_json_number_integer(const mc_json_number *number, int64_t *value);

/// Computes the nearest double, ties to even; false if the number is beyond the largest one. Independent of the process's locale.
bool mc_json_number_double(const mc_json_number *number, double *value);

/// Computes the integer that is `10 ^ scale` times the number; false if the product is not an integer or does not fit.
bool mc_json_number_scaled(const mc_json_number *number, unsigned scale, int64_t *value);

/// Writes the number in plain notation without superfluous zeros ("-12.5", "0"). Returns the length, or 0 if it has more
/// than `scale` digits after the point or more than `precision - scale` before it. `out` has room for `precision` + 3 bytes.
size_t mc_json_number_plain(const mc_json_number *number, unsigned precision, unsigned scale, uint8_t *out);

/// Describes the byte at which a scan stopped, for "expected a digit, found ...". Returns `buffer`.
const char *mc_json_describe(const uint8_t *at, const uint8_t *end, char *buffer, size_t capacity);

/// Room for `mc_json_quote_name`.
enum { MC_JSON_NAME_SHOWN = 96 };

/// Writes the name of a member, which begins with the quote at `at`, as it is written there, and then `after`. A name of more than 80 bytes is cut.
/// Returns `buffer`.
const char *mc_json_quote_name(const uint8_t *at, const uint8_t *end, const char *after, char buffer[MC_JSON_NAME_SHOWN]);

#endif
