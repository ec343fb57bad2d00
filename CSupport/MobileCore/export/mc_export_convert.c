/// mc_export_convert.c: stored values in the form of their column's type. Most values of a column have it already, or are plainly brought to
/// it: for these no SQL runs.
#include "export/mc_export_convert.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "json/mc_exact_register.h"
#include "mc_plain_time.h"

static const char before[] = "SELECT ";

mc_status mc_export_conversion_make(const char *sql, mc_export_conversion *out, mc_error *error)
{
    const size_t length = strlen(sql), start = sizeof before - 1;
    if (length > (size_t)INT32_MAX - sizeof before)
        return mc_fail(error, MC_ERROR_LIMIT, "export: the conversion of a column has %zu bytes", length);
    char *const text = mc_allocate(start + length + 1);
    if (text == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "export: no memory");
    memcpy(text, before, start);
    memcpy(text + start, sql, length + 1);
    *out = (mc_export_conversion){.sql = text};
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

static bool read_time(mc_export_conversion *conversion, sqlite3_value *stored, int form, mc_stored *out)
{
    const char *const text = (const char *)sqlite3_value_text(stored);
    if (text == NULL || !mc_plain_time_read(text, (size_t)sqlite3_value_bytes(stored), form, &conversion->time))
        return false;
    const uint8_t *const bytes = (const uint8_t *)conversion->time.bytes + conversion->time.first;
    *out = (mc_stored){.storage = SQLITE_TEXT, .bytes = bytes, .length = conversion->time.length};
    return true;
}

static bool read_decimal(sqlite3_value *stored, const mc_column *rule, mc_stored *out)
{
    if (rule->precision > MC_DECIMAL_SCALED_PRECISION || rule->scale > rule->precision)
        return false;
    const int scale = rule->scale, whole = rule->precision - scale;
    *out = (mc_stored){.storage = SQLITE_INTEGER};
    return sqlite3_value_type(stored) == SQLITE_FLOAT ? mc_exact_scaled_real(sqlite3_value_double(stored), whole, scale, &out->integer)
                                                      : mc_exact_scaled_integer(sqlite3_value_int64(stored), whole, scale, &out->integer);
}

/// Reads a value that plainly has the form of its type, or is plainly brought to it. Returns false for any other value.
static bool read_plain(mc_export_conversion *conversion, sqlite3_value *stored, const mc_column *rule, mc_stored *out)
{
    const int storage = sqlite3_value_type(stored);
    if (storage == SQLITE_NULL)
        return mc_stored_from_value(stored, rule->type, out);
    switch (rule->type) {
    case MC_COLUMN_INTEGER:
    case MC_COLUMN_BOOLEAN: return storage == SQLITE_INTEGER && mc_stored_from_value(stored, rule->type, out);
    case MC_COLUMN_REAL: return storage == SQLITE_FLOAT && mc_stored_from_value(stored, rule->type, out);
    case MC_COLUMN_DECIMAL: return (storage == SQLITE_INTEGER || storage == SQLITE_FLOAT) && read_decimal(stored, rule, out);
    case MC_COLUMN_DATE: return storage == SQLITE_TEXT && read_time(conversion, stored, MC_PLAIN_TIME_DATE, out);
    case MC_COLUMN_TIME: return storage == SQLITE_TEXT && read_time(conversion, stored, MC_PLAIN_TIME_OF_DAY, out);
    case MC_COLUMN_DATE_TIME: return storage == SQLITE_TEXT && read_time(conversion, stored, MC_PLAIN_TIME_DATE_TIME, out);
    default: return false;
    }
}

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

mc_status mc_export_convert(mc_export_conversion *conversion, mc_export_place place, sqlite3_value *stored, const mc_column *rule,
                            mc_stored *out, mc_error *error)
{
    if (read_plain(conversion, stored, rule, out))
        return MC_OK;
    sqlite3 *const db = sqlite3_db_handle(place.statement);
    const int code = run(conversion, db, stored);
    if (code == SQLITE_ROW && mc_stored_from_value(sqlite3_column_value(conversion->statement, 0), rule->type, out))
        return MC_OK;
    const char *const found = sqlite3_column_name(place.statement, (int)place.column), *const name = found != NULL ? found : "";
    if (code == SQLITE_ROW)
        return mc_fail_at(error, MC_ERROR_NO_MEMORY, -1, place.row, "export, row %" PRId64 ", column \"%.80s\": no memory for its conversion",
                          place.row, name);
    if (code == SQLITE_DONE)
        return mc_fail_at(error, MC_ERROR_MISUSE, -1, place.row, "export, row %" PRId64 ", column \"%.80s\": its conversion gives no value",
                          place.row, name);
    return mc_fail_sqlite(error, db, code, "export, row %" PRId64 ", column \"%.80s\", conversion", place.row, name);
}
