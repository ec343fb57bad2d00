/// exact_numbers.c: fuzzes the conversions of stored values to exact numbers (mc_exact.h).
///
/// Rules: a result is the number of the value within half of its last digit, or the value is given back as what no result is; a number, its
/// text and its result convert to the same; a real is the double that the C library reads. A plain integer is written as it was.
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fuzz_check.h"
#include "json/mc_exact_internal.h"

enum { TEXT_MAXIMUM = 1200 };

/// A value of SQLite, copied.
typedef struct value {
    int type;
    int64_t integer;
    double real;
    char text[TEXT_MAXIMUM + 1];
    int length;
} value;

static value text_value(const char *text, int length)
{
    value copy = {.type = SQLITE_TEXT, .length = length};
    memcpy(copy.text, text, (size_t)length);
    return copy;
}

static bool is_same(const value *a, const value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case SQLITE_INTEGER: return a->integer == b->integer;
    case SQLITE_FLOAT: return a->real == b->real;
    case SQLITE_NULL: return true;
    default: return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
    }
}

/// Runs `SELECT function(value, whole, scale)`.
static value convert(sqlite3 *db, const char *sql, const value *input, int whole, int scale)
{
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    switch (input->type) {
    case SQLITE_INTEGER: sqlite3_bind_int64(statement, 1, input->integer); break;
    case SQLITE_FLOAT: sqlite3_bind_double(statement, 1, input->real); break;
    case SQLITE_TEXT: sqlite3_bind_text(statement, 1, input->text, input->length, SQLITE_STATIC); break;
    case SQLITE_BLOB: sqlite3_bind_blob(statement, 1, input->text, input->length, SQLITE_STATIC); break;
    default: break;
    }
    if (sqlite3_bind_parameter_count(statement) == 3) {
        sqlite3_bind_int(statement, 2, whole);
        sqlite3_bind_int(statement, 3, scale);
    }
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    value result = {.type = sqlite3_column_type(statement, 0)};
    if (result.type == SQLITE_INTEGER) {
        result.integer = sqlite3_column_int64(statement, 0);
    } else if (result.type == SQLITE_FLOAT) {
        result.real = sqlite3_column_double(statement, 0);
    } else if (result.type != SQLITE_NULL) {
        const void *const bytes = sqlite3_column_blob(statement, 0);
        result.length = sqlite3_column_bytes(statement, 0);
        CHECK(result.length <= TEXT_MAXIMUM);
        if (result.length > 0)
            memcpy(result.text, bytes, (size_t)result.length);
    }
    sqlite3_finalize(statement);
    return result;
}

static const char decimal[] = "SELECT mc_exact_decimal(?, ?, ?)";

/// Whether a text has more digits than the C library reads exactly.
static bool is_long(const value *input)
{
    int digits = 0;
    for (int i = 0; i < input->length; i++)
        digits += input->text[i] >= '0' && input->text[i] <= '9';
    return digits > 18;
}

/// Checks an integer with `scale` digits after the point against the C library's reading of the text, which has 64 bits.
static void check_scaled(const value *input, const value *result, int whole, int scale)
{
    const long double limit = powl(10, (long double)whole + scale), exact = strtold(input->text, NULL) * powl(10, (long double)scale);
    const long double error = fabsl(exact) * 0x1p-60L + 1e-9L;
    if (result->type == SQLITE_INTEGER) {
        CHECK(fabsl((long double)result->integer) < limit);
        CHECK(fabsl((long double)result->integer - exact) <= error);
    } else if (result->type == SQLITE_FLOAT) {
        // Too long before the point, or after it: then it has a fraction, unless it is too large or too small for one here.
        CHECK(fabsl(exact) >= limit - error || fabsl(exact) > 0x1p53L || exact != roundl(exact) || exact == 0 || is_long(input));
    } else {
        CHECK(is_same(result, input));
    }
}

/// Checks a number as a text: it has no superfluous zero, and at most `whole` and `scale` digits.
static void check_wide(const value *input, const value *result, int whole, int scale)
{
    if (result->type == SQLITE_FLOAT || is_same(result, input))
        return;
    CHECK(result->type == SQLITE_TEXT && result->length > 0);
    const char *at = result->text, *const end = result->text + result->length;
    at += *at == '-';
    const size_t integers = strspn(at, "0123456789");
    CHECK(integers > 0 && ((integers == 1 && *at == '0') || (*at != '0' && integers <= (size_t)whole)));
    at += integers;
    if (at < end) {
        CHECK(*at == '.');
        const size_t fraction = strspn(at + 1, "0123456789");
        CHECK(fraction > 0 && fraction <= (size_t)scale && at + 1 + fraction == end && end[-1] != '0');
    } else {
        CHECK(strcmp(result->text, "-0") != 0);
    }
}

/// A text is kept, or becomes the integer that is written as this text.
static void check_plain(sqlite3 *db, const value *input)
{
    const value result = convert(db, "SELECT mc_plain_integer(?)", input, 0, 0);
    const value again = convert(db, "SELECT CAST(mc_plain_integer(?) AS TEXT)", input, 0, 0);
    CHECK(is_same(&again, input) && (result.type == SQLITE_INTEGER || is_same(&result, input)));
}

static void check_text(sqlite3 *db, const char *bytes, int length, int whole, int scale)
{
    const value input = text_value(bytes, length), result = convert(db, decimal, &input, whole, scale);
    check_plain(db, &input);
    // The C library reads further kinds of numbers, and ends at a zero byte: such a text is not a number here.
    if (memchr(bytes, '\0', (size_t)length) != NULL || strpbrk(input.text, "xXnNpPiI") != NULL) {
        CHECK(is_same(&input, &result));
    } else if (whole + scale <= 18) {
        check_scaled(&input, &result, whole, scale);
    } else {
        check_wide(&input, &result, whole, scale);
        const value again = convert(db, decimal, &result, whole, scale);
        CHECK(result.type == SQLITE_FLOAT || is_same(&result, &again));
    }
    const value integer = convert(db, "SELECT mc_exact_integer(?)", &input, 0, 0),
                real = convert(db, "SELECT mc_exact_real(?)", &input, 0, 0);
    CHECK(integer.type == SQLITE_INTEGER || is_same(&integer, &input) || (integer.type == SQLITE_FLOAT && is_same(&integer, &real)));
    CHECK(real.type == SQLITE_FLOAT || is_same(&real, &input));
    CHECK(integer.type != SQLITE_INTEGER || real.type == SQLITE_FLOAT);
    if (integer.type == SQLITE_INTEGER)
        CHECK((long double)integer.integer == strtold(input.text, NULL));
    if (real.type == SQLITE_FLOAT && isfinite(real.real))
        CHECK(fabsl((long double)real.real - strtold(input.text, NULL)) <= fabsl((long double)real.real) * 0x1p-50L + 0x1p-1040L);
}

/// A number converts like its text: of a real, the shortest one that reads back.
static void check_number(sqlite3 *db, const value *number, int whole, int scale)
{
    char written[64];
    int length = 0;
    if (number->type == SQLITE_INTEGER) {
        length = snprintf(written, sizeof written, "%lld", (long long)number->integer);
    } else {
        for (int digits = 1; digits <= 17; digits++) {
            length = snprintf(written, sizeof written, "%.*g", digits, number->real);
            if (strtod(written, NULL) == number->real)
                break;
        }
    }
    const value text = text_value(written, length);
    check_plain(db, &text);
    if (number->type == SQLITE_INTEGER) {
        const value plain = convert(db, "SELECT mc_plain_integer(?)", &text, 0, 0);
        CHECK(is_same(&plain, number));
    }
    const value result = convert(db, decimal, number, whole, scale), expected = convert(db, decimal, &text, whole, scale);
    if (number->type == SQLITE_FLOAT && expected.type == SQLITE_FLOAT) {
        // By its first 15 digits, if these are few enough.
        const long double found =
            result.type == SQLITE_INTEGER ? (long double)result.integer / powl(10, (long double)scale) : strtold(result.text, NULL);
        CHECK(result.type == SQLITE_FLOAT || fabsl(found - (long double)number->real) <= fabsl((long double)number->real) * 1e-14L);
        return;
    }
    // A number that does not fit comes back as a real; SQLite reads the last bit of its text differently.
    CHECK(result.type == expected.type && (result.type == SQLITE_FLOAT || is_same(&result, &expected)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    static sqlite3 *db = NULL;
    if (db == NULL)
        CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK && mc_exact_register(db, NULL) == MC_OK);
    const int whole = data[0] % 40, scale = data[1] % 40, kind = data[2] % 4;
    data += 3;
    size -= 3;
    const int length = (int)(size < TEXT_MAXIMUM ? size : TEXT_MAXIMUM);
    value number = {.type = kind == 1 ? SQLITE_INTEGER : SQLITE_FLOAT};
    switch (kind) {
    case 0: check_text(db, (const char *)data, length, whole, scale); break;
    case 1:
    case 2:
        if (size < sizeof(int64_t))
            return 0;
        memcpy(&number.integer, data, sizeof number.integer);
        memcpy(&number.real, data, sizeof number.real);
        // SQLite stores NULL in place of a NaN.
        if (kind == 1 || isfinite(number.real))
            check_number(db, &number, whole, scale);
        break;
    default: {
        value blob = text_value((const char *)data, length);
        blob.type = SQLITE_BLOB;
        const value result = convert(db, decimal, &blob, whole, scale);
        CHECK(is_same(&result, &blob));
    }
    }
    return 0;
}
