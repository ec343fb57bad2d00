/// br_object.h: the references of single objects: found by a key, and saved with all that belongs to a pending change.
///
/// One connection without a mutex, statements prepared once. One thread.
#ifndef BR_OBJECT_H
#define BR_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Reads rows one by one by a key.
typedef struct br_find br_find;

/// Opens an existing database and prepares `select`, whose parameter is the key. NULL when something fails; `message` then says
/// what. The caller owns the result.
br_find *br_find_open(const char *path, int64_t cache_bytes, const char *select, char *message, size_t message_size);
/// Finds the rows of all keys from 1 to `count`, in the order of `br_find_key`, and reads every column. False when SQLite fails.
bool br_find_run(br_find *find, int64_t count, int64_t *rows, uint64_t *sum);
void br_find_close(br_find *find);
/// The key that is looked for at `position`, from 0: every key from 1 to `count` has one, and neighbours are far from each other.
int64_t br_find_key(int64_t position, int64_t count);

/// Changes rows one by one, each in a transaction of its own.
typedef struct br_save br_save;

/// The three statements of a save, each with the row's key as its first parameter.
typedef struct br_save_statements {
    const char *keep;    ///< keeps the server's version; `?2` to `?5` are the marks of the row
    const char *note;    ///< notes which values were changed; `?2` says which
    const char *update;  ///< writes the marks `?2` to `?5` and the value `?6`
} br_save_statements;

br_save *br_save_open(const char *path, int64_t cache_bytes, const br_save_statements *statements, char *message, size_t message_size);
/// Saves the rows with the keys 1 to `count`: `texts` has the new value of each, `changed` says which value it is. False when SQLite fails.
bool br_save_run(br_save *save, const char *const *texts, int64_t count, const char *changed);
void br_save_close(br_save *save);

#endif
