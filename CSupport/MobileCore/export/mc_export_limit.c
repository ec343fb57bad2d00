/// mc_export_limit.c: whether a column may give a value.
#include "export/mc_export_limit.h"

#include "rows/mc_iso8601.h"

/// The smallest double that is an infinity in 32 bits: half a step above the largest number.
static const double single_bound = 0x1.ffffffp127;

/// Counts the characters of a text. Texts that are not UTF-8 are refused later.
static size_t count_characters(const uint8_t *bytes, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += (bytes[i] & 0xC0) != 0x80;
    return count;
}

static bool is_length(const mc_export_limit *limit, const uint8_t *bytes, size_t length)
{
    const size_t count = count_characters(bytes, length);
    return count >= limit->shortest && count <= limit->longest;
}

static bool is_form(const mc_stored *value, mc_column_type type)
{
    if (value->storage != SQLITE_TEXT && value->storage != SQLITE_BLOB)
        return false;
    switch (type) {
    case MC_COLUMN_DATE: return mc_iso8601_is_date(value->bytes, value->length);
    case MC_COLUMN_TIME: return mc_iso8601_is_time(value->bytes, value->length);
    default: return mc_iso8601_is_date_time(value->bytes, value->length);
    }
}

static mc_status refuse(const char *expected, const char **problem)
{
    *problem = expected;
    return MC_ERROR_TYPE;
}

mc_status mc_export_limit_check(const mc_export_limit *limit, const mc_stored *value, mc_column_type type, const char **problem)
{
    if (value->storage == SQLITE_NULL)
        return limit->required ? refuse("expected a value, found null", problem) : MC_OK;
    switch (type) {
    case MC_COLUMN_INTEGER:
        if (value->storage == SQLITE_INTEGER && (value->integer < limit->least || value->integer > limit->greatest))
            return refuse("expected an integer of fewer bits", problem);
        break;
    case MC_COLUMN_REAL:
        if (limit->is_single && value->storage == SQLITE_FLOAT && !(value->real > -single_bound && value->real < single_bound))
            return refuse("expected a number of 32 bits", problem);
        break;
    case MC_COLUMN_TEXT:
        if (value->storage == SQLITE_TEXT && !is_length(limit, value->bytes, value->length))
            return refuse("expected a text of another length", problem);
        break;
    case MC_COLUMN_BLOB:
        if (value->length < limit->shortest || value->length > limit->longest)
            return refuse("expected fewer bytes", problem);
        break;
    case MC_COLUMN_DATE:
    case MC_COLUMN_TIME:
    case MC_COLUMN_DATE_TIME:
        if (!is_form(value, type))
            return refuse("expected a date or time in its form, found another text", problem);
        break;
    default: break;
    }
    return MC_OK;
}
