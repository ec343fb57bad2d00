/// fault_storage.h: an SQLite VFS for tests that counts, fails on request, and records what a power cut could take away.
///
/// Order of calls: create, open databases with the VFS's name, close them, free.
/// Threads:        any; a lock guards counters, faults and the record.
#ifndef FAULT_STORAGE_H
#define FAULT_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fault_storage fault_storage;

/// What was done through the VFS since it was made or the counters were cleared. Shared memory is not counted.
typedef struct fault_counts {
    int64_t reads, writes, syncs, truncates, opens;
    int64_t bytes_read, bytes_written;
} fault_counts;

/// Registers a VFS of a name of its own over `base` (NULL: the default one). NULL without memory or base.
fault_storage *fault_storage_create(const char *base);
/// Unregisters and frees. Every database opened with it has been closed before.
void fault_storage_free(fault_storage *storage);
/// The name to open databases with; valid until the storage is freed.
const char *fault_storage_name(const fault_storage *storage);

fault_counts fault_storage_counts(fault_storage *storage);
void fault_storage_clear_counts(fault_storage *storage);

/// Lets the operation after the next `operations` ones fail with SQLite result code `code`, and all after it if `stays`.
/// Reads, writes, syncs, truncations, opens and deletions count as operations. A negative number: none fails any more.
void fault_storage_fail_after(fault_storage *storage, int64_t operations, int code, bool stays);
/// Lets the write after the next `writes` ones fail once with `code`, whatever else is done meanwhile. `is_short`: half of its bytes are
/// in the file then, as a disk leaves them that becomes full.
void fault_storage_fail_write(fault_storage *storage, int64_t writes, int code, bool is_short);
/// Whether an operation has failed since the last `fault_storage_fail_after` or `fault_storage_fail_write`.
bool fault_storage_has_failed(fault_storage *storage);

/// From now on an opening that fails leaves its file open for SQLite to close, as a VFS may.
void fault_storage_fail_opened(fault_storage *storage);
/// Files that are open now.
int64_t fault_storage_open_files(fault_storage *storage);
/// Files that are opened from now on are of the first version: without shared memory, and so without a write-ahead log.
void fault_storage_hide_shared_memory(fault_storage *storage);

/// Makes it a disk with sectors of `bytes` that a power cut tears: SQLite then fills the log's last sector after each commit.
/// Before databases are opened with it; 0: the base's.
void fault_storage_set_sector_size(fault_storage *storage, int bytes);

/// Starts or ends recording. Starting forgets what was recorded; databases are opened after it, on files that do not exist.
void fault_storage_record(fault_storage *storage, bool on);
/// Notes that the load has come to `mark`: a number that only grows, such as that of the last transaction that was committed.
void fault_storage_mark(fault_storage *storage, int64_t mark);
/// The number of changes recorded: writes, truncations, deletions, syncs and marks.
int64_t fault_storage_recorded(fault_storage *storage);

typedef enum fault_kind { FAULT_WRITE, FAULT_TRUNCATE, FAULT_SYNC, FAULT_DELETE, FAULT_MARK } fault_kind;

/// One change of a record.
typedef struct fault_recorded {
    fault_kind kind;
    const char *file;  // the last component of its path, valid until the storage is freed; "" for a mark
    int64_t place;     // offset of a write, size after a truncation, the mark
    int64_t length;    // bytes of a write
} fault_recorded;
/// The change of this number, from 0 on. The number is below `fault_storage_recorded`.
fault_recorded fault_storage_change(fault_storage *storage, int64_t number);

/// Goes through a record, change by change, knowing after each what is safely on the disk and what is not.
typedef struct fault_replay fault_replay;

/// Begins before the first change. The storage outlives the replay and records nothing meanwhile. NULL without memory.
fault_replay *fault_replay_create(fault_storage *storage);
void fault_replay_free(fault_replay *replay);
/// Goes on by one change. False at the end, or without memory.
bool fault_replay_step(fault_replay *replay);
/// The last mark passed; 0 before the first.
int64_t fault_replay_mark(const fault_replay *replay);
/// Writes into `directory` what a power cut at this moment may leave of each file: all that was synced, and of the writes
/// since a subset chosen by `seed`, some of them torn between sectors of 512 bytes. False when a file could not be written.
bool fault_replay_write(fault_replay *replay, uint64_t seed, const char *directory);

#endif
