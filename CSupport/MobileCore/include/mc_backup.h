/// mc_backup.h: copies a database while it is in use.
///
/// The copy is one state of the database, that of the beginning: of a database with a write-ahead log, all pages come from one snapshot,
/// and writers continue. Meanwhile the log cannot start over, as during any long read. Without a write-ahead log, a lock is held for a step
/// at a time; if another connection writes between two steps, the copy begins again, and after the third time the rest is one step, for
/// which writers wait.
///
/// The copy has the page size and the journal mode of the database, and the permissions of its file. It is stored by the pool's VFS, so
/// that the copy of an encrypted file is encrypted with the same key; that of a database in memory is a file of the system's VFS. `opened`
/// of the pool's options is not called for it. Large values that are being written are not in the copy; those that are complete are.
///
/// Threads: any. It takes one reader of the pool, which this thread may hold already: the copy is then of that reader's state.
/// Memory:  the caches of two connections. The time is that of reading and writing the file.
#ifndef MC_BACKUP_H
#define MC_BACKUP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "mc_pool.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// Called on the calling thread after each step, without locks, with the number of pages copied and that of all pages; when a copy begins
/// again, the first number is smaller again. Returns whether to continue.
typedef bool (*mc_backup_progress)(void *MC_NULLABLE context, int64_t copied, int64_t all);

/// The options of a backup. Start from `mc_backup_default_options`.
typedef struct mc_backup_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    int pages_per_step;             ///< 1 or more; 0: 256. Between steps the copy can be cancelled, and the progress is reported
    int64_t timeout_ns;             ///< the longest wait for a reader, and for locks of other processes: as in `mc_checkout`
    mc_ticket *MC_NULLABLE ticket;  ///< interrupts the wait and, at the next step, the copy
    mc_backup_progress MC_NULLABLE progress;
    void *MC_NULLABLE context;  ///< handed to `progress`
} mc_backup_options;

/// Returns the defaults: 256 pages a step, a reader waited for as long as by default, no callback.
static inline mc_backup_options mc_backup_default_options(void)
{
    mc_backup_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// Copies the database to the file `path`. `options` may be NULL.
/// The copy is written to `path` with ".part" appended, which replaces `path` when all of it is on the disk: under that name is never a
/// part, also after a power cut, and a failure leaves it as it was. Two backups do not write to one path at a time. Fails with
/// MC_ERROR_MISUSE (within a write of this thread; `path` is the pool's own database, or one that has a log or a journal, because it is in
/// use or was not closed; another backup writes to it; options out of range), MC_ERROR_NOT_FOUND (no such folder), MC_ERROR_INTERRUPTED
/// (`progress` or the ticket), MC_ERROR_FULL, MC_ERROR_IO, MC_ERROR_TIMEOUT (a lock of another process), and as a check-out of a reader
/// does.
MC_MUST_USE mc_status mc_pool_backup(mc_pool *pool, const char *path, const mc_backup_options *MC_NULLABLE options,
                                     mc_error *MC_NULLABLE error);

/// Copies the database over that of `target`, an open connection of the program's own without a transaction and not of this pool, such as
/// one in memory, or one that has been given a key. All that it had is gone, also if the copy fails: then it is empty, or as it was. Fails
/// as `mc_pool_backup` does, and with MC_ERROR_READ_ONLY (a target with another page size that cannot change, as in memory or with a log).
MC_MUST_USE mc_status mc_pool_backup_into(mc_pool *pool, struct sqlite3 *target, const mc_backup_options *MC_NULLABLE options,
                                          mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
