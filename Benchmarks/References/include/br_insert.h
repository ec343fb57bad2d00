/// br_insert.h: the reference of all imports: a prepared INSERT of values that were parsed beforehand, in one transaction.
///
/// The code of a good C programmer with SQLite alone: one connection without a mutex, WAL, `synchronous=NORMAL`, one prepared
/// statement; per row bind, step and reset, with strings bound in place.
/// Order of calls: open; begin, rows, commit any number of times; close, which is the last checkpoint. One thread.
#ifndef BR_INSERT_H
#define BR_INSERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "br_data_set.h"

typedef struct br_insert br_insert;

/// Opens a new database file with the given page size and cache, both in bytes, runs `schema`, and prepares `insert`, which has
/// one parameter for each value of a row. An existing file keeps its page size, and `schema` may be empty. NULL on any
/// failure; `message` then has the reason. The caller owns the result.
br_insert *br_insert_open(const char *path, int page_size, int64_t cache_bytes, const char *schema, const char *insert, char *message,
                          size_t message_size);

/// Begins the transaction, adds the rows of a data set, ends the transaction. False on any failure, which rolls back.
bool br_insert_begin(br_insert *insert);
bool br_insert_rows(br_insert *insert, const br_data_set *data);
bool br_insert_commit(br_insert *insert);

/// Adds the rows with these numbers, counted from 0.
bool br_insert_some_rows(br_insert *insert, const br_data_set *data, const int64_t *numbers, size_t count);

/// The statement, for binding other values, and one run of it with the bound values. False on any failure, which rolls back.
struct sqlite3_stmt *br_insert_statement(br_insert *insert);
bool br_insert_step(br_insert *insert);

void br_insert_close(br_insert *insert);

#endif
