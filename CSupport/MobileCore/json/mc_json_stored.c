/// mc_json_stored.c: stored values as JSON.
#include "json/mc_json_stored.h"

#include <string.h>

#include "mc_message.h"
#include "json/mc_base64.h"
#include "json/mc_json_append.h"

/// The most bytes that an integer takes.
enum { INTEGER_SIZE = 20 };

/// Two digits at a time, from the last to the first.
static const char two_digits[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960"
    "616263646566676869707172737475767778798081828384858687888990919293949596979899";

/// Writes the last `count` digits of a number so that they end at `end`; returns where they begin.
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

static mc_status append_double(mc_byte_buffer *buffer, double value, const char **problem)
{
    const mc_status status = mc_json_append_double(buffer, value);
    if (status == MC_ERROR_TYPE)
        *problem = "expected a finite number, found an infinity";
    return status;
}

/// Writes `value / 10 ^ scale` without superfluous zeros.
static mc_status append_scaled(mc_byte_buffer *buffer, int64_t value, unsigned scale, const char **problem)
{
    uint64_t number = magnitude(value), power = 1;
    for (; scale > 0 && number % 10 == 0; scale--)
        number /= 10;
    if (scale > MC_DECIMAL_SCALED_PRECISION) {
        *problem = "expected a decimal as text, found an integer: no scaled integer has so many digits behind the point";
        return MC_ERROR_TYPE;
    }
    const mc_status status = mc_byte_buffer_reserve(buffer, INTEGER_SIZE + 2 + MC_DECIMAL_SCALED_PRECISION);
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

static mc_status append_text(mc_byte_buffer *buffer, const mc_stored *value, const char **problem)
{
    size_t bad = 0;
    const mc_status status = mc_json_append_string(buffer, (const char *)value->bytes, value->length, &bad);
    if (status == MC_ERROR_CORRUPT)
        *problem = "expected text in UTF-8, found other bytes";
    return status;
}

/// A number in a column of text.
static mc_status append_quoted_number(mc_byte_buffer *buffer, const mc_stored *value, const char **problem)
{
    mc_status status = mc_byte_buffer_append(buffer, "\"", 1);
    if (status == MC_OK)
        status =
            value->storage == SQLITE_INTEGER ? mc_json_append_integer(buffer, value->integer) : append_double(buffer, value->real, problem);
    return status == MC_OK ? mc_byte_buffer_append(buffer, "\"", 1) : status;
}

static mc_status append_blob(mc_byte_buffer *buffer, const mc_stored *value)
{
    const size_t encoded = mc_base64_length(value->length);
    const mc_status status = mc_byte_buffer_reserve(buffer, encoded + 2);
    if (status != MC_OK)
        return status;
    uint8_t *const out = buffer->bytes + buffer->length;
    out[0] = '"';
    if (value->length > 0)
        mc_base64_encode(value->bytes, value->length, out + 1);
    out[encoded + 1] = '"';
    buffer->length += encoded + 2;
    return MC_OK;
}

/// A decimal that is kept as text: it is JSON already, if it is a number.
static mc_status append_plain(mc_byte_buffer *buffer, const mc_stored *value, const char **problem)
{
    if (value->length == 0 || !mc_json_is_number((const char *)value->bytes, value->length)) {
        *problem = "expected a decimal, found other text";
        return MC_ERROR_TYPE;
    }
    return mc_byte_buffer_append(buffer, value->bytes, value->length);
}

static mc_status append_any(mc_byte_buffer *buffer, const mc_stored *value, const char **problem)
{
    switch (value->storage) {
    case SQLITE_INTEGER: return mc_json_append_integer(buffer, value->integer);
    case SQLITE_FLOAT: return append_double(buffer, value->real, problem);
    case SQLITE_TEXT: return append_text(buffer, value, problem);
    default: return append_blob(buffer, value);
    }
}

mc_status mc_json_append_stored(mc_byte_buffer *buffer, const mc_stored *value, const mc_column *rule, const char **problem)
{
    if (value->storage == SQLITE_NULL)
        return mc_byte_buffer_append(buffer, "null", 4);
    switch (rule->type) {
    case MC_COLUMN_INTEGER:
    case MC_COLUMN_LARGE_TEXT:  // the id, where the value itself is not asked for
    case MC_COLUMN_LARGE_BLOB:
        if (value->storage == SQLITE_INTEGER)
            return mc_json_append_integer(buffer, value->integer);
        break;
    case MC_COLUMN_DECIMAL:
        if (value->storage == SQLITE_INTEGER)
            return append_scaled(buffer, value->integer, rule->scale, problem);
        if (value->storage == SQLITE_TEXT)
            return append_plain(buffer, value, problem);
        break;
    case MC_COLUMN_REAL:
        if (value->storage == SQLITE_FLOAT)
            return append_double(buffer, value->real, problem);
        if (value->storage == SQLITE_INTEGER)
            return append_double(buffer, (double)value->integer, problem);
        break;
    case MC_COLUMN_BOOLEAN:
        if (value->storage == SQLITE_INTEGER)
            return value->integer != 0 ? mc_byte_buffer_append(buffer, "true", 4) : mc_byte_buffer_append(buffer, "false", 5);
        break;
    case MC_COLUMN_TEXT:
    case MC_COLUMN_DATE:
    case MC_COLUMN_TIME:
    case MC_COLUMN_DATE_TIME:
        if (value->storage == SQLITE_TEXT || value->storage == SQLITE_BLOB)
            return append_text(buffer, value, problem);
        return append_quoted_number(buffer, value, problem);
    case MC_COLUMN_BLOB:
        if (value->storage == SQLITE_TEXT || value->storage == SQLITE_BLOB)
            return append_blob(buffer, value);
        break;
    case MC_COLUMN_ANY: return append_any(buffer, value, problem);
    }
    *problem = "expected a value that its type can write, found other storage";
    return MC_ERROR_TYPE;
}

bool mc_stored_from_value(sqlite3_value *value, mc_column_type type, mc_stored *out)
{
    out->storage = sqlite3_value_type(value);
    if (out->storage == SQLITE_NULL)
        return true;
    if (type == MC_COLUMN_TEXT)
        out->storage = SQLITE_TEXT;
    else if (type == MC_COLUMN_BLOB)
        out->storage = SQLITE_BLOB;
    switch (out->storage) {
    case SQLITE_INTEGER: out->integer = sqlite3_value_int64(value); return true;
    case SQLITE_FLOAT: out->real = sqlite3_value_double(value); return true;
    case SQLITE_TEXT:
        out->bytes = sqlite3_value_text(value);
        out->length = (size_t)sqlite3_value_bytes(value);
        return out->bytes != NULL;
    default:
        out->bytes = sqlite3_value_blob(value);  // NULL when it is empty
        out->length = (size_t)sqlite3_value_bytes(value);
        return out->bytes != NULL || out->length == 0;
    }
}

mc_stored mc_stored_from_cell(const mc_row_page *page, const mc_cell *cell)
{
    mc_stored value = {.storage = (int)cell->type};
    switch (cell->type) {
    case MC_TYPE_INTEGER: value.integer = cell->value.integer; break;
    case MC_TYPE_REAL: value.real = cell->value.real; break;
    case MC_TYPE_TEXT:
    case MC_TYPE_BLOB:
        value.bytes = mc_row_page_bytes(page, cell);
        value.length = cell->length;
        break;
    default: break;
    }
    return value;
}
