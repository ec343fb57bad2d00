/// mc_plain_time.c: times in texts. Digits are moved, and never become a number that is written again.
#include "mc_plain_time.h"

#include <string.h>

#include "base/mc_fail.h"
#include "json/mc_plain_time_internal.h"

enum {
    DATE_LENGTH = 10,       // YYYY-MM-DD
    TIME_LENGTH = 8,        // HH:MM:SS
    DATE_TIME_LENGTH = 24,  // YYYY-MM-DDTHH:MM:SS.SSSZ
    FRACTION_LENGTH = 3,
};

_Static_assert(DATE_TIME_LENGTH == sizeof(((mc_plain_time *)0)->bytes), "the longest form has room");

/// Where the digits of each part go.
enum { AT_HOUR = 11, AT_MINUTE = 14, AT_SECOND = 17, AT_FRACTION = 20 };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/// Reads two digits; -1 for anything else.
static int two_digits(const char *at)
{
    return is_digit(at[0]) && is_digit(at[1]) ? (at[0] - '0') * 10 + (at[1] - '0') : -1;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static bool is_date(const char *at)
{
    const int century = two_digits(at), rest = two_digits(at + 2), month = two_digits(at + 5), day = two_digits(at + 8);
    return century >= 0 && rest >= 0 && at[4] == '-' && at[7] == '-' && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_of(century * 100 + rest, month);
}

/// Reads a time of day up to the end of the text, and writes it to its place in a date and time.
static bool read_time(const char *at, const char *end, char *out)
{
    if (end - at < 5 || two_digits(at) < 0 || two_digits(at) > 23 || at[2] != ':' || two_digits(at + 3) < 0 || two_digits(at + 3) > 59)
        return false;
    memcpy(out + AT_HOUR, at, 2);
    memcpy(out + AT_MINUTE, at + 3, 2);
    at += 5;
    if (at < end && *at == ':') {
        if (end - at < 3 || two_digits(at + 1) < 0 || two_digits(at + 1) > 59)
            return false;
        memcpy(out + AT_SECOND, at + 1, 2);
        at += 3;
        if (at < end && *at == '.') {
            const char *const first = ++at;
            for (; at < end && at - first < FRACTION_LENGTH && is_digit(*at); at++)
                out[AT_FRACTION + (at - first)] = *at;
            if (at == first)
                return false;
        }
    }
    return at == end || (at + 1 == end && *at == 'Z');
}

/// Reads a time into the form of a date and time. Returns false for a text that is not plainly one.
static bool read_text(const char *text, size_t length, bool needs_date, char *out)
{
    memcpy(out, "0000-00-00T00:00:00.000Z", DATE_TIME_LENGTH);
    if (length >= DATE_LENGTH && is_date(text)) {
        memcpy(out, text, DATE_LENGTH);
        if (length == DATE_LENGTH)
            return true;
        return (text[DATE_LENGTH] == 'T' || text[DATE_LENGTH] == ' ') && read_time(text + DATE_LENGTH + 1, text + length, out);
    }
    return !needs_date && read_time(text, text + length, out);
}

bool mc_plain_time_read(const char *text, size_t length, int form, mc_plain_time *out)
{
    const bool is_time_of_day = form == MC_PLAIN_TIME_OF_DAY;
    out->first = is_time_of_day ? AT_HOUR : 0;
    out->length = is_time_of_day ? TIME_LENGTH : form == MC_PLAIN_TIME_DATE ? DATE_LENGTH : DATE_TIME_LENGTH;
    return read_text(text, length, !is_time_of_day, out->bytes);
}

static void give_time(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const int form = sqlite3_value_int(values[1]);
    if (form < MC_PLAIN_TIME_DATE || form > MC_PLAIN_TIME_DATE_TIME) {
        sqlite3_result_error(context, MC_PLAIN_TIME ": expected the form 1, 2 or 3", -1);
        return;
    }
    if (sqlite3_value_type(values[0]) != SQLITE_TEXT)
        return;
    const char *const text = (const char *)sqlite3_value_text(values[0]);
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    mc_plain_time time;
    if (mc_plain_time_read(text, (size_t)sqlite3_value_bytes(values[0]), form, &time))
        sqlite3_result_text(context, time.bytes + time.first, (int)time.length, SQLITE_TRANSIENT);
}

mc_status mc_plain_time_register(sqlite3 *db, mc_error *error)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
    const int code = sqlite3_create_function_v2(db, MC_PLAIN_TIME, 2, flags, NULL, give_time, NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register plain times");
}
