/// mc_json_write.c: strings and doubles as JSON text.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mc_json.h"
#include "json/mc_json_append.h"
#include "json/mc_json_bytes.h"
#include "json/mc_json_scan.h"

size_t mc_json_escape_bound(size_t length)
{
    return length > (SIZE_MAX - 2) / 6 ? SIZE_MAX : length * 6 + 2;
}

/// Writes one escape for a byte that is not allowed unescaped in a string.
static uint8_t *put_escape(uint8_t *to, uint8_t byte)
{
    static const char hexadecimal[] = "0123456789abcdef";
    *to++ = '\\';
    switch (byte) {
    case '"':
    case '\\': *to++ = byte; return to;
    case '\b': *to++ = 'b'; return to;
    case '\f': *to++ = 'f'; return to;
    case '\n': *to++ = 'n'; return to;
    case '\r': *to++ = 'r'; return to;
    case '\t': *to++ = 't'; return to;
    default:
        memcpy(to, "u00", 3);
        to[3] = (uint8_t)hexadecimal[byte >> 4];
        to[4] = (uint8_t)hexadecimal[byte & 0xF];
        return to + 5;
    }
}

/// Escapes the bytes from `*from` to `end` into `out`, which has room for six times their number. Returns the end of the written text;
/// NULL if a byte is not UTF-8, which `*from` then points at.
static uint8_t *escape(const uint8_t **from, const uint8_t *end, uint8_t *out)
{
    const uint8_t *at = *from;
    while (at < end) {
        // The scanner for reading finds the bytes that are allowed unescaped.
        const uint8_t *const run = at;
        at = mc_json_plain_run(at, end, out);
        out += at - run;
        if (at == end)
            break;
        if (*at < 0x80) {
            out = put_escape(out, *at++);
            continue;
        }
        mc_json_stop stop;
        const uint8_t *const next = mc_json_utf8_end(at, end, &stop);
        if (next == NULL) {
            *from = at;
            return NULL;
        }
        do
            *out++ = *at++;
        while (at < next);
    }
    *from = end;
    return out;
}

size_t mc_json_escape(const char *text, size_t length, char *out, size_t *bad)
{
    const uint8_t *const start = (const uint8_t *)text, *at = start;
    uint8_t *to = (uint8_t *)out;
    *to++ = '"';
    if (length > 0)
        to = escape(&at, start + length, to);
    if (to == NULL) {
        *bad = (size_t)(at - start);
        return 0;
    }
    *to++ = '"';
    return (size_t)(to - (uint8_t *)out);
}

/// Finds the end of the next piece of text: not inside of a character, if the text is UTF-8.
static const uint8_t *piece_end(const uint8_t *at, const uint8_t *end)
{
    enum { PIECE = 2048 };
    if (end - at <= PIECE)
        return end;
    const uint8_t *cut = at + PIECE;
    for (int back = 0; back < 3 && (*cut & 0xC0) == 0x80; back++)
        cut--;
    return cut;
}

mc_status mc_json_append_characters(mc_byte_buffer *buffer, const char *text, size_t length, size_t *bad)
{
    const uint8_t *const start = (const uint8_t *)text, *at = start, *const end = length > 0 ? start + length : start;
    mc_status status = MC_OK;
    // Piece by piece, so that the room reserved for possible escapes stays small.
    while (at < end) {
        const uint8_t *const piece = piece_end(at, end);
        status = mc_byte_buffer_reserve(buffer, (size_t)(piece - at) * 6);
        if (status != MC_OK)
            break;
        uint8_t *const to = escape(&at, piece, buffer->bytes + buffer->length);
        if (to == NULL) {
            *bad = (size_t)(at - start);
            return MC_ERROR_CORRUPT;
        }
        buffer->length = (size_t)(to - buffer->bytes);
    }
    return status;
}

/// The largest number of bytes of a string that is written at once, with room for six times their number.
enum { SHORT_STRING = 512 };

mc_status mc_json_append_string(mc_byte_buffer *buffer, const char *text, size_t length, size_t *bad)
{
    mc_status status;
    if (length > 0 && length <= SHORT_STRING) {
        status = mc_byte_buffer_reserve(buffer, mc_json_escape_bound(length));
        if (status != MC_OK)
            return status;
        const size_t written = mc_json_escape(text, length, (char *)buffer->bytes + buffer->length, bad);
        buffer->length += written;
        return written > 0 ? MC_OK : MC_ERROR_CORRUPT;
    }
    status = mc_byte_buffer_append(buffer, "\"", 1);
    if (status == MC_OK)
        status = mc_json_append_characters(buffer, text, length, bad);
    return status == MC_OK ? mc_byte_buffer_append(buffer, "\"", 1) : status;
}

/// Copies a number that was written with "%g". Its text is JSON except for the point, which depends on the locale: any other bytes
/// become a '.'.
static size_t copy_number(const char *text, char *out)
{
    size_t length = 0;
    for (; *text != '\0'; text++) {
        const bool known = (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == 'e';
        if (known)
            out[length++] = *text;
        else if (out[length - 1] != '.')  // the first byte is never the point: a digit comes before it
            out[length++] = '.';
    }
    return length;
}

/// Writes a double that has a short decimal notation, such as a price: `value` is `whole / 10 ^ places` with at most 15
/// digits. Division of two exact doubles rounds correctly, so the text reads back as the same value, and no two decimals of
/// 15 digits read as one double: the first that fits is the shortest.
static size_t short_text(double value, char *out)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    const double magnitude = fabs(value);
    for (unsigned places = 0; places < sizeof powers / sizeof powers[0]; places++) {
        const double shifted = magnitude * powers[places];
        if (!(shifted < 1e15))
            return 0;
        const uint64_t whole = (uint64_t)(shifted + 0.5);
        if ((double)whole / powers[places] != magnitude)
            continue;
        char digits[24];
        size_t count = 0, length = 0;
        uint64_t rest = whole;
        while (rest > 0 || count <= places) {
            digits[count++] = (char)('0' + rest % 10);
            rest /= 10;
            if (count == places)
                digits[count++] = '.';
        }
        // One digit is before the point even if the number is smaller than 1.
        if (digits[count - 1] == '.')
            digits[count++] = '0';
        if (signbit(value))
            out[length++] = '-';
        while (count > 0)
            out[length++] = digits[--count];
        return length;
    }
    return 0;
}

size_t mc_json_double_to_text(double value, char *out)
{
    if (!isfinite(value))
        return 0;
    size_t length = short_text(value, out);
    // 15 digits of a normal double are exact and end without zeros: nothing shorter reads back. Subnormals have fewer.
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; length == 0 && digits <= 17; digits++) {
        char text[MC_JSON_DOUBLE_SIZE];
        double back;
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        length = copy_number(text, out);
        if (digits < 17 && (!mc_json_text_to_double(out, length, &back) || back != value))
            length = 0;
    }
    // A double keeps a point or an exponent, so that it reads back as a double.
    for (size_t index = 0; index < length; index++) {
        if (out[index] == '.' || out[index] == 'e')
            return length;
    }
    memcpy(out + length, ".0", 2);
    return length + 2;
}
