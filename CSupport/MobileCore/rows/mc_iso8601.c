#include "rows/mc_iso8601.h"

#include <string.h>

/// The number of two digits; 100 if the bytes are not digits.
static unsigned two_digits(const uint8_t *text)
{
    const uint8_t tens = (uint8_t)(text[0] - '0'), ones = (uint8_t)(text[1] - '0');
    return tens > 9 || ones > 9 ? 100 : tens * 10U + ones;
}

static unsigned days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

bool mc_iso8601_is_date(const uint8_t *text, size_t length)
{
    if (length != 10 || text[4] != '-' || text[7] != '-')
        return false;
    const unsigned century = two_digits(text), year = two_digits(text + 2), month = two_digits(text + 5), day = two_digits(text + 8);
    return century < 100 && year < 100 && month >= 1 && month <= 12 && day >= 1 && day <= days_of_month(century * 100 + year, month);
}

bool mc_iso8601_is_time(const uint8_t *text, size_t length)
{
    return length == 8 && text[2] == ':' && text[5] == ':' && two_digits(text) < 24 && two_digits(text + 3) < 60
        && two_digits(text + 6) < 60;
}

bool mc_iso8601_is_date_time(const uint8_t *text, size_t length)
{
    if (length < 19 || text[10] != 'T' || !mc_iso8601_is_date(text, 10) || !mc_iso8601_is_time(text + 11, 8))
        return false;
    size_t at = 19;
    if (at < length && text[at] == '.') {
        const size_t fraction = ++at;
        while (at < length && (uint8_t)(text[at] - '0') <= 9)
            at++;
        if (at == fraction)
            return false;
    }
    return at == length || (at + 1 == length && text[at] == 'Z');
}

bool mc_iso8601_is_stored(const uint8_t *text, size_t length)
{
    return length == MC_ISO8601_STORED && text[length - 1] == 'Z';
}

void mc_iso8601_store(const uint8_t *text, size_t length, uint8_t *out)
{
    memcpy(out, text, 19);
    memcpy(out + 19, ".000Z", 5);
    for (size_t at = 20; at < 23 && at < length && text[at] != 'Z'; at++)
        out[at] = text[at];
}
