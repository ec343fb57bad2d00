/// mc_decimal_text.h: a decimal's text taken apart. Internal.
#ifndef MC_DECIMAL_TEXT_H
#define MC_DECIMAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/// The digits that count, where they lie in the text: no zeros at the beginning of the whole part nor at the end of the fraction.
typedef struct mc_decimal_text {
    const char *whole;
    size_t whole_length;
    const char *fraction;
    size_t fraction_length;
    bool is_negative;  ///< never of zero
} mc_decimal_text;

/// Takes a text apart. False where it is no decimal: a sign or none, digits, a point with digits on both sides or none.
bool mc_decimal_parse(const char *text, size_t length, mc_decimal_text *out);

/// Less than 0, 0 or greater than 0, as the numbers are.
int mc_decimal_compare(const mc_decimal_text *left, const mc_decimal_text *right);

#endif
