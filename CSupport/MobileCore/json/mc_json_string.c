/// mc_json_string.c: strings, the words and the description of a bad byte.
#include "json/mc_json_bytes.h"
#include "json/mc_json_scan.h"

#include <stdio.h>
#include <string.h>

const uint8_t *mc_json_utf8_end(const uint8_t *at, const uint8_t *end, mc_json_stop *stop)
{
    static const char continuation[] = "the rest of a UTF-8 character";
    const uint8_t lead = at[0];
    if (lead < 0xC2 || lead > 0xF4)
        return mc_json_stop_at(stop, at, end, "a UTF-8 character");
    const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (end - at < 2 || at[1] < low || at[1] > high)
        return mc_json_stop_at(stop, at + 1, end, continuation);
    for (int index = 2; index < length; index++) {
        if (end - at <= index || (at[index] & 0xC0) != 0x80)
            return mc_json_stop_at(stop, at + index, end, continuation);
    }
    return at + length;
}

static inline int hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    const uint8_t lower = byte | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Reads four hexadecimal digits.
static const uint8_t *hex4_end(const uint8_t *at, const uint8_t *end, unsigned *value, mc_json_stop *stop)
{
    *value = 0;
    for (int index = 0; index < 4; index++, at++) {
        const int digit = at < end ? hex_value(*at) : -1;
        if (digit < 0)
            return mc_json_stop_at(stop, at, end, "a hexadecimal digit");
        // A low surrogate alone is not a character: D must be followed by 0 to 7, or by 8 to B for a pair.
        if (index == 1 && *value == 0xD && digit >= 0xC)
            return mc_json_stop_at(stop, at, end, "a high surrogate before the low one");
        *value = *value << 4 | (unsigned)digit;
    }
    return at;
}

/// Checks one escape; `at` is the backslash.
static const uint8_t *escape_end(const uint8_t *at, const uint8_t *end, mc_json_stop *stop)
{
    at++;
    if (at == end)
        return mc_json_stop_at(stop, at, end, NULL);
    switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return at + 1;
    case 'u': break;
    default: return mc_json_stop_at(stop, at, end, "an escape (one of \"\\/bfnrtu)");
    }
    unsigned unit;
    at = hex4_end(at + 1, end, &unit, stop);
    if (at == NULL || unit < 0xD800 || unit > 0xDFFF)
        return at;
    // The high half of a pair: \uDC00 to \uDFFF must follow, digit by digit.
    static const char *const pattern[] = {"\\", "u", "dD", "cdefCDEF", "0123456789abcdefABCDEF", "0123456789abcdefABCDEF"};
    for (int index = 0; index < 6; index++, at++) {
        if (at == end || *at == 0 || strchr(pattern[index], *at) == NULL)
            return mc_json_stop_at(stop, at, end, "the low surrogate of the pair");
    }
    return at;
}

/// Skips the characters of a string from one that is not plain ASCII; `stop->whole` is the beginning of the last one.
static const uint8_t *special_end(const uint8_t *at, const uint8_t *end, bool *escaped, mc_json_stop *stop)
{
    stop->whole = at;
    if (at == end)
        return mc_json_stop_at(stop, at, end, NULL);
    if (*at == '\\') {
        *escaped = true;
        return escape_end(at, end, stop);
    }
    if (*at < 0x80)
        return mc_json_stop_at(stop, at, end, "a character of a string (control characters are escaped)");
    // Text beyond ASCII comes in runs.
    do {
        stop->whole = at;
        at = mc_json_utf8_end(at, end, stop);
    } while (at != NULL && at < end && *at >= 0x80);
    return at;
}

const uint8_t *mc_json_string_end(const uint8_t *at, const uint8_t *end, bool *escaped, mc_json_stop *stop)
{
    while (at != NULL) {
        at = mc_json_plain_end(at, end);
        if (at < end && *at == '"')
            return at;
        at = special_end(at, end, escaped, stop);
    }
    return NULL;
}

/// Reads the four hexadecimal digits of a validated escape.
static unsigned hex4(const uint8_t *at)
{
    unsigned value = 0;
    for (int index = 0; index < 4; index++)
        value = value << 4 | (unsigned)hex_value(at[index]);
    return value;
}

/// Writes one Unicode scalar as UTF-8: never longer than its escape.
static uint8_t *put_scalar(uint8_t *out, unsigned scalar)
{
    if (scalar < 0x80) {
        *out++ = (uint8_t)scalar;
    } else if (scalar < 0x800) {
        *out++ = (uint8_t)(0xC0 | scalar >> 6);
        *out++ = (uint8_t)(0x80 | (scalar & 0x3F));
    } else if (scalar < 0x10000) {
        *out++ = (uint8_t)(0xE0 | scalar >> 12);
        *out++ = (uint8_t)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (scalar & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | scalar >> 18);
        *out++ = (uint8_t)(0x80 | (scalar >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (scalar >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (scalar & 0x3F));
    }
    return out;
}

/// The byte that a one-letter escape means.
static uint8_t unescaped_letter(uint8_t letter)
{
    switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
    }
}

size_t mc_json_unescape(const uint8_t *text, size_t length, uint8_t *out)
{
    const uint8_t *at = text, *const end = text + length;
    uint8_t *to = out;
    for (;;) {
        const size_t plain = mc_json_copy_plain(at, end, to);
        at += plain;
        to += plain;
        if (at == end)
            return (size_t)(to - out);
        const uint8_t letter = at[1];
        at += 2;
        if (letter != 'u') {
            *to++ = unescaped_letter(letter);
            continue;
        }
        unsigned scalar = hex4(at);
        at += 4;
        if (scalar >= 0xD800 && scalar <= 0xDBFF) {
            scalar = 0x10000 + ((scalar - 0xD800) << 10) + (hex4(at + 2) - 0xDC00);
            at += 6;
        }
        to = put_scalar(to, scalar);
    }
}

const uint8_t *mc_json_word_end(const uint8_t *at, const uint8_t *end, const char *word, mc_json_stop *stop)
{
    for (; *word != '\0'; word++, at++) {
        if (at == end || *at != (uint8_t)*word)
            return mc_json_stop_at(stop, at, end, "null, true or false");
    }
    return at;
}

const char *mc_json_describe(const uint8_t *at, const uint8_t *end, char *buffer, size_t capacity)
{
    if (at >= end)
        (void)snprintf(buffer, capacity, "the end");
    else if (*at > ' ' && *at < 0x7F)
        (void)snprintf(buffer, capacity, "'%c'", *at);
    else
        (void)snprintf(buffer, capacity, "byte 0x%02X", *at);
    return buffer;
}

const char *mc_json_quote_name(const uint8_t *at, const uint8_t *end, const char *after, char buffer[MC_JSON_NAME_SHOWN])
{
    enum { SHOWN_BYTES = 80 };
    mc_json_stop stop;
    bool escaped = false;
    const uint8_t *const name = at + 1, *const quote = mc_json_string_end(name, end, &escaped, &stop);
    size_t length = (size_t)((quote != NULL ? quote : end) - name);
    if (length > SHOWN_BYTES) {
        length = SHOWN_BYTES;
        while (length > 0 && (name[length] & 0xC0) == 0x80)  // inside of a character
            length--;
    }
    (void)snprintf(buffer, MC_JSON_NAME_SHOWN, "\"%.*s\"%s", (int)length, (const char *)name, after);
    return buffer;
}
