/// mc_json_bytes.h: many bytes at a time. Internal; included where the scanner is hot.
///
/// Strings are most of the bytes, so they are read 16 bytes at a time: SSE2 and NEON are part of their architectures' baselines
/// and need no compiler flags. Other machines read 8 bytes at a time in an integer register. So do the last bytes of a chunk
/// everywhere, so that every test with small chunks runs that code as well.
#ifndef MC_JSON_BYTES_H
#define MC_JSON_BYTES_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "json/mc_json_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Returns whether all of 8 bytes may be in a string unescaped and are ASCII.
static inline bool mc_json_is_plain8(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    const uint64_t quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');
    const uint64_t special = ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | (bytes - ones * ' ') | bytes;
    return (special & highs) == 0;
}

/// Scans bytes that may be in a string unescaped: ASCII other than quote, backslash and control characters. Copies them to
/// `out` unless it is NULL; `out` has room for all bytes up to `end`, and the bytes after the copied ones may be overwritten.
static inline __attribute__((always_inline)) const uint8_t *mc_json_plain_run(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    const uint8_t *const start = at;
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(' ');
    while (end - at >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        if (out != NULL)
            _mm_storeu_si128((__m128i *)(void *)(out + (at - start)), bytes);
        // Signed "less than space" finds the control characters and, because they are negative, all bytes beyond ASCII.
        const __m128i special =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)), _mm_cmplt_epi8(bytes, space));
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
        if (out != NULL)
            vst1q_u8(out + (at - start), bytes);
        const uint8x16_t special =
            vorrq_u8(vorrq_u8(vceqq_u8(bytes, quote), vceqq_u8(bytes, backslash)), vcltq_s8(vreinterpretq_s8_u8(bytes), space));
        const uint64_t mask = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(special), 4)), 0);
        if (mask != 0)
            return at + (__builtin_ctzll(mask) >> 2);
        at += 16;
    }
#endif
    // The remaining bytes; on other machines all bytes.
    uint64_t bytes;
    while (end - at >= 8) {
        memcpy(&bytes, at, 8);
        if (!mc_json_is_plain8(bytes))
            break;
        if (out != NULL)
            memcpy(out + (at - start), &bytes, 8);
        at += 8;
    }
    // Less than 8 bytes are read together with preceding plain ones.
    if (end - at < 8 && end - start >= 8 && at < end) {
        memcpy(&bytes, end - 8, 8);
        if (mc_json_is_plain8(bytes)) {
            if (out != NULL)
                memcpy(out + (end - start) - 8, &bytes, 8);
            return end;
        }
    }
    for (; at < end && *at >= ' ' && *at < 0x80 && *at != '"' && *at != '\\'; at++) {
        if (out != NULL)
            out[at - start] = *at;
    }
    return at;
}

/// Skips bytes that may be in a string unescaped.
static inline const uint8_t *mc_json_plain_end(const uint8_t *at, const uint8_t *end)
{
    return mc_json_plain_run(at, end, NULL);
}

/// Copies bytes up to the first backslash, or all of them. Returns their number. `out` has room for all of them, and for 16 bytes more,
/// which may be overwritten.
static inline size_t mc_json_copy_plain(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    const uint8_t *const start = at;
#if defined(__SSE2__)
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16, out += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        _mm_storeu_si128((__m128i *)(void *)out, bytes);
        const unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslash));
        if (mask != 0)
            return (size_t)(at - start) + (size_t)__builtin_ctz(mask);
    }
#endif
    while (at < end && *at != '\\')
        *out++ = *at++;
    return (size_t)(at - start);
}

/// Reads up to 8 digits at once. Returns the number of digits at `at`, at most 8, and their value; `at` has 8 bytes to read.
static inline unsigned mc_json_digits8(const uint8_t *at, uint64_t *value)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t highs = UINT64_C(0xF0F0F0F0F0F0F0F0), threes = UINT64_C(0x3030303030303030);
    // A digit has 3 in its upper half, and still has it when 6 is added.
    const uint64_t wrong = ((bytes & highs) ^ threes) | (((bytes + UINT64_C(0x0606060606060606)) & highs) ^ threes);
    const unsigned count = wrong == 0 ? 8 : (unsigned)__builtin_ctzll(wrong) / 8;
    if (count == 0) {
        *value = 0;
        return 0;
    }
    // The digits move up, so that the zeros shifted in precede them; then pairs, fours and eights are combined.
    bytes = (bytes - threes) << (64 - 8 * count);
    bytes = bytes * 10 + (bytes >> 8);
    bytes = ((bytes & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064)
             + (bytes >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001))
        >> 32;
    *value = bytes;
    return count;
#else
    unsigned count = 0;
    for (*value = 0; count < 8 && (uint8_t)(at[count] - '0') <= 9; count++)
        *value = *value * 10 + (uint64_t)(at[count] - '0');
    return count;
#endif
}

/// Reads the most frequent kinds of numbers, as `mc_json_number_end` does: up to 16 digits before the point and 8 after it, no
/// exponent, and 16 bytes of input left after the point. Returns NULL for any other text, which may be a number or not.
static inline const uint8_t *mc_json_number_short_end(const uint8_t *at, const uint8_t *end, mc_json_number *number)
{
    static const uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    if (end - at < 40)
        return NULL;
    const uint8_t *const text = at;
    const bool negative = *at == '-';
    at += negative;
    const uint8_t *const whole = at;
    uint64_t digits, part;
    at += mc_json_digits8(at, &digits);
    if (at - whole == 8) {
        const unsigned more = mc_json_digits8(at, &part);
        digits = digits * powers[more] + part;
        at += more;
    }
    if (at == whole || (*whole == '0' && at - whole > 1) || (uint8_t)(*at - '0') <= 9)
        return NULL;
    unsigned places = 0;
    const bool integral = *at != '.';
    if (!integral) {
        places = mc_json_digits8(at + 1, &part);
        // Together at most as many digits as fit.
        if (places == 0 || at - whole + places > 18)
            return NULL;
        digits = digits * powers[places] + part;
        at += 1 + places;
        if ((uint8_t)(*at - '0') <= 9)
            return NULL;
    }
    if ((*at | 0x20) == 'e')
        return NULL;
    *number = (mc_json_number){
        .text = text,
        .length = (size_t)(at - text),
        .digits = digits,
        .exponent = -(int64_t)places,
        .negative = negative,
        .integral = integral,
    };
    return at;
}

/// Converts a number without sign from `mc_json_number_short_end` to a double; false if that takes more than one division.
static inline bool mc_json_number_short_double(const mc_json_number *number, double *value)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    if (FLT_EVAL_METHOD != 0 || number->digits > UINT64_C(1) << 53)
        return false;
    *value = (double)number->digits / powers[-number->exponent];
    return true;
}

#endif
