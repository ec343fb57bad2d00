/// br_connection.h: opens existing databases for the references.
#ifndef BR_CONNECTION_H
#define BR_CONNECTION_H

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

/// Opens a database. NULL on any failure; `message` then has the reason.
static inline sqlite3 *br_connect(const char *path, int64_t cache_bytes, char *message, size_t message_size)
{
    sqlite3 *db = NULL;
    char settings[160];
    snprintf(settings, sizeof settings, "PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA cache_size=-%" PRId64, cache_bytes / 1024);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(db, settings, NULL, NULL, NULL) == SQLITE_OK)
        return db;
    snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(db));
    sqlite3_close(db);
    return NULL;
}

/// Prepares a statement for repeated use; false on any failure, and `message` then has the reason.
static inline bool br_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, char *message, size_t message_size)
{
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) == SQLITE_OK)
        return true;
    snprintf(message, message_size, "%s", sqlite3_errmsg(db));
    return false;
}

#endif
