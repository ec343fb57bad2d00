/// br_object.h: the references of single objects: finding by a key, and saving with all parts of a pending change.
///
/// One connection without a mutex, statements prepared once. One thread.
#ifndef BR_OBJECT_H
#define BR_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A reader of single rows by a key.
typedef struct br_find br_find;

/// Opens an existing database and prepares `select`, whose parameter is the key. NULL on any failure; `message` then has
/// the reason. The caller owns the result.
br_find *br_find_open(const char *path, int64_t cache_bytes, const char *select, char *message, size_t message_size);
/// Finds the rows of all keys from 1 to `count`, in the order of `br_find_key`, and reads every column. False when SQLite fails.
bool br_find_run(br_find *find, int64_t count, int64_t *rows, uint64_t *sum);
void br_find_close(br_find *find);
/// The key at `position`, counted from 0: every key from 1 to `count` has one position, and neighbours are far from each other.
int64_t br_find_key(int64_t position, int64_t count);

/// A writer of single rows, each in its own transaction.
typedef struct br_save br_save;

/// The three statements of a save, each with the row's key as its first parameter.
typedef struct br_save_statements {
    const char *keep;    ///< keeps the server's version; `?2` to `?5` are the marks of the row
    const char *note;    ///< records the changed values; `?2` lists them
    const char *update;  ///< writes the marks `?2` to `?5` and the value `?6`
} br_save_statements;

br_save *br_save_open(const char *path, int64_t cache_bytes, const br_save_statements *statements, char *message, size_t message_size);
/// Saves the rows with the keys 1 to `count`: `texts` has the new value of each, `changed` names the value. False when SQLite fails.
bool br_save_run(br_save *save, const char *const *texts, int64_t count, const char *changed);
void br_save_close(br_save *save);

#endif
