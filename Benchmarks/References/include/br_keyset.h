/// br_keyset.h: the reference of all paging: a keyset SELECT per page, stepped in a C loop that reads every column.
///
/// One prepared statement, one read transaction, no copies. The sum has numbers and, for strings and blobs, the length and the first byte:
/// with it the other side proves that it read the same values.
/// Order of calls: open, then any number of run, then close. One thread.
#ifndef BR_KEYSET_H
#define BR_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct br_keyset br_keyset;

/// Opens an existing database and prepares `select`, whose first column is the key and which has two parameters: the key to
/// continue after, and the number of rows. NULL on any failure; `message` then has the reason. The caller owns the result.
br_keyset *br_keyset_open(const char *path, int64_t cache_bytes, const char *select, char *message, size_t message_size);

/// Reads all pages from the first to the last. False when SQLite fails.
/// `selects` is the number of runs of the statement, including the last, empty or short page.
bool br_keyset_run(br_keyset *keyset, int page_rows, int64_t *rows, int64_t *selects, uint64_t *sum);

/// Reads the rows of `keys` by one SELECT each, whose only parameter is the key. False when SQLite fails.
bool br_keyset_points(br_keyset *keyset, const int64_t *keys, size_t count, int64_t *rows, uint64_t *sum);

/// Reads all rows of one SELECT without parameters. False when SQLite fails.
bool br_keyset_all(br_keyset *keyset, int64_t *rows, uint64_t *sum);

void br_keyset_close(br_keyset *keyset);

#endif
