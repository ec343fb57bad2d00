/// mc_decimal_text.c: parses the texts of decimals, and compares them.
#include "decimal/mc_decimal_text.h"

#include <string.h>

static size_t count_digits(const char *text, size_t length)
{
    size_t count = 0;
    while (count < length && text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

bool mc_decimal_parse(const char *text, size_t length, mc_decimal_text *out)
{
    const bool has_sign = length > 0 && (text[0] == '-' || text[0] == '+');
    const bool is_negative = has_sign && text[0] == '-';
    if (has_sign) {
        text++;
        length--;
    }
    mc_decimal_text parts = {.whole = text, .whole_length = count_digits(text, length), .fraction = text, .is_negative = is_negative};
    if (parts.whole_length == 0)
        return false;
    if (parts.whole_length < length) {
        if (text[parts.whole_length] != '.')
            return false;
        parts.fraction = text + parts.whole_length + 1;
        parts.fraction_length = length - parts.whole_length - 1;
        if (parts.fraction_length == 0 || count_digits(parts.fraction, parts.fraction_length) != parts.fraction_length)
            return false;
    }
    while (parts.whole_length > 0 && parts.whole[0] == '0') {
        parts.whole++;
        parts.whole_length--;
    }
    while (parts.fraction_length > 0 && parts.fraction[parts.fraction_length - 1] == '0')
        parts.fraction_length--;
    if (parts.whole_length == 0 && parts.fraction_length == 0)
        parts.is_negative = false;
    *out = parts;
    return true;
}

/// Compares the magnitudes.
static int compare_magnitudes(const mc_decimal_text *left, const mc_decimal_text *right)
{
    if (left->whole_length != right->whole_length)
        return left->whole_length < right->whole_length ? -1 : 1;
    const int whole = memcmp(left->whole, right->whole, left->whole_length);
    if (whole != 0)
        return whole;
    const size_t common = left->fraction_length < right->fraction_length ? left->fraction_length : right->fraction_length;
    const int fraction = memcmp(left->fraction, right->fraction, common);
    if (fraction != 0 || left->fraction_length == right->fraction_length)
        return fraction;
    return left->fraction_length < right->fraction_length ? -1 : 1;
}

int mc_decimal_compare(const mc_decimal_text *left, const mc_decimal_text *right)
{
    if (left->is_negative != right->is_negative)
        return left->is_negative ? -1 : 1;
    return left->is_negative ? compare_magnitudes(right, left) : compare_magnitudes(left, right);
}
