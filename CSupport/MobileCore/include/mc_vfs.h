/// mc_vfs.h: storage layers, each an SQLite VFS that works on top of another one.
///
/// A layer is registered once per process and base under a name of its own and stays registered until the process ends, as
/// SQLite wants it. A pool puts the layer below on top of the VFS of its options unless `coalesces_log_writes` is off.
#ifndef MC_VFS_H
#define MC_VFS_H

#include <stdbool.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif

MC_NONNULL_BEGIN

/// The longest name of a layer in bytes, its closing NUL included.
enum { MC_VFS_NAME_SIZE = 128 };

/// Registers the layer of page-sized writes over the VFS `base` (NULL: the default one) and writes its name to `name`, which
/// has room for MC_VFS_NAME_SIZE bytes. Registering it again gives the same name, a base that is this layer its own.
///
/// SQLite writes each frame of the write-ahead log with two small writes. The layer holds the frames of the running
/// transaction back and writes them in runs of 64 KB. Everything is in the file, or has failed with an error, when the write
/// of a commit frame returns; what a rolled back transaction left behind is dropped when its write lock is given back. With exclusive
/// locking, where that is not seen, nothing is held back.
/// It also keeps what SQLite notes for the end of a running statement or savepoint in memory, up to 512 KB where SQLite's own 64 KB are
/// too little, before it is written to a file.
/// Costs 64 KB of memory for each connection that writes, nothing for one that only reads.
///
/// Fails with MC_ERROR_NOT_FOUND (no such base), MC_ERROR_LIMIT (its name is too long), MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_vfs_coalescing(const char *MC_NULLABLE base, char *name, mc_error *MC_NULLABLE error);

struct sqlite3;

/// Whether an open database writes through that layer.
bool mc_vfs_coalesces(struct sqlite3 *db);

MC_NONNULL_END

#ifdef __cplusplus
}
#endif
#endif
