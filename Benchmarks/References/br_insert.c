#include "br_insert.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

struct br_insert {
    sqlite3 *db;
    sqlite3_stmt *statement;
};

br_insert *br_insert_open(const char *path, int page_size, int64_t cache_bytes, const char *schema, const char *insert, char *message,
                          size_t message_size)
{
    char settings[256];
    br_insert *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    snprintf(settings, sizeof settings,
             "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-%" PRId64
             "; PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000",
             page_size, cache_bytes / 1024);
    if (sqlite3_open_v2(path, &result->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(result->db, settings, NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_exec(result->db, schema, NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v3(result->db, insert, -1, SQLITE_PREPARE_PERSISTENT, &result->statement, NULL) == SQLITE_OK)
        return result;
    snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(result->db));
    br_insert_close(result);
    return NULL;
}

bool br_insert_begin(br_insert *insert)
{
    return sqlite3_exec(insert->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
}

static bool insert_row(br_insert *insert, const br_row *row)
{
    sqlite3_stmt *const statement = insert->statement;
    sqlite3_bind_int64(statement, 1, row->key);
    sqlite3_bind_int64(statement, 2, row->number);
    sqlite3_bind_int64(statement, 3, row->small);
    sqlite3_bind_int64(statement, 4, row->price);
    sqlite3_bind_int64(statement, 5, row->rate);
    sqlite3_bind_text(statement, 6, row->moment.bytes, (int)row->moment.length, SQLITE_STATIC);
    sqlite3_bind_int(statement, 7, row->flag);
    for (int i = 0; i < 5; i++)
        sqlite3_bind_text(statement, 8 + i, row->texts[i].bytes, (int)row->texts[i].length, SQLITE_STATIC);
    return br_insert_step(insert);
}

bool br_insert_rows(br_insert *insert, const br_data_set *data)
{
    const br_row *row = br_data_set_rows(data);
    const br_row *const end = row + br_data_set_count(data);
    for (; row < end; row++)
        if (!insert_row(insert, row))
            return false;
    return true;
}

bool br_insert_some_rows(br_insert *insert, const br_data_set *data, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!insert_row(insert, br_data_set_rows(data) + numbers[i]))
            return false;
    return true;
}

struct sqlite3_stmt *br_insert_statement(br_insert *insert)
{
    return insert->statement;
}

bool br_insert_step(br_insert *insert)
{
    const int step = sqlite3_step(insert->statement);
    sqlite3_reset(insert->statement);
    if (step != SQLITE_DONE)
        sqlite3_exec(insert->db, "ROLLBACK", NULL, NULL, NULL);
    return step == SQLITE_DONE;
}

bool br_insert_commit(br_insert *insert)
{
    return sqlite3_exec(insert->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

void br_insert_close(br_insert *insert)
{
    if (insert == NULL)
        return;
    sqlite3_finalize(insert->statement);
    sqlite3_close(insert->db);
    free(insert);
}
