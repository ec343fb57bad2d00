/// mc_decimal_number.h: a decimal of any length that others are added to, without its sign. Internal.
///
/// Nine digits to a limb, the least significant limb first; the point is between two limbs:
///
///     limbs   [ fraction ... | whole ... ]          12.5 is { 500000000, 12 } with fraction = 1, whole = 1
#ifndef MC_DECIMAL_NUMBER_H
#define MC_DECIMAL_NUMBER_H

#include <stdint.h>

#include "decimal/mc_decimal_text.h"

typedef struct mc_decimal_number {
    uint32_t *limbs;
    size_t fraction, whole;  ///< limbs after and before the point
} mc_decimal_number;

/// Adds a text's digits. Returns false without memory: the number is then unchanged.
bool mc_decimal_add(mc_decimal_number *number, const mc_decimal_text *text);

/// Makes `*larger` the difference of both, and sets `*is_negative` to true if `right` was the larger one, otherwise to false. Both
/// numbers may change. Returns false without memory.
bool mc_decimal_subtract(mc_decimal_number *left, mc_decimal_number *right, mc_decimal_number **larger, bool *is_negative);

/// Divides, and continues after the point until the remainder is 0 or `digits` digits and one to round by are known. `*has_more`: the
/// remainder is not 0. Returns false without memory.
bool mc_decimal_divide(mc_decimal_number *number, uint32_t divisor, size_t digits, bool *has_more);

/// The largest number of characters that `mc_decimal_write` writes.
size_t mc_decimal_written_length(const mc_decimal_number *number);

/// Writes the canonical text, rounded half to even if it has more than `digits` significant digits; `has_more`: more digits followed
/// the last limb. Returns its length.
size_t mc_decimal_write(const mc_decimal_number *number, bool is_negative, size_t digits, bool has_more, char *text);

void mc_decimal_free(mc_decimal_number *number);

#endif
