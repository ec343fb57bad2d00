#include "fault_storage.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_storage_internal.h"

typedef struct fault_file {
    sqlite3_file base;
    fault_storage *storage;
    sqlite3_file *real;
    int index;  // of the name in the record; -1: not recorded
} fault_file;

enum { WRAPPER_SIZE = (sizeof(fault_file) + 7) / 8 * 8 };

static void enter(fault_storage *storage)
{
    sqlite3_mutex_enter(storage->lock);
}
static void leave(fault_storage *storage)
{
    sqlite3_mutex_leave(storage->lock);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((fault_file *)file)->real;
}
static fault_storage *storage_of(sqlite3_file *file)
{
    return ((fault_file *)file)->storage;
}
static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

/// The code that the operation now beginning fails with; SQLITE_OK when it does not.
static int fault(fault_storage *storage)
{
    enter(storage);
    int code = SQLITE_OK;
    if (storage->countdown == 0) {
        code = storage->code;
        storage->has_failed = true;
        if (!storage->stays)
            storage->countdown = -1;
    } else if (storage->countdown > 0) {
        storage->countdown--;
    }
    leave(storage);
    return code;
}

static int index_of_name(fault_storage *storage, const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    if (name == NULL || strlen(name) >= FAULT_NAME_SIZE)
        return -1;
    for (int i = 0; i < storage->file_count; i++)
        if (strcmp(storage->files[i], name) == 0)
            return i;
    if (storage->file_count == FAULT_FILES)
        return -1;
    (void)snprintf(storage->files[storage->file_count], FAULT_NAME_SIZE, "%s", name);
    return storage->file_count++;
}

static void record(fault_storage *storage, fault_kind kind, int file, int64_t place, const void *bytes, size_t length)
{
    enter(storage);
    if (!storage->is_recording || (file < 0 && kind != FAULT_MARK)) {
        leave(storage);
        return;
    }
    if (storage->change_count == storage->change_capacity) {
        const int64_t capacity = storage->change_capacity * 2 + 1024;
        fault_change *grown = realloc(storage->changes, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            storage->has_lost_changes = true;
            leave(storage);
            return;
        }
        storage->changes = grown;
        storage->change_capacity = capacity;
    }
    unsigned char *copy = length > 0 ? malloc(length) : NULL;
    if (length > 0 && copy == NULL) {
        storage->has_lost_changes = true;
    } else {
        if (length > 0)
            memcpy(copy, bytes, length);
        storage->changes[storage->change_count++] =
            (fault_change){.kind = kind, .file = file, .place = place, .length = length, .bytes = copy};
    }
    leave(storage);
}

// ---- Files ---------------------------------------------------------------------------------------------------------------

static int file_close(sqlite3_file *file)
{
    fault_storage *storage = storage_of(file);
    enter(storage);
    storage->open_files--;
    leave(storage);
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    fault_storage *storage = storage_of(file);
    const int code = fault(storage);
    if (code != SQLITE_OK)
        return code;
    enter(storage);
    storage->counts.reads++;
    storage->counts.bytes_read += length;
    leave(storage);
    return real_of(file)->pMethods->xRead(real_of(file), bytes, length, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    fault_storage *storage = storage_of(file);
    int code = fault(storage);
    if (code != SQLITE_OK)
        return code;
    enter(storage);
    storage->counts.writes++;
    storage->counts.bytes_written += length;
    leave(storage);
    code = real_of(file)->pMethods->xWrite(real_of(file), bytes, length, offset);
    if (code == SQLITE_OK)
        record(storage, FAULT_WRITE, ((fault_file *)file)->index, offset, bytes, (size_t)length);
    return code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    fault_storage *storage = storage_of(file);
    int code = fault(storage);
    if (code != SQLITE_OK)
        return code;
    enter(storage);
    storage->counts.truncates++;
    leave(storage);
    code = real_of(file)->pMethods->xTruncate(real_of(file), size);
    if (code == SQLITE_OK)
        record(storage, FAULT_TRUNCATE, ((fault_file *)file)->index, size, NULL, 0);
    return code;
}

static int file_sync(sqlite3_file *file, int flags)
{
    fault_storage *storage = storage_of(file);
    int code = fault(storage);
    if (code != SQLITE_OK)
        return code;
    enter(storage);
    storage->counts.syncs++;
    leave(storage);
    code = real_of(file)->pMethods->xSync(real_of(file), flags);
    if (code == SQLITE_OK)
        record(storage, FAULT_SYNC, ((fault_file *)file)->index, 0, NULL, 0);
    return code;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int file_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}
static int file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_lock(sqlite3_file *file, int *is_reserved)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_reserved);
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file)
{
    const int size = storage_of(file)->sector_size;
    return size > 0 ? size : real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_characteristics(sqlite3_file *file)
{
    return storage_of(file)->sector_size > 0 ? 0 : real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, memory);
}

static int file_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), first, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}
static int file_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

#define FILE_METHODS                                                                                                                       \
    .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate, .xSync = file_sync,                        \
    .xFileSize = file_size, .xLock = file_lock, .xUnlock = file_unlock, .xCheckReservedLock = file_check_lock,                             \
    .xFileControl = file_control, .xSectorSize = file_sector_size, .xDeviceCharacteristics = file_characteristics

// No mapping of the database: every read is seen.
static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    FILE_METHODS,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};
static const sqlite3_io_methods methods_without_shared_memory = {.iVersion = 1, FILE_METHODS};

// ---- The VFS -------------------------------------------------------------------------------------------------------------

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    fault_storage *storage = (fault_storage *)vfs;
    fault_file *wrapper = (fault_file *)file;
    file->pMethods = NULL;
    const int failure = fault(storage);
    if (failure != SQLITE_OK && !storage->fails_opened)
        return failure;
    sqlite3_file *real = (sqlite3_file *)((char *)file + WRAPPER_SIZE);
    const int code = base_of(vfs)->xOpen(base_of(vfs), name, real, flags, out_flags);
    if (code != SQLITE_OK)
        return code;
    enter(storage);
    storage->counts.opens++;
    storage->open_files++;
    const int index = index_of_name(storage, name);
    leave(storage);
    *wrapper = (fault_file){
        .base.pMethods = storage->hides_shared_memory ? &methods_without_shared_memory : &file_methods,
        .storage = storage,
        .real = real,
        .index = index,
    };
    return failure;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    fault_storage *storage = (fault_storage *)vfs;
    int code = fault(storage);
    if (code != SQLITE_OK)
        return code;
    code = base_of(vfs)->xDelete(base_of(vfs), name, sync_directory);
    if (code == SQLITE_OK) {
        enter(storage);
        const int index = index_of_name(storage, name);
        leave(storage);
        record(storage, FAULT_DELETE, index, 0, NULL, 0);
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
        .szOsFile = WRAPPER_SIZE + below->szOsFile,
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

static void forget_changes(fault_storage *storage)
{
    for (int64_t i = 0; i < storage->change_count; i++)
        free(storage->changes[i].bytes);
    free(storage->changes);
    storage->changes = NULL;
    storage->change_count = storage->change_capacity = 0;
    storage->has_lost_changes = false;
}

void fault_storage_free(fault_storage *storage)
{
    if (storage == NULL)
        return;
    (void)sqlite3_vfs_unregister(&storage->vfs);
    forget_changes(storage);
    sqlite3_mutex_free(storage->lock);
    free(storage);
}

const char *fault_storage_name(const fault_storage *storage)
{
    return storage->name;
}

fault_counts fault_storage_counts(fault_storage *storage)
{
    enter(storage);
    const fault_counts counts = storage->counts;
    leave(storage);
    return counts;
}

void fault_storage_clear_counts(fault_storage *storage)
{
    enter(storage);
    storage->counts = (fault_counts){0};
    leave(storage);
}

void fault_storage_fail_after(fault_storage *storage, int64_t operations, int code, bool stays)
{
    enter(storage);
    storage->countdown = operations;
    storage->code = code;
    storage->stays = stays;
    storage->has_failed = false;
    leave(storage);
}

bool fault_storage_has_failed(fault_storage *storage)
{
    enter(storage);
    const bool has_failed = storage->has_failed;
    leave(storage);
    return has_failed;
}

void fault_storage_fail_opened(fault_storage *storage)
{
    storage->fails_opened = true;
}

int64_t fault_storage_open_files(fault_storage *storage)
{
    enter(storage);
    const int64_t open_files = storage->open_files;
    leave(storage);
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

void fault_storage_record(fault_storage *storage, bool on)
{
    enter(storage);
    if (on)
        forget_changes(storage);
    storage->is_recording = on;
    leave(storage);
}

void fault_storage_mark(fault_storage *storage, int64_t mark)
{
    record(storage, FAULT_MARK, -1, mark, NULL, 0);
}

int64_t fault_storage_recorded(fault_storage *storage)
{
    enter(storage);
    const int64_t count = storage->has_lost_changes ? -1 : storage->change_count;
    leave(storage);
    return count;
}

fault_recorded fault_storage_change(fault_storage *storage, int64_t number)
{
    enter(storage);
    const fault_change *change = &storage->changes[number];
    const fault_recorded recorded = {
        .kind = change->kind,
        .file = change->file >= 0 ? storage->files[change->file] : "",
        .place = change->place,
        .length = (int64_t)change->length,
    };
    leave(storage);
    return recorded;
}
