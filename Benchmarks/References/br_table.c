#include "br_table.h"

#include <sqlite3.h>
#include <stdio.h>

#include "br_checksum.h"

static uint64_t add_column(uint64_t sum, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return br_checksum_number(sum, sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: {
        const double value = sqlite3_column_double(statement, column);
        int64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return br_checksum_number(sum, bits);
    }
    case SQLITE_NULL: return br_checksum_number(sum, -1);
    default: {
        const char *bytes = sqlite3_column_blob(statement, column);
        return br_checksum_bytes(sum, bytes, (size_t)sqlite3_column_bytes(statement, column));
    }
    }
}

bool br_table_checksum(const char *path, const char *sql, int64_t *rows, uint64_t *sum, char *message, size_t message_size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int64_t found = 0;
    uint64_t total = 0;
    *rows = 0;
    *sum = 0;
    message[0] = 0;

    int status = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (status != SQLITE_OK)
        goto done;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        found++;
        for (int column = 0; column < sqlite3_column_count(statement); column++)
            total = add_column(total, statement, column);
    }

done:
    if (status == SQLITE_DONE) {
        *rows = found;
        *sum = total;
    } else {
        snprintf(message, message_size, "%s: %s", path, sqlite3_errmsg(db));
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return status == SQLITE_DONE;
}

const char *br_sqlite_version(void)
{
    return sqlite3_libversion();
}
