/// mc_json_append_number.c: numbers as JSON text.
#include "json/mc_json_append.h"

#include <string.h>

#include "mc_json.h"

enum {
    INTEGER_SIZE = 20,   // the largest number of bytes of an integer
    SCALE_MAXIMUM = 18,  // 10 ^ 18 is the largest power of ten of 64 bits with a sign
};

/// All pairs of digits: a number is written two digits at a time, from the last to the first.
static const char two_digits[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960"
    "616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Writes the last `count` digits of a number so that they end at `end`; returns their beginning.
static uint8_t *put_digits(uint64_t number, unsigned count, uint8_t *end)
{
    for (; count >= 2; count -= 2, number /= 100) {
        end -= 2;
        memcpy(end, two_digits + number % 100 * 2, 2);
    }
    if (count > 0)
        *--end = (uint8_t)('0' + number % 10);
    return end;
}

static unsigned digit_count(uint64_t number)
{
    unsigned count = 1;
    for (; number >= 10000; number /= 10000)
        count += 4;
    return count + (number >= 10) + (number >= 100) + (number >= 1000);
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

mc_status mc_json_append_integer(mc_byte_buffer *buffer, int64_t value)
{
    const mc_status status = mc_byte_buffer_reserve(buffer, INTEGER_SIZE);
    if (status != MC_OK)
        return status;
    const uint64_t number = magnitude(value);
    const unsigned count = digit_count(number);
    uint8_t *out = buffer->bytes + buffer->length;
    *out = '-';
    out += value < 0;
    (void)put_digits(number, count, out + count);
    buffer->length += count + (value < 0);
    return MC_OK;
}

mc_status mc_json_append_double(mc_byte_buffer *buffer, double value)
{
    const mc_status status = mc_byte_buffer_reserve(buffer, MC_JSON_DOUBLE_SIZE);
    if (status != MC_OK)
        return status;
    const size_t length = mc_json_double_to_text(value, (char *)buffer->bytes + buffer->length);
    buffer->length += length;
    return length > 0 ? MC_OK : MC_ERROR_TYPE;
}

mc_status mc_json_append_scaled(mc_byte_buffer *buffer, int64_t value, unsigned scale)
{
    uint64_t number = magnitude(value), power = 1;
    for (; scale > 0 && number % 10 == 0; scale--)
        number /= 10;
    if (scale > SCALE_MAXIMUM)
        return MC_ERROR_TYPE;
    const mc_status status = mc_byte_buffer_reserve(buffer, INTEGER_SIZE + 2 + SCALE_MAXIMUM);
    if (status != MC_OK)
        return status;
    for (unsigned place = 0; place < scale; place++)
        power *= 10;
    const uint64_t whole = number / power;
    const unsigned count = digit_count(whole);
    uint8_t *out = buffer->bytes + buffer->length;
    *out = '-';
    out += value < 0;
    (void)put_digits(whole, count, out + count);
    out += count;
    if (scale > 0) {
        *out = '.';
        (void)put_digits(number - whole * power, scale, out + 1 + scale);
        out += 1 + scale;
    }
    buffer->length = (size_t)(out - buffer->bytes);
    return MC_OK;
}
