#include "export/mc_export_value.h"

#include <string.h>

#include "json/mc_base64.h"
#include "json/mc_json_append.h"
#include "mc_message.h"

/// The most bytes that an integer takes.
enum { INTEGER_SIZE = 20 };

/// Writes an integer; returns its length.
static size_t put_integer(int64_t value, uint8_t *out)
{
    uint8_t digits[INTEGER_SIZE];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    size_t length = 0;
    if (value < 0)
        out[length++] = '-';
    while (count > 0)
        out[length++] = digits[--count];
    return length;
}

static mc_status append_integer(mc_byte_buffer *buffer, int64_t value)
{
    const mc_status status = mc_byte_buffer_reserve(buffer, INTEGER_SIZE);
    if (status == MC_OK)
        buffer->length += put_integer(value, buffer->bytes + buffer->length);
    return status;
}

static mc_status append_double(mc_byte_buffer *buffer, double value, const char **problem)
{
    const mc_status status = mc_byte_buffer_reserve(buffer, MC_JSON_DOUBLE_SIZE);
    if (status != MC_OK)
        return status;
    const size_t length = mc_json_double_to_text(value, (char *)buffer->bytes + buffer->length);
    if (length == 0) {
        *problem = "expected a finite number, found an infinity";
        return MC_ERROR_TYPE;
    }
    buffer->length += length;
    return MC_OK;
}

/// Writes `value / 10 ^ scale` without superfluous zeros.
static mc_status append_scaled(mc_byte_buffer *buffer, int64_t value, unsigned scale)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    for (; scale > 0 && rest % 10 == 0; scale--)
        rest /= 10;
    uint8_t digits[INTEGER_SIZE + MC_DECIMAL_SCALED_PRECISION + 4];
    if (scale > MC_DECIMAL_SCALED_PRECISION)
        return MC_ERROR_MISUSE;
    // From the last digit to the first, with zeros up to the one before the point.
    size_t at = sizeof digits;
    for (unsigned count = 0; rest > 0 || count <= scale; count++) {
        if (count == scale && scale > 0)
            digits[--at] = '.';
        digits[--at] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    }
    if (value < 0)
        digits[--at] = '-';
    return mc_byte_buffer_append(buffer, digits + at, sizeof digits - at);
}

static mc_status append_text(mc_byte_buffer *buffer, sqlite3_value *value, const char **problem)
{
    size_t bad = 0;
    const char *const text = (const char *)sqlite3_value_text(value);
    if (text == NULL)
        return MC_ERROR_NO_MEMORY;
    const mc_status status = mc_json_append_string(buffer, text, (size_t)sqlite3_value_bytes(value), &bad);
    if (status == MC_ERROR_CORRUPT)
        *problem = "expected text in UTF-8, found other bytes";
    return status;
}

static mc_status append_blob(mc_byte_buffer *buffer, sqlite3_value *value)
{
    const uint8_t *const bytes = sqlite3_value_blob(value);
    const size_t length = (size_t)sqlite3_value_bytes(value), encoded = mc_base64_length(length);
    const mc_status status = mc_byte_buffer_reserve(buffer, encoded + 2);
    if (status != MC_OK)
        return status;
    uint8_t *const out = buffer->bytes + buffer->length;
    out[0] = '"';
    if (length > 0)
        mc_base64_encode(bytes, length, out + 1);
    out[encoded + 1] = '"';
    buffer->length += encoded + 2;
    return MC_OK;
}

/// A decimal that is kept as text: it is JSON already, if it is a number.
static mc_status append_plain(mc_byte_buffer *buffer, sqlite3_value *value, const char **problem)
{
    const char *const text = (const char *)sqlite3_value_text(value);
    const size_t length = (size_t)sqlite3_value_bytes(value);
    if (text == NULL)
        return MC_ERROR_NO_MEMORY;
    if (!mc_json_is_number(text, length)) {
        *problem = "expected a decimal, found other text";
        return MC_ERROR_TYPE;
    }
    return mc_byte_buffer_append(buffer, text, length);
}

static mc_status append_any(mc_byte_buffer *buffer, sqlite3_value *value, int storage, const char **problem)
{
    switch (storage) {
    case SQLITE_INTEGER: return append_integer(buffer, sqlite3_value_int64(value));
    case SQLITE_FLOAT: return append_double(buffer, sqlite3_value_double(value), problem);
    case SQLITE_TEXT: return append_text(buffer, value, problem);
    default: return append_blob(buffer, value);
    }
}

mc_status mc_export_append_value(mc_byte_buffer *buffer, sqlite3_value *value, const mc_column *rule, const char **problem)
{
    const int storage = sqlite3_value_type(value);
    if (storage == SQLITE_NULL)
        return mc_byte_buffer_append(buffer, "null", 4);
    switch (rule->type) {
    case MC_COLUMN_INTEGER:
        if (storage == SQLITE_INTEGER)
            return append_integer(buffer, sqlite3_value_int64(value));
        break;
    case MC_COLUMN_DECIMAL:
        if (storage == SQLITE_INTEGER)
            return append_scaled(buffer, sqlite3_value_int64(value), rule->scale);
        if (storage == SQLITE_TEXT)
            return append_plain(buffer, value, problem);
        break;
    case MC_COLUMN_REAL:
        if (storage == SQLITE_FLOAT || storage == SQLITE_INTEGER)
            return append_double(buffer, sqlite3_value_double(value), problem);
        break;
    case MC_COLUMN_BOOLEAN:
        if (storage == SQLITE_INTEGER)
            return sqlite3_value_int64(value) != 0 ? mc_byte_buffer_append(buffer, "true", 4) : mc_byte_buffer_append(buffer, "false", 5);
        break;
    case MC_COLUMN_TEXT:
        return append_text(buffer, value, problem);
    case MC_COLUMN_BLOB:
        return append_blob(buffer, value);
    case MC_COLUMN_ANY:
        return append_any(buffer, value, storage, problem);
    }
    *problem = "expected a value that its type can write, found other storage";
    return MC_ERROR_TYPE;
}
