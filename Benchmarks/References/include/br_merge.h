/// br_merge.h: the reference of parents with their children: two SELECTs in the same order, stepped side by side.
///
/// One connection without a mutex, both statements prepared once. One thread.
#ifndef BR_MERGE_H
#define BR_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct br_merge br_merge;

/// Opens an existing database and prepares both statements. `parents` is ordered by its first column, the key. The last column of
/// `children` is their parent's key, the first term of their order. NULL on any failure; `message` then has the reason.
br_merge *br_merge_open(const char *path, int64_t cache_bytes, const char *parents, const char *children, char *message,
                        size_t message_size);

/// Reads every column of all parents, each followed by its children. False when SQLite fails.
bool br_merge_run(br_merge *merge, int64_t *parents, int64_t *children, uint64_t *sum);

void br_merge_close(br_merge *merge);

#endif
