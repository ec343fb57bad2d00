#include "br_merge.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "br_read_column.h"

struct br_merge {
    sqlite3 *db;
    sqlite3_stmt *parents, *children;
};

br_merge *br_merge_open(const char *path, int64_t cache_bytes, const char *parents, const char *children, char *message,
                        size_t message_size)
{
    char settings[128];
    br_merge *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    snprintf(settings, sizeof settings, "PRAGMA cache_size=-%" PRId64 "; PRAGMA mmap_size=0", cache_bytes / 1024);
    if (sqlite3_open_v2(path, &result->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
        && sqlite3_exec(result->db, settings, NULL, NULL, NULL) == SQLITE_OK
        && sqlite3_prepare_v3(result->db, parents, -1, SQLITE_PREPARE_PERSISTENT, &result->parents, NULL) == SQLITE_OK
        && sqlite3_prepare_v3(result->db, children, -1, SQLITE_PREPARE_PERSISTENT, &result->children, NULL) == SQLITE_OK)
        return result;
    snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(result->db));
    br_merge_close(result);
    return NULL;
}

static uint64_t read_row(sqlite3_stmt *statement, int columns)
{
    uint64_t sum = 0;
    for (int column = 0; column < columns; column++)
        sum += br_read_column(statement, column);
    return sum;
}

bool br_merge_run(br_merge *merge, int64_t *parents, int64_t *children, uint64_t *sum)
{
    const int parent_columns = sqlite3_column_count(merge->parents), child_columns = sqlite3_column_count(merge->children);
    *parents = *children = 0;
    *sum = 0;
    if (sqlite3_exec(merge->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return false;
    int child = sqlite3_step(merge->children), parent;
    while ((parent = sqlite3_step(merge->parents)) == SQLITE_ROW) {
        const int64_t key = sqlite3_column_int64(merge->parents, 0);
        ++*parents;
        *sum += read_row(merge->parents, parent_columns);
        for (; child == SQLITE_ROW && sqlite3_column_int64(merge->children, child_columns - 1) == key;
             child = sqlite3_step(merge->children)) {
            ++*children;
            *sum += read_row(merge->children, child_columns);
        }
    }
    sqlite3_reset(merge->parents);
    sqlite3_reset(merge->children);
    return sqlite3_exec(merge->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK && parent == SQLITE_DONE && child == SQLITE_DONE;
}

void br_merge_close(br_merge *merge)
{
    if (merge == NULL)
        return;
    sqlite3_finalize(merge->parents);
    sqlite3_finalize(merge->children);
    sqlite3_close(merge->db);
    free(merge);
}
