/// br_table.h: verifies the content of a table, outside of the measured time.
#ifndef BR_TABLE_H
#define BR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Reads every row and every column of `sql` from the database file at `path` and sums them up in order.
/// Integers count as themselves, strings and blobs by their bytes, NULL as the length -1. False, with SQLite's message in
/// `message` (always NUL-terminated), when the database cannot be read; `rows` and `sum` are then 0.
bool br_table_checksum(const char *path, const char *sql, int64_t *rows, uint64_t *sum, char *message, size_t message_size);

/// The version of the SQLite library in use, such as "3.40.1". Static memory.
const char *br_sqlite_version(void);

#endif
