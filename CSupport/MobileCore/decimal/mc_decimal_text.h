/// mc_decimal_text.h: the parsed text of a decimal. Internal.
#ifndef MC_DECIMAL_TEXT_H
#define MC_DECIMAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/// The significant digits, in place in the text: without zeros at the beginning of the whole part and at the end of the fraction.
typedef struct mc_decimal_text {
    const char *whole;
    size_t whole_length;
    const char *fraction;
    size_t fraction_length;
    bool is_negative;  ///< false for zero
} mc_decimal_text;

/// Parses a text. Returns false unless it is a decimal: an optional sign, digits, and optionally a point followed by digits.
bool mc_decimal_parse(const char *text, size_t length, mc_decimal_text *out);

/// Compares the numbers: the result is less than 0, 0 or greater than 0.
int mc_decimal_compare(const mc_decimal_text *left, const mc_decimal_text *right);

#endif
