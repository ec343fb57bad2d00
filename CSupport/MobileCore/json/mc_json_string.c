/// mc_json_string.c: strings, the words and the description of a bad byte.
///
/// Strings are most of the bytes, so they are looked at 16 at a time: SSE2 and NEON are part of their architectures' baselines
/// and need no compiler flags. Other machines take 8 bytes at a time in an integer register.
#include "json/mc_json_scan.h"

#include <stdio.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Skips bytes that need no thought: ASCII other than quote, backslash and control characters. May stop early.
static inline const uint8_t *skip_plain(const uint8_t *at, const uint8_t *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        // Signed "less than space" finds the control characters and, being negative, everything beyond ASCII.
        const __m128i special = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), _mm_cmplt_epi8(bytes, space));
        const unsigned mask = (unsigned)_mm_movemask_epi8(special);
        if (mask != 0)
            return at + __builtin_ctz(mask);
        at += 16;
    }
#elif defined(__ARM_NEON) && defined(__aarch64__)
    const uint8x16_t quote = vdupq_n_u8('"'), backslash = vdupq_n_u8('\\');
    const int8x16_t space = vdupq_n_s8(' ');
    while (end - at >= 16) {
        const uint8x16_t bytes = vld1q_u8(at);
        const uint8x16_t special = vorrq_u8(vorrq_u8(vceqq_u8(bytes, quote), vceqq_u8(bytes, backslash)),
                                            vcltq_s8(vreinterpretq_s8_u8(bytes), space));
        const uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
        if (mask != 0)
            return at + (__builtin_ctzll(mask) >> 2);
        at += 16;
    }
#else
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    while (end - at >= 8) {
        uint64_t bytes;
        memcpy(&bytes, at, 8);
        const uint64_t quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');
        const uint64_t special = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | (bytes - ones * ' ') | bytes;
        if ((special & highs) != 0)
            break;
        at += 8;
    }
#endif
    while (at < end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\')
        at++;
    return at;
}

const uint8_t *mc_json_plain_end(const uint8_t *at, const uint8_t *end)
{
    return skip_plain(at, end);
}

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
        // A low surrogate alone is no character: D must be followed by 0 to 7, or by 8 to B for a pair.
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
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
        return at + 1;
    case 'u':
        break;
    default:
        return mc_json_stop_at(stop, at, end, "an escape (one of \"\\/bfnrtu)");
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

const uint8_t *mc_json_string_end(const uint8_t *at, const uint8_t *end, bool *escaped, mc_json_stop *stop)
{
    for (;;) {
        at = skip_plain(at, end);
        if (at == end)
            return mc_json_stop_at(stop, at, end, NULL);
        if (*at == '"')
            return at;
        if (*at == '\\') {
            *escaped = true;
            at = escape_end(at, end, stop);
        } else if (*at >= 0x80) {
            // Text beyond ASCII comes in runs.
            do
                at = mc_json_utf8_end(at, end, stop);
            while (at != NULL && at < end && *at >= 0x80);
        } else {
            return mc_json_stop_at(stop, at, end, "a character of a string (control characters are escaped)");
        }
        if (at == NULL)
            return NULL;
    }
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

/// The byte that a one-letter escape stands for.
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
    while (at < end) {
        const uint8_t *const backslash = memchr(at, '\\', (size_t)(end - at));
        const size_t plain = (size_t)((backslash != NULL ? backslash : end) - at);
        memcpy(to, at, plain);
        to += plain;
        if (backslash == NULL)
            break;
        at = backslash + 2;
        if (backslash[1] != 'u') {
            *to++ = unescaped_letter(backslash[1]);
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
    return (size_t)(to - out);
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
