/// plain_times.c: fuzzes the reading of plain times (mc_plain_time.h).
///
/// Rules: what is read is what SQLite's strftime makes of it; a time in the form of the result is always read.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fuzz_check.h"
#include "json/mc_plain_time_internal.h"
#include "mc_plain_time.h"

/// Runs a statement of one text. Returns whether there is a result.
static int run(sqlite3_stmt *statement, const char *text, int length, char out[64])
{
    CHECK(sqlite3_bind_text(statement, 1, text, length, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW);
    const char *const result = (const char *)sqlite3_column_text(statement, 0);
    const int has_result = result != NULL;
    if (has_result) {
        CHECK(sqlite3_column_bytes(statement, 0) < 64);
        memcpy(out, result, (size_t)sqlite3_column_bytes(statement, 0) + 1);
    }
    sqlite3_reset(statement);
    return has_result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sqlite3_stmt *plain[3], *full[3];
    if (plain[0] == NULL) {
        sqlite3 *db = NULL;
        CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK && mc_plain_time_register(db, NULL) == MC_OK);
        static const char *const forms[] = {"%Y-%m-%d", "%H:%M:%S", "%Y-%m-%dT%H:%M:%fZ"};
        char sql[80];
        for (int form = MC_PLAIN_TIME_DATE; form <= MC_PLAIN_TIME_DATE_TIME; form++) {
            snprintf(sql, sizeof sql, "SELECT mc_plain_time(?1, %d)", form);
            CHECK(sqlite3_prepare_v2(db, sql, -1, &plain[form - 1], NULL) == SQLITE_OK);
            snprintf(sql, sizeof sql, "SELECT strftime('%s', ?1, 'auto')", forms[form - 1]);
            CHECK(sqlite3_prepare_v2(db, sql, -1, &full[form - 1], NULL) == SQLITE_OK);
        }
    }
    char text[64], found[64], expected[64];
    const int length = (int)(size < sizeof text ? size : sizeof text);
    memcpy(text, data, (size_t)length);
    for (int form = 0; form < 3; form++) {
        if (!run(plain[form], text, length, found))
            continue;
        CHECK(run(full[form], text, length, expected) && strcmp(found, expected) == 0);
        CHECK(run(plain[form], found, (int)strlen(found), expected) && strcmp(found, expected) == 0);
    }
    // A day that each month has.
    if (size >= 7) {
        snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (data[0] << 8 | data[1]) % 10000, data[2] % 12 + 1, data[3] % 28 + 1,
                 data[4] % 24, data[5] % 60, data[6] % 60, (data[0] << 8 | data[6]) % 1000);
        CHECK(run(plain[2], text, (int)strlen(text), found) && strcmp(found, text) == 0);
        CHECK(run(full[2], text, (int)strlen(text), expected) && strcmp(found, expected) == 0);
    }
    return 0;
}
