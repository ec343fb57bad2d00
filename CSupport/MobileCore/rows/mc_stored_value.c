/// mc_stored_value.c: stored values as JSON.
#include "rows/mc_stored_value.h"

#include "mc_json.h"
#include "json/mc_base64.h"
#include "json/mc_json_append.h"

static mc_status append_double(mc_byte_buffer *buffer, double value, const char **problem)
{
    const mc_status status = mc_json_append_double(buffer, value);
    if (status == MC_ERROR_TYPE)
        *problem = "expected a finite number, found an infinity";
    return status;
}

static mc_status append_scaled(mc_byte_buffer *buffer, int64_t value, unsigned scale, const char **problem)
{
    const mc_status status = mc_json_append_scaled(buffer, value, scale);
    if (status == MC_ERROR_TYPE)
        *problem = "expected a decimal as text, found an integer: a scaled integer has at most 18 digits after the point";
    return status;
}

static mc_status append_text(mc_byte_buffer *buffer, const mc_stored *value, const char **problem)
{
    size_t bad = 0;
    const mc_status status = mc_json_append_string(buffer, (const char *)value->bytes, value->length, &bad);
    if (status == MC_ERROR_CORRUPT)
        *problem = "expected text in UTF-8, found other bytes";
    return status;
}

/// Appends a number of a column of text.
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

/// Appends a decimal that is stored as text: it is JSON already, if it is a number.
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
    case MC_COLUMN_LARGE_TEXT:  // the id, if the value itself is not requested
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
