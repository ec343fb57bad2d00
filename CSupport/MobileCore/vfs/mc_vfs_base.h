/// mc_vfs_base.h: a VFS on top of another one.
#ifndef MC_VFS_BASE_H
#define MC_VFS_BASE_H

#include <sqlite3.h>

#include "mc_error.h"

MC_NONNULL_BEGIN

/// Builds `vfs` on `base`: libraries, chance, sleep and the time of day are those of `base`, which must stay registered.
void mc_vfs_build_on(sqlite3_vfs *vfs, sqlite3_vfs *base);

/// Returns the VFS that `vfs` was built on.
sqlite3_vfs *mc_vfs_base(sqlite3_vfs *vfs);

MC_NONNULL_END
#endif
