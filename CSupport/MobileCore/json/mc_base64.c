#include "json/mc_base64.h"

static const uint8_t alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// 64 stands for a byte that is not of the alphabet.
static unsigned sextet(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26u;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52u;
    return byte == '+' ? 62 : byte == '/' ? 63 : 64;
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
        // Bits that the padding cuts off must be 0, or two texts would stand for the same bytes.
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
