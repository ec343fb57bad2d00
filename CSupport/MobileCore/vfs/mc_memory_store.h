/// mc_memory_store.h: the files of databases in memory: their bytes, the locks of their connections, and the memory that these share.
/// Internal to this folder.
///
/// A store is one file. It belongs to the files that SQLite has open on it, and is freed with the last of them: nothing is left of a
/// database without connections. Lock order: names, then store.
#ifndef MC_MEMORY_STORE_H
#define MC_MEMORY_STORE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mc_memory_file mc_memory_file;
typedef struct mc_memory_store mc_memory_store;

/// The files of a process by their names.
typedef struct mc_memory_names {
    pthread_mutex_t mutex;
    mc_memory_store *first;
} mc_memory_names;

struct mc_memory_store {
    mc_memory_store *next;  ///< under the names' mutex, as `name` and `users`
    char *name;             ///< NULL: a temporary file, or a deleted one
    int users;              ///< open files

    pthread_mutex_t lock;  ///< guards the others
    uint8_t **pieces;      ///< of MC_MEMORY_PIECE bytes each; NULL in the table: zeros
    size_t piece_count;    ///< length of the table
    int64_t size;

    int shared;                                      ///< files with SHARED or more
    mc_memory_file *reserved, *pending, *exclusive;  ///< the holders of these locks; NULL: none

    void **regions;  ///< shared memory of the write-ahead log, allocated one by one: a region never moves
    int region_count, region_users;
    int slots[SQLITE_SHM_NLOCK];  ///< its locks: the number of shared holders, or -1 for an exclusive one
};

/// A file that SQLite has open.
struct mc_memory_file {
    sqlite3_file base;
    mc_memory_names *names;
    mc_memory_store *store;
    bool is_database;  ///< and not its log, its journal or a temporary file
    int level;         ///< SQLITE_LOCK_...
    bool uses_regions;
    unsigned shared_slots, exclusive_slots;  ///< one bit for each lock that it holds
};

enum { MC_MEMORY_PIECE = 64 * 1024 };

/// Takes the file of a name (NULL: a new one without a name), and makes it if `creates`. Fails with SQLITE_CANTOPEN (no such file, or with
/// `is_new` there is one), SQLITE_NOMEM.
int mc_memory_store_take(mc_memory_names *names, const char *name, bool creates, bool is_new, mc_memory_store **out);
/// Gives it back. The last user's return frees it, unless it is the log or the journal of a database that is open.
void mc_memory_store_return(mc_memory_names *names, mc_memory_store *store, bool is_database);
/// Deletes a file, if there is one; those who have it open keep it.
void mc_memory_store_delete(mc_memory_names *names, const char *name);
/// The length of a file; -1: there is none of this name.
int64_t mc_memory_store_look(mc_memory_names *names, const char *name);

/// Reads, writes and cuts as SQLite's files do.
int mc_memory_store_read(mc_memory_store *store, void *buffer, int amount, int64_t offset);
int mc_memory_store_write(mc_memory_store *store, const void *buffer, int amount, int64_t offset);
int mc_memory_store_truncate(mc_memory_store *store, int64_t size);
int64_t mc_memory_store_size(mc_memory_store *store);

/// mc_memory_locks.c: the locks of the file and of its shared memory, as SQLite's files have them. No call waits.
int mc_memory_lock(mc_memory_file *file, int level);
void mc_memory_unlock(mc_memory_file *file, int level);
bool mc_memory_is_reserved(mc_memory_file *file);
int mc_memory_region(mc_memory_file *file, int index, int bytes, bool extends, void volatile **out);
int mc_memory_lock_slots(mc_memory_file *file, int first, int count, int flags);
void mc_memory_barrier(mc_memory_file *file);
void mc_memory_leave_regions(mc_memory_file *file);

#endif
