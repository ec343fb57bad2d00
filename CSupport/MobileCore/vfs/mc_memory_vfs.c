/// mc_memory_vfs.c: SQLite's VFS of files in memory.
#include <stdio.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_vfs.h"
#include "vfs/mc_memory_store.h"
#include "vfs/mc_vfs_base.h"

static const char NAME[] = "mobile-memory";

typedef struct memory_vfs {
    sqlite3_vfs vfs;  // built on the system's
    mc_memory_names names;
} memory_vfs;

static mc_memory_names *names_of(sqlite3_vfs *vfs)
{
    return &((memory_vfs *)(void *)vfs)->names;
}

static mc_memory_file *of(sqlite3_file *file)
{
    return (mc_memory_file *)(void *)file;
}

static int file_close(sqlite3_file *file)
{
    mc_memory_file *const own = of(file);
    mc_memory_leave_regions(own);
    mc_memory_unlock(own, SQLITE_LOCK_NONE);
    mc_memory_store_return(own->names, own->store, own->is_database);
    own->store = NULL;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buffer, int amount, sqlite3_int64 offset)
{
    return mc_memory_store_read(of(file)->store, buffer, amount, offset);
}

static int file_write(sqlite3_file *file, const void *buffer, int amount, sqlite3_int64 offset)
{
    return mc_memory_store_write(of(file)->store, buffer, amount, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return mc_memory_store_truncate(of(file)->store, size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = mc_memory_store_size(of(file)->store);
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
    return mc_memory_lock(of(file), level);
}

static int file_unlock(sqlite3_file *file, int level)
{
    mc_memory_unlock(of(file), level);
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *file, int *result)
{
    *result = mc_memory_is_reserved(of(file));
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
    (void)file;
    return 512;
}

static int file_characteristics(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_region(sqlite3_file *file, int index, int bytes, int extends, void volatile **out)
{
    return mc_memory_region(of(file), index, bytes, extends != 0, out);
}

static int file_lock_slots(sqlite3_file *file, int first, int count, int flags)
{
    return mc_memory_lock_slots(of(file), first, count, flags);
}

static void file_barrier(sqlite3_file *file)
{
    mc_memory_barrier(of(file));
}

static int file_leave_regions(sqlite3_file *file, int deletes)
{
    (void)deletes;  // the last one that leaves frees them
    mc_memory_leave_regions(of(file));
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_region,
    .xShmLock = file_lock_slots,
    .xShmBarrier = file_barrier,
    .xShmUnmap = file_leave_regions,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    mc_memory_file *const own = of(file);
    *own = (mc_memory_file){.names = names_of(vfs), .is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0};
    const int code =
        mc_memory_store_take(own->names, name, (flags & SQLITE_OPEN_CREATE) != 0, (flags & SQLITE_OPEN_EXCLUSIVE) != 0, &own->store);
    if (code != SQLITE_OK)
        return code;
    own->base.pMethods = &methods;
    if (out_flags != NULL)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    (void)sync_directory;
    mc_memory_store_delete(names_of(vfs), name);
    return SQLITE_OK;  // also without such a file: a journal may have gone when it was closed
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)flags;
    *result = mc_memory_store_look(names_of(vfs), name) > 0;  // as for files: an empty log or journal does not count
    return SQLITE_OK;
}

/// A name is what it is: it belongs to no folder.
static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs;
    const int length = snprintf(out, (size_t)size, "%s", name);
    return length >= 0 && length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    (void)size;
    (void)out;
    return 0;
}

static memory_vfs *create_vfs(sqlite3_vfs *base)
{
    memory_vfs *const memory = mc_allocate_zeroed(1, sizeof *memory);
    if (memory == NULL || pthread_mutex_init(&memory->names.mutex, NULL) != 0) {
        mc_free(memory);
        return NULL;
    }
    memory->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(mc_memory_file),
        .mxPathname = 1024,
        .zName = NAME,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xGetLastError = vfs_last_error,
    };
    mc_vfs_build_on(&memory->vfs, base);
    return memory;
}

mc_status mc_vfs_memory(char *name, mc_error *error)
{
    mc_status status = MC_OK;
    name[0] = '\0';
    sqlite3_vfs *const base = sqlite3_vfs_find(NULL);
    if (base == NULL)
        return mc_fail(error, MC_ERROR_NOT_FOUND, "storage in memory: SQLite has no storage of the system to build on");
    sqlite3_mutex *const lock = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);  // two threads may register at once
    sqlite3_mutex_enter(lock);
    if (sqlite3_vfs_find(NAME) == NULL) {
        memory_vfs *const memory = create_vfs(base);
        const int code = memory != NULL ? sqlite3_vfs_register(&memory->vfs, 0) : SQLITE_NOMEM;
        if (code != SQLITE_OK) {
            if (memory != NULL)
                (void)pthread_mutex_destroy(&memory->names.mutex);
            mc_free(memory);
            status = mc_fail_sqlite(error, NULL, code, "storage in memory");
        }
    }
    sqlite3_mutex_leave(lock);
    if (status == MC_OK)
        memcpy(name, NAME, sizeof NAME);
    return status;
}
