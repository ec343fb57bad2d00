/// cw_values.c: values from small domains, so that keys meet, and from the borders of their types.
#include <string.h>

#include "draw/cw_plan.h"

static const char *pick(cw_plan *plan, const char *const *values, int count)
{
    return values[cw_below(&plan->random, count)];
}
#define PICK(plan, values) pick(plan, values, (int)(sizeof(values) / sizeof(values)[0]))

/// Appends a string of JSON or of SQL. The text has no quotes and no backslashes, except for escapes of JSON.
static void add_string(cw_text *text, const char *value, bool is_sql)
{
    cw_add(text, is_sql ? "'%s'" : "\"%s\"", value);
}

static void add_integer(cw_plan *plan, bool is_small, cw_text *text)
{
    static const char *const borders[] = {
        "0", "-1", "13", "14", "100", "9007199254740993", "9223372036854775807", "-9223372036854775808", "4294967296", "51"};
    if (is_small || cw_chance(&plan->random, 70))
        cw_add(text, "%d", 1 + cw_below(&plan->random, 9));
    else
        cw_add(text, "%s", PICK(plan, borders));
}

static void add_real(cw_plan *plan, cw_text *text)
{
    static const char *const values[] = {"0.5", "1.5", "2.0", "-3.25", "1e3", "1.0e300", "0.1", "7", "9007199254740993.0", "5e-324"};
    cw_add(text, "%s", PICK(plan, values));
}

static void add_text(cw_plan *plan, bool is_sql, cw_text *text)
{
    static const char *const values[] = {
        "a",  "b",  "B", "abc", "ABC", "abc ", "", "bad", "x y", "7", "007", "2.50", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8C\x8D",
        "zz", "z1", "z2"};
    static const char *const escaped[] = {"a\\n", "\\u00e4\\ud83c\\udf0d", "\\\"\\\\", "tab\\t\\/"};
    if (!is_sql && cw_chance(&plan->random, 8))
        add_string(text, PICK(plan, escaped), false);
    else
        add_string(text, PICK(plan, values), is_sql);
}

static void add_blob(cw_plan *plan, bool is_sql, cw_text *text)
{
    static const char *const base64[] = {"", "AA==", "AQI=", "AQID", "/+/+", "AAAAAAAAAAAA"}, *const hex[] = {"",
                                                                                                              "00",
                                                                                                              "0102",
                                                                                                              "010203",
                                                                                                              "ffefFe",
                                                                                                              "000000000000000000"};
    if (is_sql)
        cw_add(text, "x'%s'", PICK(plan, hex));
    else
        add_string(text, PICK(plan, base64), false);
}

/// A key that SQLite converts or compares in its own way, such as "007" to 7.
static void add_similar_key(cw_plan *plan, const cw_plan_column *column, bool is_sql, cw_text *text)
{
    static const char *const integers[] = {"\"007\"", "7", "\"7\"", "7.0", "\" 7\"", "8", "\"8.0\""},
                             *const reals[] = {"9007199254740992",    "9007199254740993",     "7",     "7.5", "1e18",
                                               "1000000000000000000", "\"9007199254740993\"", "\"7x\""},
                             *const numbers[] = {"\"12.50\"", "12.5", "\"12.5\"", "12", "\"12\"", "7"},
                             *const texts[] = {"\"abc\"", "\"ABC\"", "\"abc \"", "\"7\"", "7.5", "7", "\"\xC3\xA4\"", "\"07\""};
    const char *const value = strcmp(column->declared, "INTEGER") == 0 ? PICK(plan, integers)
        : strcmp(column->declared, "REAL") == 0                        ? PICK(plan, reals)
        : strcmp(column->declared, "NUMERIC") == 0                     ? PICK(plan, numbers)
                                                                       : PICK(plan, texts);
    for (const char *at = value; *at != '\0'; at++)
        cw_add_bytes(text, is_sql && *at == '"' ? "'" : at, 1);
}

static void add_key(cw_plan *plan, const cw_plan_table *table, const cw_plan_column *column, bool is_sql, cw_text *text)
{
    char key[8];
    if (table->has_similar_keys) {
        add_similar_key(plan, column, is_sql, text);
    } else if (strncmp(column->declared, "TEXT", 4) == 0) {
        key[0] = 'k';
        key[1] = (char)((cw_chance(&plan->random, 20) && table->pending[0] == '\0' ? 'A' : 'a') + cw_below(&plan->random, 7));
        key[2] = '\0';
        add_string(text, key, is_sql);
    } else if (strcmp(column->declared, "REAL") == 0) {
        cw_add(text, "%d.5", cw_below(&plan->random, 7));
    } else if (cw_wants(plan, CW_BIG_IMPORT) && table->pending[0] != '\0') {
        // A pending row at the end of its table is met by large imports.
        cw_add(text, "%d", cw_chance(&plan->random, 15) ? 1000000 : 1 + cw_below(&plan->random, 9));
    } else {
        add_integer(plan, !cw_chance(&plan->random, 15), text);
    }
}

/// Content of a large column; some of it comes in parts.
static void add_large(cw_plan *plan, const cw_plan_column *column, cw_text *text)
{
    const bool is_text = strcmp(column->input, "largetext") == 0;
    const int count = cw_chance(&plan->random, 15) ? 20000 : cw_below(&plan->random, 12) * 4;
    const char letter = (char)('a' + cw_below(&plan->random, 20));
    cw_add(text, "\"");
    for (int index = 0; index < count; index++)
        cw_add_bytes(text, &letter, 1);
    cw_add(text, is_text && cw_chance(&plan->random, 50) ? "\xC3\xA4\"" : "\"");
}

void cw_draw_value(cw_plan *plan, const cw_plan_table *table, const cw_plan_column *column, bool is_sql, cw_text *text)
{
    const char *const declared = column->declared;
    const bool is_any = strcmp(column->input, "any") == 0;
    if (column->is_key)
        add_key(plan, table, column, is_sql, text);
    else if (cw_chance(&plan->random, 12))
        cw_add(text, is_sql ? "NULL" : "null");
    else if (column->is_reference)
        add_key(plan, plan->tables, plan->tables[0].columns, is_sql, text);
    else if (column->is_large)
        add_large(plan, column, text);
    else if (strcmp(column->input, "boolean") == 0)
        cw_add(text, "%s", is_sql ? "1" : cw_chance(&plan->random, 50) ? "true" : "false");
    else if (is_any && !table->is_strict && !is_sql && cw_chance(&plan->random, 30))
        cw_add(text, "%s", cw_chance(&plan->random, 50) ? "true" : "123456789012345678901234567890");
    else if (strcmp(column->input, "integer") == 0 || strcmp(declared, "INTEGER") == 0)
        add_integer(plan, false, text);
    else if (strcmp(column->input, "real") == 0 || strcmp(declared, "REAL") == 0)
        add_real(plan, text);
    else if (strcmp(column->input, "blob") == 0)
        add_blob(plan, is_sql, text);
    else if (strcmp(column->input, "text") == 0 || strncmp(declared, "TEXT", 4) == 0)
        add_text(plan, is_sql, text);
    else if (cw_chance(&plan->random, 40))
        add_integer(plan, false, text);
    else if (cw_chance(&plan->random, 40))
        add_real(plan, text);
    else
        add_text(plan, is_sql, text);
}

void cw_draw_key_condition(cw_plan *plan, const cw_plan_table *table, cw_text *text)
{
    for (int key = 0; key < table->key_count; key++) {
        cw_add(text, "%s%s=", key == 0 ? "" : " AND ", table->columns[key].name);
        cw_draw_value(plan, table, &table->columns[key], true, text);
    }
}
