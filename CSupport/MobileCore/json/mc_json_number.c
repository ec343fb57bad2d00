/// mc_json_number.c: numbers, exactly.
///
/// A number is read once, into up to 19 digits and a power of ten. From there integers and scaled decimals are integer
/// arithmetic, and most doubles are one multiplication or division of two exactly representable values, which rounds
/// correctly (Clinger 1990). The rest goes to strtod, which rounds correctly in every C library supported here. The text for it
/// has no decimal point, so the process's locale cannot change its meaning.
#include "json/mc_json_scan.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_KEPT = 19,       // the largest number of digits that always fit into 64 bits
    DIGITS_DECISIVE = 800,  // more than the 768 digits that can decide the rounding of a double
};

static const int64_t EXPONENT_LIMIT = 1000000000;  // far beyond every type; keeps sums of exponents within 64 bits

static inline bool is_digit(const uint8_t *at, const uint8_t *end)
{
    return at < end && (uint8_t)(*at - '0') <= 9;
}

/// Reads digits into `number`. Kept digits after the point (`behind_point`) lower the exponent; dropped digits before it raise it.
static const uint8_t *take_digits(const uint8_t *at, const uint8_t *end, mc_json_number *number, unsigned *kept, bool behind_point)
{
    for (; is_digit(at, end); at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (*kept < DIGITS_KEPT) {
            number->digits = number->digits * 10 + digit;
            *kept += *kept > 0 || digit > 0;
            number->exponent -= behind_point;
        } else {
            number->inexact |= digit != 0;
            number->exponent += !behind_point;
        }
    }
    return at;
}

/// Reads the exponent; `at` is after the letter E.
static const uint8_t *exponent_end(const uint8_t *at, const uint8_t *end, mc_json_number *number, mc_json_stop *stop)
{
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (!is_digit(at, end))
        return mc_json_stop_at(stop, at, end, "a digit");
    int64_t value = 0;
    for (; is_digit(at, end); at++)
        value = value < EXPONENT_LIMIT ? value * 10 + (*at - '0') : value;
    number->exponent += negative ? -value : value;
    return at;
}

const uint8_t *mc_json_number_end(const uint8_t *at, const uint8_t *end, mc_json_number *number, mc_json_stop *stop)
{
    unsigned kept = 0;
    *number = (mc_json_number){.text = at, .integral = true};
    number->negative = at < end && *at == '-';
    at += number->negative;
    if (!is_digit(at, end))
        return mc_json_stop_at(stop, at, end, "a digit");
    if (*at == '0') {
        at++;
        if (is_digit(at, end))
            return mc_json_stop_at(stop, at, end, "no digit after a leading 0");
    } else {
        // Short integers are the most frequent numbers; 18 digits cannot overflow.
        const uint8_t *const limit = end - at > 18 ? at + 18 : end;
        uint64_t digits = 0;
        const uint8_t *const first = at;
        for (; is_digit(at, limit); at++)
            digits = digits * 10 + (uint64_t)(*at - '0');
        number->digits = digits;
        kept = (unsigned)(at - first);
        at = take_digits(at, end, number, &kept, false);
    }
    if (at < end && *at == '.') {
        number->integral = false;
        at++;
        if (!is_digit(at, end))
            return mc_json_stop_at(stop, at, end, "a digit");
        at = take_digits(at, end, number, &kept, true);
    }
    if (at < end && (*at | 0x20) == 'e') {
        number->integral = false;
        at = exponent_end(at + 1, end, number, stop);
        if (at == NULL)
            return NULL;
    }
    number->length = (size_t)(at - number->text);
    return at;
}

bool mc_json_number_integer(const mc_json_number *number, int64_t *value)
{
    const uint64_t limit = (uint64_t)INT64_MAX + number->negative;
    if (!number->integral || number->exponent != 0 || number->digits > limit)  // digits left out would be in the exponent
        return false;
    *value = number->negative ? (int64_t)(0 - number->digits) : (int64_t)number->digits;
    return true;
}

bool mc_json_number_scaled(const mc_json_number *number, unsigned scale, int64_t *value)
{
    uint64_t digits = number->digits;
    if (digits == 0) {
        *value = 0;
        return true;
    }
    if (number->inexact)
        return false;
    int64_t shift = number->exponent + (int64_t)scale;
    for (; shift < 0; shift++) {
        if (digits % 10 != 0)
            return false;
        digits /= 10;
    }
    const uint64_t limit = (uint64_t)INT64_MAX + number->negative;
    for (; shift > 0; shift--) {
        if (digits > limit / 10)
            return false;
        digits *= 10;
    }
    if (digits > limit)
        return false;
    *value = number->negative ? (int64_t)(0 - digits) : (int64_t)digits;
    return true;
}

/// Copies the significant digits of `number` as written, without leading zeros and without a point, `capacity` at most.
/// `*exponent` becomes the power of ten of the last digit copied. Sets `*rest` if a digit other than 0 was left out.
static size_t copy_digits(const mc_json_number *number, uint8_t *out, size_t capacity, int64_t *exponent, bool *rest)
{
    const uint8_t *at = number->text + number->negative, *const end = number->text + number->length;
    size_t length = 0;
    bool behind_point = false;
    *exponent = 0;
    *rest = false;
    for (; at < end && (*at | 0x20) != 'e'; at++) {
        if (*at == '.') {
            behind_point = true;
            continue;
        }
        if (length == capacity) {
            *rest |= *at != '0';
            *exponent += !behind_point;
            continue;
        }
        if (length > 0 || *at != '0')
            out[length++] = *at;
        *exponent -= behind_point;
    }
    if (at < end) {
        mc_json_number power = {0};
        mc_json_stop stop;
        (void)exponent_end(at + 1, end, &power, &stop);
        *exponent += power.exponent;
    }
    return length;
}

/// The slow way for numbers that the fast way cannot represent.
static double double_by_library(const mc_json_number *number)
{
    uint8_t text[DIGITS_DECISIVE + 32];
    int64_t exponent;
    bool rest;
    size_t length = copy_digits(number, text, DIGITS_DECISIVE, &exponent, &rest);
    if (rest) {
        // The digits left out are more than 0, which alone can decide the rounding: a 1 replaces them.
        text[length++] = '1';
        exponent--;
    }
    const int64_t clamped = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : exponent;
    (void)snprintf((char *)text + length, sizeof text - length, "e%d", (int)clamped);
    const int saved = errno;
    const double value = strtod((const char *)text, NULL);
    errno = saved;
    return value;
}

bool mc_json_number_double(const mc_json_number *number, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double magnitude;
    if (number->digits == 0) {
        magnitude = 0;
    } else if (FLT_EVAL_METHOD == 0 && !number->inexact && number->digits <= UINT64_C(1) << 53 && number->exponent >= -22
               && number->exponent <= 22) {
        const double digits = (double)number->digits;
        magnitude = number->exponent < 0 ? digits / powers[-number->exponent] : digits * powers[number->exponent];
    } else {
        magnitude = double_by_library(number);
        if (isinf(magnitude))
            return false;
    }
    *value = number->negative ? -magnitude : magnitude;
    return true;
}

size_t mc_json_number_plain(const mc_json_number *number, unsigned precision, unsigned scale, uint8_t *out)
{
    uint8_t *const digits = out + 2;  // room for the sign and for a zero or the point, which are added in front afterwards
    int64_t exponent;
    bool rest;
    size_t length = copy_digits(number, digits, precision, &exponent, &rest);
    if (rest)
        return 0;
    for (; length > 0 && digits[length - 1] == '0'; exponent++)
        length--;
    if (length == 0) {
        out[0] = '0';
        return 1;
    }
    const int64_t fraction = exponent < 0 ? -exponent : 0, whole = (int64_t)length + exponent;
    if (fraction > (int64_t)scale || whole > (int64_t)precision - (int64_t)scale)
        return 0;
    uint8_t *to = out;
    if (number->negative)
        *to++ = '-';
    if (exponent >= 0) {
        memmove(to, digits, length);
        memset(to + length, '0', (size_t)exponent);
        return (size_t)(to - out) + length + (size_t)exponent;
    }
    if (whole > 0) {
        memmove(to, digits, (size_t)whole);
        memmove(to + whole + 1, digits + whole, (size_t)fraction);
        to[whole] = '.';
        return (size_t)(to - out) + length + 1;
    }
    // 0.00123: the digits move to the right, the zeros come before them.
    const size_t zeros = (size_t)-whole;
    memmove(to + 2 + zeros, digits, length);
    to[0] = '0';
    to[1] = '.';
    memset(to + 2, '0', zeros);
    return (size_t)(to - out) + 2 + zeros + length;
}

bool mc_json_is_number(const char *text, size_t length)
{
    const uint8_t *const start = (const uint8_t *)text, *const end = start + length;
    mc_json_number number;
    mc_json_stop stop;
    return mc_json_number_end(start, end, &number, &stop) == end;
}

bool mc_json_text_to_double(const char *text, size_t length, double *value)
{
    const uint8_t *const start = (const uint8_t *)text, *const end = start + length;
    mc_json_number number;
    mc_json_stop stop;
    return mc_json_number_end(start, end, &number, &stop) == end && mc_json_number_double(&number, value);
}
