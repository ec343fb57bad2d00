#include "br_object.h"

#include <stdio.h>
#include <stdlib.h>

#include "br_connection.h"
#include "br_read_column.h"

struct br_find {
    sqlite3 *db;
    sqlite3_stmt *statement;
};

br_find *br_find_open(const char *path, int64_t cache_bytes, const char *select, char *message, size_t message_size)
{
    br_find *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    result->db = br_connect(path, cache_bytes, message, message_size);
    if (result->db != NULL && br_prepare(result->db, select, &result->statement, message, message_size))
        return result;
    br_find_close(result);
    return NULL;
}

int64_t br_find_key(int64_t position, int64_t count)
{
    return position * 7919 % count + 1;  // a prime: every key occurs once unless it divides `count`
}

bool br_find_run(br_find *find, int64_t count, int64_t *rows, uint64_t *sum)
{
    sqlite3_stmt *const statement = find->statement;
    const int columns = sqlite3_column_count(statement);
    *rows = 0;
    *sum = 0;
    for (int64_t position = 0; position < count; position++) {
        sqlite3_bind_int64(statement, 1, br_find_key(position, count));
        if (sqlite3_step(statement) == SQLITE_ROW) {
            ++*rows;
            for (int column = 0; column < columns; column++)
                *sum += br_read_column(statement, column);
        }
        if (sqlite3_reset(statement) != SQLITE_OK)
            return false;
    }
    return true;
}

void br_find_close(br_find *find)
{
    if (find == NULL)
        return;
    sqlite3_finalize(find->statement);
    sqlite3_close(find->db);
    free(find);
}

struct br_save {
    sqlite3 *db;
    sqlite3_stmt *begin, *keep, *note, *update, *commit;
};

br_save *br_save_open(const char *path, int64_t cache_bytes, const br_save_statements *statements, char *message, size_t message_size)
{
    br_save *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    sqlite3 *const db = result->db = br_connect(path, cache_bytes, message, message_size);
    if (db != NULL && br_prepare(db, "BEGIN IMMEDIATE", &result->begin, message, message_size)
        && br_prepare(db, statements->keep, &result->keep, message, message_size)
        && br_prepare(db, statements->note, &result->note, message, message_size)
        && br_prepare(db, statements->update, &result->update, message, message_size)
        && br_prepare(db, "COMMIT", &result->commit, message, message_size))
        return result;
    br_save_close(result);
    return NULL;
}

static bool run(sqlite3_stmt *statement)
{
    const int step = sqlite3_step(statement);
    return sqlite3_reset(statement) == SQLITE_OK && step == SQLITE_DONE;
}

/// Binds the key and the marks of a pending update: its kind and its counter.
static void bind_marks(sqlite3_stmt *statement, int64_t key, int64_t counter)
{
    sqlite3_bind_int64(statement, 1, key);
    sqlite3_bind_int(statement, 2, 2);
    sqlite3_bind_int64(statement, 3, counter);
    sqlite3_bind_int(statement, 4, 0);
    sqlite3_bind_int(statement, 5, 0);
}

bool br_save_run(br_save *save, const char *const *texts, int64_t count, const char *changed)
{
    for (int64_t key = 1; key <= count; key++) {
        if (!run(save->begin))
            return false;
        bind_marks(save->keep, key, key);
        sqlite3_bind_int64(save->note, 1, key);
        sqlite3_bind_text(save->note, 2, changed, -1, SQLITE_STATIC);
        bind_marks(save->update, key, key);
        sqlite3_bind_text(save->update, 6, texts[key - 1], -1, SQLITE_STATIC);
        if (!run(save->keep) || !run(save->note) || !run(save->update) || !run(save->commit)) {
            sqlite3_exec(save->db, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
    }
    return true;
}

void br_save_close(br_save *save)
{
    if (save == NULL)
        return;
    sqlite3_finalize(save->begin);
    sqlite3_finalize(save->keep);
    sqlite3_finalize(save->note);
    sqlite3_finalize(save->update);
    sqlite3_finalize(save->commit);
    sqlite3_close(save->db);
    free(save);
}
