/// mc_decimal_register.c: the collation and the aggregates as SQLite calls them.
#include "decimal/mc_decimal_register.h"

#include <inttypes.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "decimal/mc_decimal_number.h"
#include "mc_decimal.h"

static int collate(void *context, int left_length, const void *left, int right_length, const void *right)
{
    mc_decimal_text one, other;
    (void)context;
    const bool is_decimal = mc_decimal_parse(left, (size_t)left_length, &one);
    if (is_decimal != mc_decimal_parse(right, (size_t)right_length, &other))
        return is_decimal ? -1 : 1;
    if (is_decimal)
        return mc_decimal_compare(&one, &other);
    const int common = left_length < right_length ? left_length : right_length;
    const int order = memcmp(left, right, (size_t)common);
    return order != 0 ? order : left_length - right_length;
}

/// The values of one group so far: SQLite hands it out full of zeros.
typedef struct mc_decimal_group {
    mc_decimal_number positive, negative;  ///< separate, so that nothing is subtracted before the end
    uint64_t count;
} mc_decimal_group;

static void free_group(mc_decimal_group *group)
{
    mc_decimal_free(&group->positive);
    mc_decimal_free(&group->negative);
}

static void add_value(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    mc_decimal_group *const group = sqlite3_aggregate_context(context, sizeof *group);
    const char *const text = group != NULL ? (const char *)sqlite3_value_text(values[0]) : NULL;
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    mc_decimal_text parts;
    if (!mc_decimal_parse(text, (size_t)sqlite3_value_bytes(values[0]), &parts)) {
        char message[128];
        sqlite3_snprintf(sizeof message, message, "\"%.80s\" is not a decimal", text);
        sqlite3_result_error(context, message, -1);
        return;
    }
    if (!mc_decimal_add(parts.is_negative ? &group->negative : &group->positive, &parts))
        sqlite3_result_error_nomem(context);
    group->count++;
}

/// Returns the result to SQLite as text, whose memory SQLite then owns.
static void give(sqlite3_context *context, const mc_decimal_number *number, bool is_negative, size_t digits, bool has_more)
{
    char *const text = mc_allocate(mc_decimal_written_length(number));
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    const size_t length = mc_decimal_write(number, is_negative, digits, has_more, text);
    sqlite3_result_text64(context, text, length, mc_free, SQLITE_UTF8);
}

static void finish(sqlite3_context *context, bool is_average, bool is_total)
{
    mc_decimal_group *const group = sqlite3_aggregate_context(context, 0);
    if (group == NULL || group->count == 0) {
        if (is_total)
            sqlite3_result_text(context, "0", 1, SQLITE_STATIC);
        return;
    }
    mc_decimal_number *sum = NULL;
    bool is_negative = false, has_more = false;
    if (is_average && group->count > UINT32_MAX)
        sqlite3_result_error_toobig(context);
    else if (!mc_decimal_subtract(&group->positive, &group->negative, &sum, &is_negative))
        sqlite3_result_error_nomem(context);
    else if (is_average && !mc_decimal_divide(sum, (uint32_t)group->count, MC_DECIMAL_AVERAGE_DIGITS, &has_more))
        sqlite3_result_error_nomem(context);
    else
        give(context, sum, is_negative, is_average ? MC_DECIMAL_AVERAGE_DIGITS : SIZE_MAX / 2, has_more);
    free_group(group);
}

static void give_sum(sqlite3_context *context)
{
    finish(context, false, false);
}

static void give_total(sqlite3_context *context)
{
    finish(context, false, true);
}

static void give_average(sqlite3_context *context)
{
    finish(context, true, false);
}

mc_status mc_decimal_register(sqlite3 *db, mc_error *error)
{
    static const struct {
        const char *name;
        void (*give)(sqlite3_context *);
    } aggregates[] = {{MC_DECIMAL_SUM, give_sum}, {MC_DECIMAL_TOTAL, give_total}, {MC_DECIMAL_AVERAGE, give_average}};
    int code = sqlite3_create_collation_v2(db, MC_DECIMAL_COLLATION, SQLITE_UTF8, NULL, collate, NULL);
    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0] && code == SQLITE_OK; i++)
        code = sqlite3_create_function_v2(db, aggregates[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL, NULL,
                                          add_value, aggregates[i].give, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, db, code, "register decimals");
}
