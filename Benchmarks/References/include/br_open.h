/// br_open.h: the reference of opening, and of small write transactions: SQLite alone, with the default settings of a pool.
#ifndef BR_OPEN_H
#define BR_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct br_database br_database;

/// Opens (or creates) a database file for writing: WAL, page size 4096, cache of `cache_bytes`, no memory map, `synchronous=NORMAL`,
/// and reads its schema. NULL on any failure; `message` then has the reason. The caller owns the result.
br_database *br_database_open(const char *path, int64_t cache_bytes, char *message, size_t message_size);

/// Runs statements and discards their rows. False on any failure.
bool br_database_run(br_database *database, const char *sql);

/// The first integer of a query; -1 on any failure.
int64_t br_database_integer(br_database *database, const char *sql);

/// Runs `count` transactions of one row each: BEGIN IMMEDIATE, `insert` with its parameter from `first` on, COMMIT, each prepared once.
bool br_database_small_writes(br_database *database, const char *insert, int64_t first, int count);

void br_database_close(br_database *database);

#endif
