#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_vfs.h"
#include "vfs/mc_coalescing_file.h"

typedef struct coalescing_vfs {
    sqlite3_vfs vfs;  // pAppData is the base
    char name[MC_VFS_NAME_SIZE];
} coalescing_vfs;

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    return mc_coalescing_open(base_of(vfs), name, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    return base_of(vfs)->xDelete(base_of(vfs), name, sync_directory);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    return base_of(vfs)->xFullPathname(base_of(vfs), name, size, out);
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *name)
{
    return base_of(vfs)->xDlOpen(base_of(vfs), name);
}

static void vfs_dl_error(sqlite3_vfs *vfs, int size, char *message)
{
    base_of(vfs)->xDlError(base_of(vfs), size, message);
}

static void (*vfs_dl_symbol(sqlite3_vfs *vfs, void *library, const char *symbol))(void)
{
    return base_of(vfs)->xDlSym(base_of(vfs), library, symbol);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library)
{
    base_of(vfs)->xDlClose(base_of(vfs), library);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xRandomness(base_of(vfs), size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return base_of(vfs)->xSleep(base_of(vfs), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *now)
{
    return base_of(vfs)->xCurrentTime(base_of(vfs), now);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xGetLastError(base_of(vfs), size, out);
}

static int vfs_current_time_64(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
    return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), now);
}

static coalescing_vfs *create_vfs(sqlite3_vfs *base, const char *name)
{
    coalescing_vfs *layer = mc_allocate(sizeof *layer);
    if (layer == NULL)
        return NULL;
    memset(layer, 0, sizeof *layer);
    (void)snprintf(layer->name, sizeof layer->name, "%s", name);
    layer->vfs = (sqlite3_vfs){
        .iVersion = base->iVersion < 2 ? 1 : 2,
        .szOsFile = MC_COALESCING_FILE_SIZE + base->szOsFile,
        .mxPathname = base->mxPathname,
        .zName = layer->name,
        .pAppData = base,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xDlOpen = vfs_dl_open,
        .xDlError = vfs_dl_error,
        .xDlSym = vfs_dl_symbol,
        .xDlClose = vfs_dl_close,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = base->iVersion < 2 ? NULL : vfs_current_time_64,
    };
    return layer;
}

bool mc_vfs_coalesces(sqlite3 *db)
{
    sqlite3_vfs *vfs = NULL;
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
    return vfs != NULL && vfs->xOpen == vfs_open;
}

mc_status mc_vfs_coalescing(const char *base, char *name, mc_error *error)
{
    name[0] = '\0';
    sqlite3_vfs *below = sqlite3_vfs_find(base);
    if (below == NULL)
        return mc_fail(error, MC_ERROR_NOT_FOUND, "storage layer \"%.80s\": there is none of this name", base != NULL ? base : "default");
    char own[MC_VFS_NAME_SIZE];
    const char *const prefix = below->xOpen == vfs_open ? "" : "coalescing-";  // the layer is not put on top of itself
    const int length = snprintf(own, sizeof own, "%s%s", prefix, below->zName);
    if (length < 0 || length >= (int)sizeof own)
        return mc_fail(error, MC_ERROR_LIMIT, "storage layer \"%.80s...\": its name is too long to build on", below->zName);

    mc_status status = MC_OK;
    sqlite3_mutex *lock = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);  // two threads may register at once
    sqlite3_mutex_enter(lock);
    if (sqlite3_vfs_find(own) == NULL) {
        coalescing_vfs *layer = create_vfs(below, own);
        const int code = layer != NULL ? sqlite3_vfs_register(&layer->vfs, 0) : SQLITE_NOMEM;
        if (code != SQLITE_OK) {
            mc_free(layer);
            status = mc_fail_sqlite(error, NULL, code, "storage layer \"%s\"", own);
        }
    }
    sqlite3_mutex_leave(lock);
    if (status == MC_OK)
        memcpy(name, own, (size_t)length + 1);
    return status;
}
