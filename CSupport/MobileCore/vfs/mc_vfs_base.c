/// mc_vfs_base.c: the parts of a VFS that have nothing to do with files.
#include "vfs/mc_vfs_base.h"

sqlite3_vfs *mc_vfs_base(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *name)
{
    return mc_vfs_base(vfs)->xDlOpen(mc_vfs_base(vfs), name);
}

static void vfs_dl_error(sqlite3_vfs *vfs, int size, char *message)
{
    mc_vfs_base(vfs)->xDlError(mc_vfs_base(vfs), size, message);
}

static void (*vfs_dl_symbol(sqlite3_vfs *vfs, void *library, const char *symbol))(void)
{
    return mc_vfs_base(vfs)->xDlSym(mc_vfs_base(vfs), library, symbol);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library)
{
    mc_vfs_base(vfs)->xDlClose(mc_vfs_base(vfs), library);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    return mc_vfs_base(vfs)->xRandomness(mc_vfs_base(vfs), size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return mc_vfs_base(vfs)->xSleep(mc_vfs_base(vfs), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *now)
{
    return mc_vfs_base(vfs)->xCurrentTime(mc_vfs_base(vfs), now);
}

void mc_vfs_build_on(sqlite3_vfs *vfs, sqlite3_vfs *base)
{
    vfs->pAppData = base;
    vfs->xDlOpen = vfs_dl_open;
    vfs->xDlError = vfs_dl_error;
    vfs->xDlSym = vfs_dl_symbol;
    vfs->xDlClose = vfs_dl_close;
    vfs->xRandomness = vfs_randomness;
    vfs->xSleep = vfs_sleep;
    vfs->xCurrentTime = vfs_current_time;
}
