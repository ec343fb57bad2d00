/// mc_export_convert.c: stored values in the form of their column's type. Most values of a column have it already, or are plainly brought to
/// it: for these no SQL runs.
#include "export/mc_export_convert.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_plain_time.h"

static const char before[] = "SELECT ";

mc_status mc_export_conversion_make(mc_export_conversion *conversion, const char *sql, mc_error *error)
{
    if (sql == NULL)
        return MC_OK;
    const size_t length = strlen(sql), start = sizeof before - 1;
    if (length > (size_t)INT32_MAX - sizeof before)
        return mc_fail(error, MC_ERROR_LIMIT, "export: the conversion of a column has %zu bytes", length);
    conversion->sql = mc_allocate(start + length + 1);
    if (conversion->sql == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    memcpy(conversion->sql, before, start);
    memcpy(conversion->sql + start, sql, length + 1);
    return MC_OK;
}

void mc_export_conversion_end(mc_export_conversion *conversion)
{
    if (!conversion->is_running)
        return;
    // A statement on its row would keep the transaction open, and a bound value its memory.
    (void)sqlite3_reset(conversion->statement);
    (void)sqlite3_clear_bindings(conversion->statement);
    conversion->is_running = false;
}

void mc_export_conversion_free(mc_export_conversion *conversion)
{
    (void)sqlite3_finalize(conversion->statement);
    mc_free(conversion->sql);
}

/// Reads a number, or a text that is one. Returns false for other values.
static bool read_exact(mc_exact_number *number, sqlite3_value *stored, const mc_column *rule, mc_stored *out)
{
    const bool is_integer = sqlite3_value_type(stored) == SQLITE_INTEGER;
    // Without a conversion an integer is written as it is, or as a real.
    if (is_integer && (rule->type == MC_COLUMN_INTEGER || rule->type == MC_COLUMN_REAL))
        return mc_stored_from_value(stored, rule->type, out);
    bool is_read = false;
    if (rule->type == MC_COLUMN_INTEGER)
        is_read = mc_exact_to_integer(stored, number);
    else if (rule->type == MC_COLUMN_DECIMAL && rule->scale <= rule->precision && rule->precision <= MC_EXACT_SCALE_MAXIMUM)
        is_read = mc_exact_to_decimal(stored, rule->precision - rule->scale, rule->scale, number);
    if (is_read && number->storage == SQLITE_INTEGER)
        *out = (mc_stored){.storage = SQLITE_INTEGER, .integer = number->integer};
    else if (is_read && number->storage == SQLITE_FLOAT)
        *out = (mc_stored){.storage = SQLITE_FLOAT, .real = number->real};
    else if (is_read)
        *out = (mc_stored){.storage = SQLITE_TEXT, .bytes = (const uint8_t *)number->text, .length = number->length};
    return is_read;
}

static bool read_time(mc_plain_time *time, sqlite3_value *stored, int form, mc_stored *out)
{
    const char *const text = sqlite3_value_type(stored) == SQLITE_TEXT ? (const char *)sqlite3_value_text(stored) : NULL;
    if (text == NULL || !mc_plain_time_read(text, (size_t)sqlite3_value_bytes(stored), form, time))
        return false;
    *out = (mc_stored){.storage = SQLITE_TEXT, .bytes = (const uint8_t *)time->bytes + time->first, .length = time->length};
    return true;
}

/// Reads a value that has the form of its type, or is a plain time. Returns false for any other value.
static bool read_plain(mc_plain_time *time, sqlite3_value *stored, const mc_column *rule, mc_stored *out)
{
    const int storage = sqlite3_value_type(stored);
    switch (rule->type) {
    case MC_COLUMN_INTEGER:
    case MC_COLUMN_BOOLEAN: return storage == SQLITE_INTEGER && mc_stored_from_value(stored, rule->type, out);
    case MC_COLUMN_REAL: return storage == SQLITE_FLOAT && mc_stored_from_value(stored, rule->type, out);
    case MC_COLUMN_DATE: return read_time(time, stored, MC_PLAIN_TIME_DATE, out);
    case MC_COLUMN_TIME: return read_time(time, stored, MC_PLAIN_TIME_OF_DAY, out);
    case MC_COLUMN_DATE_TIME: return read_time(time, stored, MC_PLAIN_TIME_DATE_TIME, out);
    default: return false;
    }
}

/// Runs the SQL for a value. Returns SQLite's code: SQLITE_ROW if the statement has the result.
static int run(mc_export_conversion *conversion, sqlite3 *db, sqlite3_value *stored)
{
    int code = SQLITE_OK;
    if (conversion->statement == NULL)
        code = sqlite3_prepare_v3(db, conversion->sql, -1, SQLITE_PREPARE_PERSISTENT, &conversion->statement, NULL);
    conversion->is_running = conversion->statement != NULL;
    if (code == SQLITE_OK)
        code = sqlite3_bind_value(conversion->statement, 1, stored);
    return code == SQLITE_OK ? sqlite3_step(conversion->statement) : code;
}

static mc_status fail(mc_status status, const mc_export_place *place, const char *problem, mc_error *error)
{
    const char *const name = sqlite3_column_name(place->statement, (int)place->column);
    return mc_fail_at(error, status, -1, place->row, "export, row %" PRId64 ", column \"%.80s\": %s", place->row, name != NULL ? name : "",
                      problem);
}

static mc_status fail_sqlite(int code, sqlite3 *db, const mc_export_place *place, mc_error *error)
{
    const char *const name = sqlite3_column_name(place->statement, (int)place->column);
    return mc_fail_sqlite(error, db, code, "export, row %" PRId64 ", column \"%.80s\", conversion", place->row, name != NULL ? name : "");
}

mc_status mc_export_convert(mc_export_conversion *conversion, const mc_export_place *place, sqlite3_value *stored, const mc_column *rule,
                            mc_stored *out, mc_error *error)
{
    static const char no_memory[] = "no memory for its conversion";
    if (conversion->is_exact && read_exact(&conversion->converted->number, stored, rule, out))
        return MC_OK;
    if (conversion->sql == NULL || sqlite3_value_type(stored) == SQLITE_NULL)
        return mc_stored_from_value(stored, rule->type, out) ? MC_OK : fail(MC_ERROR_NO_MEMORY, place, no_memory, error);
    if (read_plain(&conversion->converted->time, stored, rule, out))
        return MC_OK;
    sqlite3 *const db = sqlite3_db_handle(place->statement);
    const int code = run(conversion, db, stored);
    if (code == SQLITE_DONE)
        return fail(MC_ERROR_MISUSE, place, "its conversion gives no value", error);
    if (code != SQLITE_ROW)
        return fail_sqlite(code, db, place, error);
    sqlite3_value *const result = sqlite3_column_value(conversion->statement, 0);
    return mc_stored_from_value(result, rule->type, out) ? MC_OK : fail(MC_ERROR_NO_MEMORY, place, no_memory, error);
}
