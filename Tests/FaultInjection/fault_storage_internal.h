/// fault_storage_internal.h: the common declarations of the VFS (fault_storage.c), its files (fault_file.c), the record that they write
/// (fault_record.c) and the replay that reads it (fault_replay.c).
#ifndef FAULT_STORAGE_INTERNAL_H
#define FAULT_STORAGE_INTERNAL_H

#include <sqlite3.h>
#include <stddef.h>

#include "fault_storage.h"

enum {
    FAULT_NAME_SIZE = 64,
    FAULT_FILES = 16,
    FAULT_FILE_SIZE = 32,  // of the wrapper around a file of the base, which follows it
};

typedef struct fault_change {
    fault_kind kind;
    int file;              // index of the file's name
    int64_t place;         // the offset, the new size, or the mark
    size_t length;         // the number of bytes written
    unsigned char *bytes;  // owned by the record
} fault_change;

struct fault_storage {
    sqlite3_vfs vfs;  // pAppData is the base
    sqlite3_mutex *lock;
    char name[FAULT_NAME_SIZE];
    fault_counts counts;
    int64_t countdown;  // operations before the one that fails; negative: none
    int code;
    bool stays, has_failed, is_full;
    bool only_writes, is_short;  // kind of the failure
    bool fails_opened, hides_shared_memory;
    int64_t open_files;
    int sector_size;  // 0: the base's

    bool is_recording, has_lost_changes;
    char files[FAULT_FILES][FAULT_NAME_SIZE];  // last path components
    int file_count;
    fault_change *changes;
    int64_t change_count, change_capacity;
};

static inline void fault_storage_enter(fault_storage *storage)
{
    sqlite3_mutex_enter(storage->lock);
}

static inline void fault_storage_leave(fault_storage *storage)
{
    sqlite3_mutex_leave(storage->lock);
}

/// The code with which the beginning operation fails; SQLITE_OK when it does not fail.
int fault_storage_fault(fault_storage *storage);
/// The same for a write.
int fault_storage_write_fault(fault_storage *storage);
bool fault_storage_is_full(fault_storage *storage);

/// Opens a file of the base with a wrapper that counts, fails and records.
int fault_file_open(fault_storage *storage, const char *name, sqlite3_file *file, int flags, int *out_flags);

/// The index of the file's name in the record; -1 when the record is full. Locked.
int fault_record_file(fault_storage *storage, const char *path);
/// Adds a change while the storage is recording. Not locked.
void fault_record_add(fault_storage *storage, fault_kind kind, int file, int64_t place, const void *bytes, size_t length);
/// Forgets all changes.
void fault_record_forget(fault_storage *storage);

#endif
