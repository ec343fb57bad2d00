/// fault_storage_internal.h: the record that the VFS writes and the replay reads.
#ifndef FAULT_STORAGE_INTERNAL_H
#define FAULT_STORAGE_INTERNAL_H

#include <sqlite3.h>
#include <stddef.h>

#include "fault_storage.h"

enum { FAULT_NAME_SIZE = 64, FAULT_FILES = 16 };

typedef struct fault_change {
    fault_kind kind;
    int file;              // index of the file's name
    int64_t place;         // offset, new size, or mark
    size_t length;         // bytes written
    unsigned char *bytes;  // owned by the record
} fault_change;

struct fault_storage {
    sqlite3_vfs vfs;  // pAppData is the base
    sqlite3_mutex *lock;
    char name[FAULT_NAME_SIZE];
    fault_counts counts;
    int64_t countdown;  // operations before the one that fails; negative: none
    int code;
    bool stays, has_failed;
    bool fails_opened, hides_shared_memory;
    int64_t open_files;
    int sector_size;  // 0: the base's

    bool is_recording, has_lost_changes;
    char files[FAULT_FILES][FAULT_NAME_SIZE];  // last path components
    int file_count;
    fault_change *changes;
    int64_t change_count, change_capacity;
};

#endif
