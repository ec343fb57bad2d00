#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_vfs.h"
#include "vfs/mc_coalescing_file.h"
#include "vfs/mc_vfs_base.h"

typedef struct coalescing_vfs {
    sqlite3_vfs vfs;  // built on another one
    char name[MC_VFS_NAME_SIZE];
} coalescing_vfs;

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    return mc_coalescing_open(mc_vfs_base(vfs), name, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    return mc_vfs_base(vfs)->xDelete(mc_vfs_base(vfs), name, sync_directory);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    return mc_vfs_base(vfs)->xAccess(mc_vfs_base(vfs), name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    return mc_vfs_base(vfs)->xFullPathname(mc_vfs_base(vfs), name, size, out);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    return mc_vfs_base(vfs)->xGetLastError(mc_vfs_base(vfs), size, out);
}

static int vfs_current_time_64(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
    return mc_vfs_base(vfs)->xCurrentTimeInt64(mc_vfs_base(vfs), now);
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
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = base->iVersion < 2 ? NULL : vfs_current_time_64,
    };
    mc_vfs_build_on(&layer->vfs, base);
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
