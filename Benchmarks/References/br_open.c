#include "br_open.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct br_database {
    sqlite3 *db;
};

br_database *br_database_open(const char *path, int64_t cache_bytes, char *message, size_t message_size)
{
    char settings[512];
    br_database *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    snprintf(settings, sizeof settings,
             "PRAGMA page_size=4096; SELECT 1 FROM sqlite_schema LIMIT 1; PRAGMA journal_mode=WAL; PRAGMA cache_size=%" PRId64
             "; PRAGMA mmap_size=0; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=64000000; PRAGMA foreign_keys=OFF",
             cache_bytes / 4096);
    if (sqlite3_open_v2(path, &result->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(result->db, settings, NULL, NULL, NULL) == SQLITE_OK)
        return result;
    snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(result->db));
    br_database_close(result);
    return NULL;
}

bool br_database_run(br_database *database, const char *sql)
{
    return sqlite3_exec(database->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

int64_t br_database_integer(br_database *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(database->db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool run_once(sqlite3_stmt *statement)
{
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE;
}

bool br_database_small_writes(br_database *database, const char *insert, int64_t first, int count)
{
    static const char *const texts[] = {"BEGIN IMMEDIATE", "COMMIT"};
    sqlite3_stmt *statements[3] = {NULL, NULL, NULL};
    bool is_done = true;
    for (int i = 0; i < 3 && is_done; i++)
        is_done =
            sqlite3_prepare_v3(database->db, i < 2 ? texts[i] : insert, -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL) == SQLITE_OK;
    for (int i = 0; i < count && is_done; i++) {
        sqlite3_bind_int64(statements[2], 1, first + i);
        is_done = run_once(statements[0]) && run_once(statements[2]) && run_once(statements[1]);
    }
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(statements[i]);
    return is_done;
}

void br_database_close(br_database *database)
{
    if (database == NULL)
        return;
    sqlite3_close(database->db);
    free(database);
}
