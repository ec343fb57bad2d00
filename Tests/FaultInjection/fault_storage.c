#include "fault_storage.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault_storage_internal.h"

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int next_fault(fault_storage *storage, bool is_write)
{
    fault_storage_enter(storage);
    int code = SQLITE_OK;
    if (storage->is_full && is_write) {
        code = SQLITE_FULL;
        storage->has_failed = true;
    } else if (storage->only_writes && !is_write) {
        // neither fails nor counts
    } else if (storage->countdown == 0) {
        code = storage->code;
        storage->has_failed = true;
        if (!storage->stays)
            storage->countdown = -1;
    } else if (storage->countdown > 0) {
        storage->countdown--;
    }
    fault_storage_leave(storage);
    return code;
}

int fault_storage_fault(fault_storage *storage)
{
    return next_fault(storage, false);
}

int fault_storage_write_fault(fault_storage *storage)
{
    return next_fault(storage, true);
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    return fault_file_open((fault_storage *)vfs, name, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    fault_storage *storage = (fault_storage *)vfs;
    int code = fault_storage_fault(storage);
    if (code != SQLITE_OK)
        return code;
    code = base_of(vfs)->xDelete(base_of(vfs), name, sync_directory);
    if (code == SQLITE_OK) {
        fault_storage_enter(storage);
        const int index = fault_record_file(storage, name);
        fault_storage_leave(storage);
        fault_record_add(storage, FAULT_DELETE, index, 0, NULL, 0);
    }
    return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    return base_of(vfs)->xFullPathname(base_of(vfs), name, size, out);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xRandomness(base_of(vfs), size, out);
}
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return base_of(vfs)->xSleep(base_of(vfs), microseconds);
}
static int vfs_time(sqlite3_vfs *vfs, double *now)
{
    return base_of(vfs)->xCurrentTime(base_of(vfs), now);
}
static int vfs_time_64(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), now);
}
static int vfs_error(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xGetLastError(base_of(vfs), size, out);
}

fault_storage *fault_storage_create(const char *base)
{
    static atomic_int number;  // VFS names are unique in a process
    sqlite3_vfs *below = sqlite3_vfs_find(base);
    fault_storage *storage = below != NULL ? calloc(1, sizeof *storage) : NULL;
    if (storage == NULL)
        return NULL;
    (void)snprintf(storage->name, sizeof storage->name, "fault-%d", atomic_fetch_add(&number, 1));
    storage->countdown = -1;
    storage->lock = sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    storage->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = FAULT_FILE_SIZE + below->szOsFile,
        .mxPathname = below->mxPathname,
        .zName = storage->name,
        .pAppData = below,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_error,
        .xCurrentTimeInt64 = vfs_time_64,
    };
    if (storage->lock == NULL || sqlite3_vfs_register(&storage->vfs, 0) != SQLITE_OK) {
        sqlite3_mutex_free(storage->lock);
        free(storage);
        return NULL;
    }
    return storage;
}

void fault_storage_free(fault_storage *storage)
{
    if (storage == NULL)
        return;
    (void)sqlite3_vfs_unregister(&storage->vfs);
    fault_record_forget(storage);
    sqlite3_mutex_free(storage->lock);
    free(storage);
}

const char *fault_storage_name(const fault_storage *storage)
{
    return storage->name;
}

fault_counts fault_storage_counts(fault_storage *storage)
{
    fault_storage_enter(storage);
    const fault_counts counts = storage->counts;
    fault_storage_leave(storage);
    return counts;
}

void fault_storage_clear_counts(fault_storage *storage)
{
    fault_storage_enter(storage);
    storage->counts = (fault_counts){0};
    fault_storage_leave(storage);
}

void fault_storage_fail_after(fault_storage *storage, int64_t operations, int code, bool stays)
{
    fault_storage_enter(storage);
    storage->countdown = operations;
    storage->code = code;
    storage->stays = stays;
    storage->only_writes = storage->is_short = false;
    storage->has_failed = false;
    fault_storage_leave(storage);
}

void fault_storage_fail_write(fault_storage *storage, int64_t writes, int code, bool is_short)
{
    fault_storage_enter(storage);
    storage->countdown = writes;
    storage->code = code;
    storage->stays = false;
    storage->only_writes = true;
    storage->is_short = is_short;
    storage->has_failed = false;
    fault_storage_leave(storage);
}

void fault_storage_fill(fault_storage *storage, bool is_full)
{
    fault_storage_enter(storage);
    storage->is_full = is_full;
    storage->has_failed = false;
    fault_storage_leave(storage);
}

bool fault_storage_is_full(fault_storage *storage)
{
    fault_storage_enter(storage);
    const bool is_full = storage->is_full;
    fault_storage_leave(storage);
    return is_full;
}

bool fault_storage_has_failed(fault_storage *storage)
{
    fault_storage_enter(storage);
    const bool has_failed = storage->has_failed;
    fault_storage_leave(storage);
    return has_failed;
}

void fault_storage_fail_opened(fault_storage *storage)
{
    storage->fails_opened = true;
}

int64_t fault_storage_open_files(fault_storage *storage)
{
    fault_storage_enter(storage);
    const int64_t open_files = storage->open_files;
    fault_storage_leave(storage);
    return open_files;
}

void fault_storage_hide_shared_memory(fault_storage *storage)
{
    storage->hides_shared_memory = true;
}

void fault_storage_set_sector_size(fault_storage *storage, int bytes)
{
    storage->sector_size = bytes;
}
