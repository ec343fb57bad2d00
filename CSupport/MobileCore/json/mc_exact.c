/// mc_exact.c: stored values as numbers.
#include "mc_exact.h"

#include "base/mc_fail.h"
#include "json/mc_exact_internal.h"
#include "mc_json.h"

enum {
    LENGTH_LIMIT = 400,      // bytes of a text that is read as a decimal; a longer one is not a number of an application
    SCALED_DIGITS = 18,      // of any integer
    INTEGER_DIGITS = 19,     // of the longest integer; 10 ^ 19 - 1 is an unsigned one
    PLACE_LIMIT = 100000,    // beyond any exponent of a double
    QUICK_SCALE = 15,        // 10 ^ 15 and all smaller powers are exact as doubles
    REAL_DIGITS = 15,        // that each double keeps
};

_Static_assert(MC_EXACT_TEXT_SIZE >= LENGTH_LIMIT + 2 * MC_EXACT_SCALE_MAXIMUM + 4, "the longest decimal has room");

/// Each number of at most 15 digits has a double of its own.
static const double quick_limit = 1e15;

static const int64_t powers[] = {1,
                                 10,
                                 100,
                                 1000,
                                 10000,
                                 100000,
                                 1000000,
                                 10000000,
                                 100000000,
                                 1000000000,
                                 10000000000,
                                 100000000000,
                                 1000000000000,
                                 10000000000000,
                                 100000000000000,
                                 1000000000000000,
                                 10000000000000000,
                                 100000000000000000,
                                 1000000000000000000};

/// 2 ^ 63 is the first double above the largest integer.
static bool is_integral(double value)
{
    return value >= -0x1p63 && value < 0x1p63 && value == (double)(int64_t)value;
}

// MARK: Digits

/// The digits of a number without zeros in front: 0.d1d2d3... times 10 ^ place.
typedef struct digits {
    char text[LENGTH_LIMIT + 1];
    int count;
    int place;
    bool is_negative;
} digits;

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/// Reads the exponent after its letter. Returns the position after it; NULL for anything else.
static const char *read_exponent(const char *at, const char *end, int *exponent)
{
    const bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    int value = 0;
    for (; at < end && is_digit(*at); at++)
        value = value < PLACE_LIMIT ? value * 10 + (*at - '0') : value;
    *exponent = is_negative ? -value : value;
    return at;
}

/// Reads a number: a sign, digits with a point, an exponent. Returns false for any other text.
static bool read_digits(const char *text, size_t length, digits *out)
{
    const char *at = text, *const end = text + length;
    bool has_digits = false, has_point = false;
    int exponent = 0;
    out->count = out->place = 0;
    out->is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (; at < end && (is_digit(*at) || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        has_digits = true;
        if (out->count > 0 || *at != '0') {
            out->text[out->count++] = *at;
            out->place += !has_point;
        } else {
            out->place -= has_point;
        }
    }
    if (!has_digits)
        return false;
    if (at < end && (*at == 'e' || *at == 'E'))
        at = read_exponent(at + 1, end, &exponent);
    out->place += exponent;
    return at == end;
}

/// Rounds to a number of digits, half away from zero.
static void round_digits(digits *number, int kept)
{
    if (kept >= number->count)
        return;
    const bool is_up = number->text[kept] >= '5';
    number->count = kept;
    if (!is_up)
        return;
    int last = number->count - 1;
    while (last >= 0 && number->text[last] == '9')
        last--;
    number->count = last + 1;
    if (last >= 0) {
        number->text[last]++;
        return;
    }
    number->text[0] = '1';
    number->count = 1;
    number->place++;
}

/// Drops the zeros at the end of the digits after the point: one number has one text.
static void drop_zeros(digits *number)
{
    while (number->count > 0 && number->count > number->place && number->text[number->count - 1] == '0')
        number->count--;
}

/// Makes the number an integer; both parts have at most 18 digits together.
static void set_scaled(mc_exact_number *out, const digits *number, int scale)
{
    int64_t value = 0;
    for (int i = 0; i < number->place + scale; i++)
        value = value * 10 + (i < number->count ? number->text[i] - '0' : 0);
    out->storage = SQLITE_INTEGER;
    out->integer = number->is_negative ? -value : value;
}

/// Makes the number a text; it has at most `whole` digits before the point, and `scale` after it.
static void set_text(mc_exact_number *out, const digits *number, int whole)
{
    char *const text = out->text;
    size_t length = 0;
    if (number->is_negative && number->count > 0)
        text[length++] = '-';
    for (int i = 0; i < number->place && i < whole; i++)
        text[length++] = i < number->count ? number->text[i] : '0';
    if (number->place <= 0)
        text[length++] = '0';
    if (number->count > number->place) {
        text[length++] = '.';
        for (int i = number->place; i < 0; i++)
            text[length++] = '0';
        for (int i = number->place > 0 ? number->place : 0; i < number->count; i++)
            text[length++] = number->text[i];
    }
    out->storage = SQLITE_TEXT;
    out->length = length;
}

/// Makes a real with few digits, such as a price, an integer without writing it out. Returns false for others.
static bool scale_real(double value, int whole, int scale, int64_t *scaled)
{
    if (scale > QUICK_SCALE || whole + scale > SCALED_DIGITS)
        return false;
    const double power = (double)powers[scale], product = value * power;
    // Of more digits, several numbers have the same double, and adding a half to one rounds.
    if (!(product > -quick_limit && product < quick_limit))
        return false;
    *scaled = (int64_t)(product < 0 ? product - 0.5 : product + 0.5);
    const int64_t bound = powers[whole + scale];
    // The quotient of two exact numbers is the double nearest to the decimal.
    return (double)*scaled / power == value && *scaled > -bound && *scaled < bound;
}

/// The same for an integer.
static bool scale_integer(int64_t value, int whole, int scale, int64_t *scaled)
{
    if (whole + scale > SCALED_DIGITS || value <= -powers[whole] || value >= powers[whole])
        return false;
    *scaled = value * powers[scale];
    return true;
}

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/// Reads a number, or a text that is one. Returns false for other values, and for an infinity.
static bool read_number(sqlite3_value *value, digits *number)
{
    char written[MC_JSON_DOUBLE_SIZE];
    const int type = sqlite3_value_type(value);
    if (type == SQLITE_BLOB)
        return false;
    if (type == SQLITE_FLOAT) {
        const size_t length = mc_json_double_to_text(sqlite3_value_double(value), written);
        return length > 0 && read_digits(written, length, number);
    }
    const char *text = (const char *)sqlite3_value_text(value);
    size_t length = text != NULL ? (size_t)sqlite3_value_bytes(value) : 0;
    while (length > 0 && is_space(*text)) {
        text++;
        length--;
    }
    while (length > 0 && is_space(text[length - 1]))
        length--;
    return length > 0 && length <= LENGTH_LIMIT && read_digits(text, length, number);
}

/// Makes an integer of a magnitude of at most 19 digits. Returns false if 64 bits have no room for it.
static bool set_sign(uint64_t magnitude, bool is_negative, int64_t *integer)
{
    if (magnitude > (uint64_t)INT64_MAX + is_negative)
        return false;
    *integer = (int64_t)(is_negative ? 0 - magnitude : magnitude);
    return true;
}

/// Makes a number without a fraction an integer. Returns false for any other number.
static bool set_whole(mc_exact_number *out, digits *number)
{
    drop_zeros(number);
    if (number->count == 0)
        number->place = 0;
    if (number->count > number->place || number->place > INTEGER_DIGITS)
        return false;
    uint64_t magnitude = 0;
    for (int i = 0; i < number->place; i++)
        magnitude = magnitude * 10 + (uint64_t)(i < number->count ? number->text[i] - '0' : 0);
    out->storage = SQLITE_INTEGER;
    return set_sign(magnitude, number->is_negative, &out->integer);
}

static void set_real(mc_exact_number *out, double value)
{
    out->storage = SQLITE_FLOAT;
    out->real = value;
}

bool mc_exact_to_integer(sqlite3_value *value, mc_exact_number *out)
{
    const int type = sqlite3_value_type(value);
    const double real = type == SQLITE_FLOAT ? sqlite3_value_double(value) : 0;
    digits number;
    if (type == SQLITE_FLOAT && is_integral(real)) {
        out->storage = SQLITE_INTEGER;
        out->integer = (int64_t)real;
        return true;
    }
    if (type != SQLITE_TEXT || !read_number(value, &number))
        return false;
    // Not by way of a double: it has no room for each digit of a long text.
    if (!set_whole(out, &number))
        set_real(out, sqlite3_value_double(value));
    return true;
}

bool mc_exact_to_decimal(sqlite3_value *value, int whole, int scale, mc_exact_number *out)
{
    const int type = sqlite3_value_type(value);
    out->storage = SQLITE_INTEGER;
    if ((type == SQLITE_FLOAT && scale_real(sqlite3_value_double(value), whole, scale, &out->integer)) ||
        (type == SQLITE_INTEGER && scale_integer(sqlite3_value_int64(value), whole, scale, &out->integer)))
        return true;
    digits number;
    if (!read_number(value, &number))
        return false;
    drop_zeros(&number);
    // The last digits of a real that was computed are those of its binary form: 0.1 + 0.2 is 0.3. Digits before the point are never rounded.
    if (type == SQLITE_FLOAT && number.count - number.place > scale && number.place <= REAL_DIGITS) {
        round_digits(&number, REAL_DIGITS);
        drop_zeros(&number);
    }
    if (number.count == 0)
        number.place = 0;
    if (number.place > whole || number.count - number.place > scale)
        set_real(out, sqlite3_value_double(value));
    else if (whole + scale <= SCALED_DIGITS)
        set_scaled(out, &number, scale);
    else
        set_text(out, &number, whole);
    return true;
}

/// Reads a text in the notation in which SQLite writes integers. Returns false for another one.
static bool read_plain_integer(const uint8_t *text, size_t length, int64_t *integer)
{
    const bool is_negative = length > 0 && text[0] == '-';
    const size_t start = is_negative;
    if (length == start || length - start > INTEGER_DIGITS || (text[start] == '0' && length > 1))
        return false;
    uint64_t magnitude = 0;
    for (size_t i = start; i < length; i++) {
        const unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    return set_sign(magnitude, is_negative, integer);
}

// MARK: SQL

/// Gives a converted number, or the value unchanged.
static void give(sqlite3_context *context, sqlite3_value *value, bool is_converted, const mc_exact_number *number)
{
    if (!is_converted)
        sqlite3_result_value(context, value);
    else if (number->storage == SQLITE_INTEGER)
        sqlite3_result_int64(context, number->integer);
    else if (number->storage == SQLITE_FLOAT)
        sqlite3_result_double(context, number->real);
    else
        sqlite3_result_text(context, number->text, (int)number->length, SQLITE_TRANSIENT);
}

static void give_integer(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    mc_exact_number number;
    give(context, values[0], mc_exact_to_integer(values[0], &number), &number);
}

static void give_real(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const int type = sqlite3_value_type(values[0]) == SQLITE_BLOB ? SQLITE_BLOB : sqlite3_value_numeric_type(values[0]);
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        sqlite3_result_double(context, sqlite3_value_double(values[0]));
    else
        sqlite3_result_value(context, values[0]);
}

static void give_plain_integer(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const uint8_t *const text = sqlite3_value_type(values[0]) == SQLITE_TEXT ? sqlite3_value_text(values[0]) : NULL;
    int64_t integer;
    if (text != NULL && read_plain_integer(text, (size_t)sqlite3_value_bytes(values[0]), &integer))
        sqlite3_result_int64(context, integer);
    else
        sqlite3_result_value(context, values[0]);
}

static void give_decimal(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const int whole = sqlite3_value_int(values[1]), scale = sqlite3_value_int(values[2]);
    if (whole < 0 || scale < 0 || whole > MC_EXACT_SCALE_MAXIMUM || scale > MC_EXACT_SCALE_MAXIMUM) {
        sqlite3_result_error(context, MC_EXACT_DECIMAL ": expected up to 1000 digits before and after the point", -1);
        return;
    }
    mc_exact_number number;
    give(context, values[0], mc_exact_to_decimal(values[0], whole, scale, &number), &number);
}

mc_status mc_exact_register(sqlite3 *db, mc_error *error)
{
    static const struct {
        const char *name;
        int arguments;
        void (*give)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {{MC_EXACT_INTEGER, 1, give_integer},
                   {MC_EXACT_REAL, 1, give_real},
                   {MC_EXACT_DECIMAL, 3, give_decimal},
                   {MC_PLAIN_INTEGER, 1, give_plain_integer}};
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0] && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, functions[i].give, NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register exact conversions");
}
