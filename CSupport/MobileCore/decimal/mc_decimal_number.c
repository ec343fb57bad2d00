/// mc_decimal_number.c: exact sums of decimals, and their quotient by a count.
#include "decimal/mc_decimal_number.h"

#include <string.h>

#include "base/mc_memory.h"

enum { LIMB_DIGITS = 9 };
static const uint32_t LIMB_BASE = 1000000000;

static size_t limbs_for(size_t digits)
{
    return (digits + LIMB_DIGITS - 1) / LIMB_DIGITS;
}

/// Makes room for this number of limbs on both sides of the point; the new limbs are 0.
static bool widen(mc_decimal_number *number, size_t fraction, size_t whole)
{
    if (fraction < number->fraction)
        fraction = number->fraction;
    if (whole < number->whole)
        whole = number->whole;
    if (fraction == number->fraction && whole == number->whole)
        return true;
    uint32_t *const limbs = mc_allocate_zeroed(fraction + whole, sizeof *limbs);
    if (limbs == NULL)
        return false;
    if (number->limbs != NULL)
        memcpy(limbs + (fraction - number->fraction), number->limbs, (number->fraction + number->whole) * sizeof *limbs);
    mc_free(number->limbs);
    *number = (mc_decimal_number){.limbs = limbs, .fraction = fraction, .whole = whole};
    return true;
}

/// The value of some digits, as if zeros followed up to `width`.
static uint32_t limb_of(const char *digits, size_t count, size_t width)
{
    uint32_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value * 10 + (i < count ? (uint32_t)(digits[i] - '0') : 0);
    return value;
}

/// The limb of a text at `index` of a number with `fraction` limbs after the point.
static uint32_t limb_at(const mc_decimal_text *text, size_t index, size_t fraction)
{
    if (index < fraction) {
        const size_t start = (fraction - 1 - index) * LIMB_DIGITS;
        return start < text->fraction_length ? limb_of(text->fraction + start, text->fraction_length - start, LIMB_DIGITS) : 0;
    }
    const size_t behind = (index - fraction) * LIMB_DIGITS;  // digits of lower limbs
    if (behind >= text->whole_length)
        return 0;
    const size_t end = text->whole_length - behind, count = end < LIMB_DIGITS ? end : LIMB_DIGITS;
    return limb_of(text->whole + (end - count), count, count);
}

bool mc_decimal_add(mc_decimal_number *number, const mc_decimal_text *text)
{
    const size_t whole = limbs_for(text->whole_length);
    // The number keeps a limb above all that is added, which takes the carries: so no addition fails half-way.
    const bool has_room = number->whole > whole && number->limbs[number->fraction + number->whole - 1] < LIMB_BASE - 1;
    const size_t larger = number->whole > whole ? number->whole : whole;
    if (!widen(number, limbs_for(text->fraction_length), has_room ? larger : larger + 1))
        return false;
    uint32_t carry = 0;
    const size_t count = number->fraction + number->whole;
    for (size_t i = 0; i < count; i++) {
        const uint32_t sum = number->limbs[i] + limb_at(text, i, number->fraction) + carry;
        carry = sum >= LIMB_BASE ? 1 : 0;
        number->limbs[i] = sum - carry * LIMB_BASE;
    }
    return true;
}

bool mc_decimal_subtract(mc_decimal_number *left, mc_decimal_number *right, mc_decimal_number **larger, bool *is_negative)
{
    if (!widen(left, right->fraction, right->whole) || !widen(right, left->fraction, left->whole))
        return false;
    const size_t count = left->fraction + left->whole;
    size_t top = count;
    while (top > 0 && left->limbs[top - 1] == right->limbs[top - 1])
        top--;
    *is_negative = top > 0 && left->limbs[top - 1] < right->limbs[top - 1];
    *larger = *is_negative ? right : left;
    const mc_decimal_number *const smaller = *is_negative ? left : right;
    uint32_t borrow = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t taken = smaller->limbs[i] + borrow, has = (*larger)->limbs[i];
        borrow = has < taken ? 1 : 0;
        (*larger)->limbs[i] = has + borrow * LIMB_BASE - taken;
    }
    return true;
}

/// Digits from the first one that is not 0 on.
static size_t significant_digits(const mc_decimal_number *number)
{
    size_t top = number->fraction + number->whole;
    while (top > 0 && number->limbs[top - 1] == 0)
        top--;
    size_t digits = top > 0 ? (top - 1) * LIMB_DIGITS : 0;
    for (uint32_t limb = top > 0 ? number->limbs[top - 1] : 0; limb > 0; limb /= 10)
        digits++;
    return digits;
}

bool mc_decimal_divide(mc_decimal_number *number, uint32_t divisor, size_t digits, bool *has_more)
{
    uint64_t left = 0;
    for (size_t i = number->fraction + number->whole; i-- > 0;) {
        left = left * LIMB_BASE + number->limbs[i];
        number->limbs[i] = (uint32_t)(left / divisor);
        left %= divisor;
    }
    while (left > 0 && (number->fraction == 0 || significant_digits(number) <= digits)) {
        if (!widen(number, number->fraction + 1, number->whole))
            return false;
        left *= LIMB_BASE;
        number->limbs[0] = (uint32_t)(left / divisor);
        left %= divisor;
    }
    *has_more = left > 0;
    return true;
}

size_t mc_decimal_written_length(const mc_decimal_number *number)
{
    return (number->fraction + number->whole) * LIMB_DIGITS + 4;  // sign, point, a digit before it, one that rounding adds
}

/// Writes all digits, those before the point first. Returns the number of digits before the point.
static size_t write_digits(const mc_decimal_number *number, char *digits)
{
    const size_t count = number->fraction + number->whole;
    for (size_t i = 0; i < count; i++) {
        uint32_t limb = number->limbs[count - 1 - i];
        for (size_t digit = LIMB_DIGITS; digit-- > 0; limb /= 10)
            digits[i * LIMB_DIGITS + digit] = (char)('0' + limb % 10);
    }
    return number->whole * LIMB_DIGITS;
}

/// Clears the digits from `kept` on and rounds the last one that stays. The digit before the first one is 0, so it has room.
static void round_digits(char *digits, size_t kept, size_t count, bool has_more)
{
    bool is_beyond_half = has_more;
    for (size_t i = kept + 1; i < count && !is_beyond_half; i++)
        is_beyond_half = digits[i] != '0';
    const bool is_odd = (digits[kept - 1] - '0') % 2 == 1;
    const bool goes_up = digits[kept] > '5' || (digits[kept] == '5' && (is_beyond_half || is_odd));
    memset(digits + kept, '0', count - kept);
    if (!goes_up)
        return;
    size_t place = kept;
    while (digits[place - 1] == '9')
        digits[--place] = '0';
    digits[place - 1]++;
}

size_t mc_decimal_write(const mc_decimal_number *number, bool is_negative, size_t digits, bool has_more, char *text)
{
    char *const start = text + 3;  // room for the sign, a leading 0 of the whole part, and one for the point
    start[-1] = '0';
    const size_t whole = write_digits(number, start), count = whole + number->fraction * LIMB_DIGITS;
    size_t first = 0;
    while (first < count && start[first] == '0')
        first++;
    size_t kept = first + digits > whole ? first + digits : whole;
    if (kept < count)
        round_digits(start, kept, count, has_more);
    // The whole part begins one digit earlier if rounding has made it longer.
    const char *from = start[-1] != '0' ? start - 1 : start;
    while (from < start + whole && *from == '0')
        from++;
    size_t end = count;
    while (end > whole && start[end - 1] == '0')
        end--;
    const size_t whole_length = (size_t)(start + whole - from);
    char *out = text;
    if (is_negative && (whole_length > 0 || end > whole))
        *out++ = '-';
    if (whole_length == 0)
        *out++ = '0';
    memmove(out, from, whole_length);
    out += whole_length;
    if (end > whole) {
        *out++ = '.';
        memmove(out, start + whole, end - whole);
        out += end - whole;
    }
    return (size_t)(out - text);
}

void mc_decimal_free(mc_decimal_number *number)
{
    mc_free(number->limbs);
    *number = (mc_decimal_number){0};
}
