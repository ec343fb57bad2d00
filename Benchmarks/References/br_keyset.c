#include "br_keyset.h"

#include <stdlib.h>

#include "br_connection.h"
#include "br_read_column.h"

struct br_keyset {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int columns;
};

br_keyset *br_keyset_open(const char *path, int64_t cache_bytes, const char *select, char *message, size_t message_size)
{
    br_keyset *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    result->db = br_connect(path, cache_bytes, message, message_size);
    if (result->db == NULL || !br_prepare(result->db, select, &result->statement, message, message_size)) {
        br_keyset_close(result);
        return NULL;
    }
    result->columns = sqlite3_column_count(result->statement);
    return result;
}

bool br_keyset_run(br_keyset *keyset, int page_rows, int64_t *rows, int64_t *selects, uint64_t *sum)
{
    sqlite3_stmt *statement = keyset->statement;
    const int columns = keyset->columns;
    int64_t after = INT64_MIN;
    int in_page = 0;
    int step = SQLITE_OK;
    *rows = 0;
    *selects = 0;
    *sum = 0;

    if (sqlite3_exec(keyset->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    do {
        sqlite3_bind_int64(statement, 1, after);
        sqlite3_bind_int(statement, 2, page_rows);
        ++*selects;
        in_page = 0;
        while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
            in_page++;
            after = sqlite3_column_int64(statement, 0);
            for (int column = 0; column < columns; column++)
                *sum += br_read_column(statement, column);
        }
        sqlite3_reset(statement);
        *rows += in_page;
    } while (step == SQLITE_DONE && in_page == page_rows);
    return sqlite3_exec(keyset->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK && step == SQLITE_DONE;
}

bool br_keyset_points(br_keyset *keyset, const int64_t *keys, size_t count, int64_t *rows, uint64_t *sum)
{
    sqlite3_stmt *statement = keyset->statement;
    int step = SQLITE_DONE;
    *rows = 0;
    *sum = 0;

    if (sqlite3_exec(keyset->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; i < count && step == SQLITE_DONE; i++) {
        sqlite3_bind_int64(statement, 1, keys[i]);
        while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
            ++*rows;
            for (int column = 0; column < keyset->columns; column++)
                *sum += br_read_column(statement, column);
        }
        sqlite3_reset(statement);
    }
    return sqlite3_exec(keyset->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK && step == SQLITE_DONE;
}

bool br_keyset_all(br_keyset *keyset, int64_t *rows, uint64_t *sum)
{
    sqlite3_stmt *statement = keyset->statement;
    const int columns = keyset->columns;
    int step;
    *rows = 0;
    *sum = 0;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
        ++*rows;
        for (int column = 0; column < columns; column++)
            *sum += br_read_column(statement, column);
    }
    sqlite3_reset(statement);
    return step == SQLITE_DONE;
}

void br_keyset_close(br_keyset *keyset)
{
    if (keyset == NULL)
        return;
    sqlite3_finalize(keyset->statement);
    sqlite3_close(keyset->db);
    free(keyset);
}
