/// br_open.h: the reference of opening, and of small write transactions: SQLite alone, with the settings that a pool has by default.
#ifndef BR_OPEN_H
#define BR_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct br_database br_database;

/// Opens (or creates) a database file for writing: WAL, page size 4096, cache of `cache_bytes`, no memory map, `synchronous=NORMAL`,
/// and reads its schema. NULL when something fails; `message` then says what. The caller owns the result.
br_database *br_database_open(const char *path, int64_t cache_bytes, char *message, size_t message_size);

/// Runs statements, rows thrown away. False on any failure.
bool br_database_run(br_database *database, const char *sql);

/// The first integer of a query; -1 on any failure.
int64_t br_database_integer(br_database *database, const char *sql);

/// `count` transactions of one row each: BEGIN IMMEDIATE, `insert` with its only parameter from `first` on, COMMIT, each prepared once.
bool br_database_small_writes(br_database *database, const char *insert, int64_t first, int count);

void br_database_close(br_database *database);

#endif
