/// br_read_column.h: reads a value for the references: first its type, then the value, without a copy.
#ifndef BR_READ_COLUMN_H
#define BR_READ_COLUMN_H

#include <sqlite3.h>
#include <stdint.h>

/// Returns the value of a number, or the length and the first byte of a string or blob.
static inline uint64_t br_read_column(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return (uint64_t)sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT: return (uint64_t)(int64_t)sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
        const unsigned char *bytes = sqlite3_column_text(statement, column);
        const int length = sqlite3_column_bytes(statement, column);
        return (uint64_t)length + (length > 0 ? bytes[0] : 0);
    }
    case SQLITE_BLOB: {
        const unsigned char *bytes = sqlite3_column_blob(statement, column);
        const int length = sqlite3_column_bytes(statement, column);
        return (uint64_t)length + (length > 0 ? bytes[0] : 0);
    }
    default: return 0;
    }
}

#endif
