/// mc_vfs.h: storage layers, each an SQLite VFS on top of another one.
///
/// A layer is registered once per process and base under a name of its own and stays registered until the process ends, as
/// SQLite requires. A pool puts the layer below on top of the VFS of its options unless `coalesces_log_writes` is off.
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
/// has room for MC_VFS_NAME_SIZE bytes. Registering it again gives the same name; a base that is this layer gives its own name.
///
/// SQLite writes each frame of the write-ahead log with two small writes. The layer holds back the frames of the running
/// transaction and writes them in runs of 64 KB. When the write of a commit frame returns, everything is in the file, or has failed
/// with an error. The frames of a rolled back transaction are dropped when its write lock is released. With exclusive
/// locking, where that release is not seen, no frame is held back.
/// The layer also keeps SQLite's statement and savepoint journals in memory, up to 512 KB instead of SQLite's own 64 KB, before they
/// are written to a file.
/// Costs 64 KB of memory for each connection that writes, nothing for one that only reads.
///
/// Fails with MC_ERROR_NOT_FOUND (no such base), MC_ERROR_LIMIT (its name is too long), MC_ERROR_NO_MEMORY, MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_vfs_coalescing(const char *MC_NULLABLE base, char *name, mc_error *MC_NULLABLE error);

/// Registers the storage of databases in memory and writes its name to `name`, which has room for MC_VFS_NAME_SIZE bytes. Registering it
/// again gives the same name. A pool uses it for `in_memory` of its options; the same name lets a connection of the program's own open a
/// named one.
///
/// Unlike SQLite's own databases in memory (":memory:", "memdb"), which have no write-ahead log, so that a reader waits for the writer and
/// the writer for each reader, its files have all that files on a disk have but the disk: several connections of this process, locks,
/// shared memory and so a write-ahead log. A file lasts as long as it is open. Names have at most 1024 bytes, and belong to no folder.
///
/// Fails with MC_ERROR_NO_MEMORY, MC_ERROR_NOT_FOUND (SQLite has no VFS of the system), MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_vfs_memory(char *name, mc_error *MC_NULLABLE error);

struct sqlite3;

/// Returns whether an open database writes through that layer.
bool mc_vfs_coalesces(struct sqlite3 *db);

MC_NONNULL_END

#ifdef __cplusplus
}
#endif
#endif
