/// fault_storage.h: an SQLite VFS for tests that counts, fails on request, and records the changes that a power cut could lose.
///
/// Order of calls: create, open databases with the VFS's name, close them, free.
/// Threads:        any; a lock guards counters, faults and the record.
#ifndef FAULT_STORAGE_H
#define FAULT_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fault_storage fault_storage;

/// The number of operations through the VFS since it was made or the counters were cleared, without those on shared memory.
typedef struct fault_counts {
    int64_t reads, writes, syncs, truncates, opens;
    int64_t bytes_read, bytes_written;
} fault_counts;

/// Registers a VFS with a unique name above `base` (NULL: the default one). NULL when memory is short or `base` does not exist.
fault_storage *fault_storage_create(const char *base);
/// Unregisters and frees the VFS. Every database opened with it must be closed before.
void fault_storage_free(fault_storage *storage);
/// The name to open databases with; valid until the storage is freed.
const char *fault_storage_name(const fault_storage *storage);

fault_counts fault_storage_counts(fault_storage *storage);
void fault_storage_clear_counts(fault_storage *storage);

/// Makes the operation after the next `operations` ones fail with SQLite result code `code`, and all later ones if `stays`.
/// Reads, writes, syncs, truncations, opens and deletions count as operations. A negative number: no further operation fails.
void fault_storage_fail_after(fault_storage *storage, int64_t operations, int code, bool stays);
/// Makes the write after the next `writes` ones fail once with `code`; other operations do not count. `is_short`: half of its bytes
/// are then in the file, as when a disk becomes full.
void fault_storage_fail_write(fault_storage *storage, int64_t writes, int code, bool is_short);
/// While `is_full`, every write fails as on a full disk, and no shared memory is added. It goes before other faults.
void fault_storage_fill(fault_storage *storage, bool is_full);
/// Whether an operation has failed since the last `fault_storage_fail_after` or `fault_storage_fail_write`.
bool fault_storage_has_failed(fault_storage *storage);

/// From now on, a failed opening leaves its file open for SQLite to close, which a VFS may do.
void fault_storage_fail_opened(fault_storage *storage);
/// The number of open files.
int64_t fault_storage_open_files(fault_storage *storage);
/// Files that are opened from now on have methods of version 1: without shared memory, and so without a write-ahead log.
void fault_storage_hide_shared_memory(fault_storage *storage);

/// Sets the sector size in bytes, of sectors that a power cut tears: SQLite then fills the log's last sector after each commit.
/// Call it before opening databases; 0: the sector size of the base.
void fault_storage_set_sector_size(fault_storage *storage, int bytes);

/// Starts or ends recording. Starting discards the earlier record; open databases only after it, on files that do not exist.
void fault_storage_record(fault_storage *storage, bool on);
/// Records that the load has reached `mark`: a number that only grows, such as that of the last committed transaction.
void fault_storage_mark(fault_storage *storage, int64_t mark);
/// The number of recorded changes: writes, truncations, deletions, syncs and marks.
int64_t fault_storage_recorded(fault_storage *storage);

typedef enum fault_kind { FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC, FAULT_DELETE, FAULT_MARK } fault_kind;

/// One change of a record.
typedef struct fault_recorded {
    fault_kind kind;
    const char *file;  // the last component of the path, valid until the storage is freed; "" for a mark
    int64_t place;     // offset of a write, size after a truncation, the mark
    int64_t length;    // the number of bytes of a write
} fault_recorded;
/// The change with this number, counted from 0. The number must be below `fault_storage_recorded`.
fault_recorded fault_storage_change(fault_storage *storage, int64_t number);

/// A replay of a record, change by change. After each change it knows the durable content and the pending changes of each file.
typedef struct fault_replay fault_replay;

/// Begins before the first change. The storage must outlive the replay and must not record meanwhile. NULL when memory is short.
fault_replay *fault_replay_create(fault_storage *storage);
void fault_replay_free(fault_replay *replay);
/// Advances by one change. False at the end, or when memory is short.
bool fault_replay_step(fault_replay *replay);
/// The last mark passed; 0 before the first.
int64_t fault_replay_mark(const fault_replay *replay);
/// Writes into `directory` the content of each file that a power cut at this moment may leave: all synced changes, and a subset of the
/// later writes, chosen by `seed`, some of them torn between sectors of 512 bytes. False when a file could not be written.
bool fault_replay_write(fault_replay *replay, uint64_t seed, const char *directory);

#endif
