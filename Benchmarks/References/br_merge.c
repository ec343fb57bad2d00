#include "br_merge.h"

#include <stdlib.h>

#include "br_connection.h"
#include "br_read_column.h"

struct br_merge {
    sqlite3 *db;
    sqlite3_stmt *parents, *children;
};

br_merge *br_merge_open(const char *path, int64_t cache_bytes, const char *parents, const char *children, char *message,
                        size_t message_size)
{
    br_merge *result = calloc(1, sizeof *result);
    if (result == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    result->db = br_connect(path, cache_bytes, message, message_size);
    if (result->db == NULL || !br_prepare(result->db, parents, &result->parents, message, message_size)
        || !br_prepare(result->db, children, &result->children, message, message_size)) {
        br_merge_close(result);
        return NULL;
    }
    return result;
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
