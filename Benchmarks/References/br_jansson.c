#include "br_jansson.h"

#include <jansson.h>
#include <math.h>
#include <sqlite3.h>

#include "br_checksum.h"

br_jansson *br_jansson_load(const char *json, size_t length)
{
    return (br_jansson *)json_loadb(json, length, 0, NULL);
}

void br_jansson_free(br_jansson *document)
{
    json_decref((json_t *)document);
}

static int64_t scaled(const json_t *number, double factor)
{
    return llround(json_number_value(number) * factor);
}

size_t br_jansson_checksum(const br_jansson *document, uint64_t *sum)
{
    const json_t *const rows = (const json_t *)document;
    *sum = 0;
    for (size_t index = 0; index < json_array_size(rows); index++) {
        const json_t *const row = json_array_get(rows, index);
        for (size_t column = 0; column < 3; column++)
            *sum = br_checksum_number(*sum, json_integer_value(json_array_get(row, column)));
        *sum = br_checksum_number(*sum, scaled(json_array_get(row, 3), 1e2));
        *sum = br_checksum_number(*sum, scaled(json_array_get(row, 4), 1e6));
        for (size_t column = 5; column < 12; column++) {
            const json_t *const value = json_array_get(row, column);
            *sum = column == 6 ? br_checksum_number(*sum, json_is_true(value))
                               : br_checksum_bytes(*sum, json_string_value(value), json_string_length(value));
        }
    }
    return json_array_size(rows);
}

bool br_insert_jansson(br_insert *insert, const char *json, size_t length)
{
    json_t *const rows = json_loadb(json, length, 0, NULL);
    sqlite3_stmt *const statement = br_insert_statement(insert);
    bool done = json_is_array(rows);
    for (size_t index = 0; done && index < json_array_size(rows); index++) {
        const json_t *const row = json_array_get(rows, index);
        for (int column = 0; column < 3; column++)
            sqlite3_bind_int64(statement, column + 1, json_integer_value(json_array_get(row, (size_t)column)));
        sqlite3_bind_int64(statement, 4, scaled(json_array_get(row, 3), 1e2));
        sqlite3_bind_int64(statement, 5, scaled(json_array_get(row, 4), 1e6));
        for (int column = 5; column < 12; column++) {
            const json_t *const value = json_array_get(row, (size_t)column);
            if (column == 6)
                sqlite3_bind_int(statement, 7, json_is_true(value));
            else
                sqlite3_bind_text(statement, column + 1, json_string_value(value), (int)json_string_length(value), SQLITE_STATIC);
        }
        done = br_insert_step(insert);
    }
    json_decref(rows);
    return done;
}
