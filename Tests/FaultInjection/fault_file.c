#include "fault_storage_internal.h"

typedef struct fault_file {
    sqlite3_file base;
    fault_storage *storage;
    sqlite3_file *real;
    int index;  // of the name in the record; -1: not recorded
} fault_file;

_Static_assert(sizeof(fault_file) <= FAULT_FILE_SIZE, "room for the wrapper of a file");

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((fault_file *)file)->real;
}
static fault_storage *storage_of(sqlite3_file *file)
{
    return ((fault_file *)file)->storage;
}
static int file_close(sqlite3_file *file)
{
    fault_storage *storage = storage_of(file);
    fault_storage_enter(storage);
    storage->open_files--;
    fault_storage_leave(storage);
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    fault_storage *storage = storage_of(file);
    const int code = fault_storage_fault(storage);
    if (code != SQLITE_OK)
        return code;
    fault_storage_enter(storage);
    storage->counts.reads++;
    storage->counts.bytes_read += length;
    fault_storage_leave(storage);
    return real_of(file)->pMethods->xRead(real_of(file), bytes, length, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    fault_storage *storage = storage_of(file);
    const int failure = fault_storage_write_fault(storage);
    const int written = failure == SQLITE_OK ? length : storage->is_short ? length / 2 : 0;
    if (written == 0)
        return failure;
    fault_storage_enter(storage);
    storage->counts.writes++;
    storage->counts.bytes_written += written;
    fault_storage_leave(storage);
    const int code = real_of(file)->pMethods->xWrite(real_of(file), bytes, written, offset);
    if (code == SQLITE_OK)
        fault_record_add(storage, FAULT_WRITE, ((fault_file *)file)->index, offset, bytes, (size_t)written);
    return failure != SQLITE_OK ? failure : code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    fault_storage *storage = storage_of(file);
    int code = fault_storage_fault(storage);
    if (code != SQLITE_OK)
        return code;
    fault_storage_enter(storage);
    storage->counts.truncates++;
    fault_storage_leave(storage);
    code = real_of(file)->pMethods->xTruncate(real_of(file), size);
    if (code == SQLITE_OK)
        fault_record_add(storage, FAULT_TRUNCATE, ((fault_file *)file)->index, size, NULL, 0);
    return code;
}

static int file_sync(sqlite3_file *file, int flags)
{
    fault_storage *storage = storage_of(file);
    int code = fault_storage_fault(storage);
    if (code != SQLITE_OK)
        return code;
    fault_storage_enter(storage);
    storage->counts.syncs++;
    fault_storage_leave(storage);
    code = real_of(file)->pMethods->xSync(real_of(file), flags);
    if (code == SQLITE_OK)
        fault_record_add(storage, FAULT_SYNC, ((fault_file *)file)->index, 0, NULL, 0);
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
    const bool is_full = extend && fault_storage_is_full(storage_of(file));
    const int code = real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend && !is_full, memory);
    return code == SQLITE_OK && is_full && *memory == NULL ? SQLITE_IOERR_SHMSIZE : code;
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

// Version 2 has no mapping of the database, so every read passes through the wrapper.
static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    FILE_METHODS,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};
static const sqlite3_io_methods methods_without_shared_memory = {.iVersion = 1, FILE_METHODS};

int fault_file_open(fault_storage *storage, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    sqlite3_vfs *const base = storage->vfs.pAppData;
    fault_file *wrapper = (fault_file *)file;
    file->pMethods = NULL;
    const int failure = fault_storage_fault(storage);
    if (failure != SQLITE_OK && !storage->fails_opened)
        return failure;
    sqlite3_file *real = (sqlite3_file *)((char *)file + FAULT_FILE_SIZE);
    const int code = base->xOpen(base, name, real, flags, out_flags);
    if (code != SQLITE_OK)
        return code;
    fault_storage_enter(storage);
    storage->counts.opens++;
    storage->open_files++;
    const int index = fault_record_file(storage, name);
    fault_storage_leave(storage);
    *wrapper = (fault_file){
        .base.pMethods = storage->hides_shared_memory ? &methods_without_shared_memory : &file_methods,
        .storage = storage,
        .real = real,
        .index = index,
    };
    return failure;
}
