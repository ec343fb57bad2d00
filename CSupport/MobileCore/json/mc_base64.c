#include "json/mc_base64.h"

static const uint8_t alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of a character of the alphabet; 64 for every other byte.
static inline unsigned sextet(uint8_t byte)
{
    static const uint8_t values[256] = {
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 62, 64, 64, 64, 63, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64, 64,
        64, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 64,
        64, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 64, 64, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    };
    return values[byte];
}

bool mc_base64_decode(const uint8_t *text, size_t length, uint8_t *out, size_t *out_length)
{
    *out_length = 0;
    if (length % 4 != 0)
        return false;
    const size_t padding = length == 0 || text[length - 1] != '=' ? 0 : text[length - 2] != '=' ? 1 : 2;
    uint8_t *to = out;
    for (size_t index = 0; index < length; index += 4) {
        const bool last = index + 4 == length;
        const unsigned a = sextet(text[index]), b = sextet(text[index + 1]);
        const unsigned c = last && padding == 2 ? 0 : sextet(text[index + 2]);
        const unsigned d = last && padding >= 1 ? 0 : sextet(text[index + 3]);
        if ((a | b | c | d) > 63)
            return false;
        const unsigned triple = a << 18 | b << 12 | c << 6 | d;
        // Bits that the padding cuts off must be 0, or two texts would mean the same bytes.
        if (last && ((padding == 1 && (triple & 0xFF) != 0) || (padding == 2 && (triple & 0xFFFF) != 0)))
            return false;
        *to++ = (uint8_t)(triple >> 16);
        if (!last || padding < 2)
            *to++ = (uint8_t)(triple >> 8);
        if (!last || padding < 1)
            *to++ = (uint8_t)triple;
    }
    *out_length = (size_t)(to - out);
    return true;
}

/// Takes a character that is not in a group of four plain ones. Returns false if it is not allowed.
static bool take_character(mc_base64_state *state, uint8_t character, uint8_t **out)
{
    enum { PADDING = 64 };  // in the place of a third value
    uint8_t *const kept = state->kept;
    const bool follows_padding = state->count == 3 && kept[2] == PADDING;
    const unsigned value = sextet(character);
    if (state->is_padded || (value > 63 && character != '=') || (follows_padding && character != '='))
        return false;
    // Bits that the padding cuts off must be 0, or two texts would mean the same bytes.
    if (character == '=' && !follows_padding && (state->count < 2 || (kept[state->count - 1] & (state->count == 2 ? 0x0F : 0x03)) != 0))
        return false;
    if (state->count < 3) {
        kept[state->count++] = character == '=' ? PADDING : (uint8_t)value;
        return true;
    }
    *(*out)++ = (uint8_t)(kept[0] << 2 | kept[1] >> 4);
    if (!follows_padding)
        *(*out)++ = (uint8_t)(kept[1] << 4 | kept[2] >> 2);
    if (character != '=')
        *(*out)++ = (uint8_t)((unsigned)kept[2] << 6 | value);
    state->is_padded = character == '=';
    state->count = 0;
    return true;
}

size_t mc_base64_decode_part(mc_base64_state *state, const uint8_t *text, size_t length, uint8_t *out, size_t *out_length)
{
    uint8_t *to = out;
    size_t index = 0;
    while (index < length) {
        if (state->count == 0 && !state->is_padded && length - index >= 4) {
            const unsigned a = sextet(text[index]), b = sextet(text[index + 1]), c = sextet(text[index + 2]), d = sextet(text[index + 3]);
            if ((a | b | c | d) <= 63) {
                *to++ = (uint8_t)(a << 2 | b >> 4);
                *to++ = (uint8_t)(b << 4 | c >> 2);
                *to++ = (uint8_t)(c << 6 | d);
                index += 4;
                continue;
            }
        }
        if (!take_character(state, text[index], &to))
            break;
        index++;
    }
    *out_length = (size_t)(to - out);
    return index;
}

void mc_base64_encode(const uint8_t *bytes, size_t length, uint8_t *out)
{
    while (length > 0) {
        const unsigned triple = (unsigned)bytes[0] << 16 | (length > 1 ? (unsigned)bytes[1] << 8 : 0) | (length > 2 ? bytes[2] : 0);
        *out++ = alphabet[triple >> 18];
        *out++ = alphabet[triple >> 12 & 63];
        *out++ = length > 1 ? alphabet[triple >> 6 & 63] : '=';
        *out++ = length > 2 ? alphabet[triple & 63] : '=';
        bytes += length > 3 ? 3 : length;
        length -= length > 3 ? 3 : length;
    }
}
