#include "storage/mc_coalescing_file.h"

#include <stdbool.h>
#include <string.h>

#include "base/mc_memory.h"
#include "storage/mc_statement_journal.h"
#include "storage/mc_write_behind.h"
// What SQLite does to a write-ahead log, and what follows for holding frames back:
//
//   log header (32 bytes at 0)       at a restart of the log              -> straight through
//   frame header (24), then page     appends of the running transaction   -> held back
//   page of an earlier frame         a spilled page changed again         -> straight through, after a flush
//   frame headers, each 24           checksums rewritten after a commit   -> straight through
//
// Invariants:
// 1. The buffer holds consecutive bytes [start, start + length) of the log, all of them frames of the running transaction.
// 2. It is empty whenever the connection does not hold the write lock: other processes append at the same place.
// 3. It is empty when the write of a commit frame's page has returned SQLITE_OK.
// 4. A run that could not be written is lost, and SQLite must not go on behind it: until the transaction ends, or writes
//    the log again from the lost place or before it, every read and write behind it fails.

enum {
    RUN_SIZE = 64 * 1024,       // below 128 KB, where the unix VFS cuts a single write short
    FRAME_HEADER_SIZE = 24,
    LOG_HEADER_SIZE = 32,
    LOG_HEADER_PAGE_SIZE = 8,   // place of the page size in the log header, 4 bytes, big endian
    LOCK_WRITE = 0,             // SQLite's WAL_WRITE_LOCK, the first of the shared-memory locks
};

typedef struct log_file log_file;

typedef struct database_file {
    sqlite3_file base;
    sqlite3_file *real;
    const sqlite3_vfs *vfs_below;  // tells this layer's files from those of the same layer further up
    log_file *log;                 // the log that this connection has open; NULL while it has none
} database_file;

struct log_file {
    sqlite3_file base;
    sqlite3_file *real;
    database_file *database;  // NULL where the database is not ours
    unsigned char *buffer;    // RUN_SIZE bytes, made at the first frame
    sqlite3_int64 start;      // place of the buffer in the log
    sqlite3_int64 next;       // where an append goes on; -1: not known
    sqlite3_int64 lost;       // from here on the log misses a run; -1: it is whole
    sqlite3_int64 frame_size; // header and page; 0: not known yet
    int length;               // bytes in the buffer
    int lost_code;            // why
    bool in_commit;           // the frame header written last was that of a commit frame
    mc_write_behind behind;
};

_Static_assert((int)MC_STATEMENT_JOURNAL_SIZE <= (int)MC_COALESCING_FILE_SIZE, "room for the wrapper of a statement's journal");
_Static_assert(sizeof(database_file) <= MC_COALESCING_FILE_SIZE, "room for the wrapper of the database");
_Static_assert(sizeof(log_file) <= MC_COALESCING_FILE_SIZE, "room for the wrapper of the log");

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((database_file *)file)->real;
}

static log_file *as_log(sqlite3_file *file)
{
    return (log_file *)file;
}

// ---- The log -------------------------------------------------------------------------------------------------------------

/// A transaction began or ended: nothing of the one before it is held back, or missing.
static void separate_transactions(log_file *log)
{
    log->length = 0;
    log->next = -1;
    log->lost = -1;
    log->in_commit = false;
}

static int flush(log_file *log)
{
    if (log->length == 0)
        return SQLITE_OK;
    const int code = log->real->pMethods->xWrite(log->real, log->buffer, log->length, log->start);
    if (code != SQLITE_OK) {
        log->lost = log->start;
        log->lost_code = code;
        log->next = -1;
    } else {
        mc_write_behind_note(&log->behind, log->start, log->length);
    }
    log->length = 0;
    return code;
}

static int hold(log_file *log, const unsigned char *bytes, int length, sqlite3_int64 offset)
{
    while (length > 0) {
        if (log->length == RUN_SIZE) {
            const int code = flush(log);
            if (code != SQLITE_OK)
                return code;
        }
        if (log->length == 0)
            log->start = offset;
        const int room = RUN_SIZE - log->length;
        const int part = length < room ? length : room;
        memcpy(log->buffer + log->length, bytes, (size_t)part);
        log->length += part;
        bytes += part;
        offset += part;
        length -= part;
    }
    log->next = offset;
    return SQLITE_OK;
}

static int write_through(log_file *log, const void *bytes, int length, sqlite3_int64 offset)
{
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xWrite(log->real, bytes, length, offset);
}

static bool is_commit_frame(const unsigned char *header)
{
    // Bytes 4 to 7: the size of the database after a commit, 0 in every other frame.
    return (header[4] | header[5] | header[6] | header[7]) != 0;
}

static sqlite3_int64 frame_size_in(const unsigned char *log_header)
{
    const unsigned char *size = log_header + LOG_HEADER_PAGE_SIZE;
    return FRAME_HEADER_SIZE + ((sqlite3_int64)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3]);
}

/// Whether frames can be told from other writes, and there is memory to hold them back. If not, the layer only passes on.
static bool can_hold(log_file *log)
{
    if (log->database == NULL)
        return false;  // the end of a transaction would not be seen
    if (log->frame_size == 0) {
        unsigned char header[LOG_HEADER_SIZE];
        if (log->real->pMethods->xRead(log->real, header, LOG_HEADER_SIZE, 0) != SQLITE_OK)
            return false;
        log->frame_size = frame_size_in(header);
    }
    if (log->buffer == NULL)
        log->buffer = mc_allocate(RUN_SIZE);
    return log->buffer != NULL;
}

/// A page is sometimes written in two parts, of any length: only its place tells a frame's header.
static bool is_frame_header(const log_file *log, int length, sqlite3_int64 offset)
{
    return length == FRAME_HEADER_SIZE && log->frame_size > 0 && offset >= LOG_HEADER_SIZE
        && (offset - LOG_HEADER_SIZE) % log->frame_size == 0;
}

static int append(log_file *log, const void *bytes, int length, sqlite3_int64 offset)
{
    const bool is_header = is_frame_header(log, length, offset);
    const int code = hold(log, bytes, length, offset);
    if (code != SQLITE_OK)
        return code;
    if (is_header)
        log->in_commit = is_commit_frame(bytes);
    return log->in_commit && !is_header ? flush(log) : SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    log_file *log = as_log(file);
    if (log->lost >= 0) {
        if (offset > log->lost)
            return log->lost_code;
        log->lost = -1;
    }
    if (offset == log->next && can_hold(log))
        return append(log, bytes, length, offset);

    const int code = write_through(log, bytes, length, offset);
    if (code != SQLITE_OK) {
        log->next = -1;
        return code;
    }
    if (offset == 0 && length == LOG_HEADER_SIZE) {
        log->frame_size = frame_size_in(bytes);
        log->next = LOG_HEADER_SIZE;
    } else if (can_hold(log) && is_frame_header(log, length, offset)) {
        // The first of a transaction: its page follows at once. While checksums are rewritten the next write is elsewhere.
        log->next = offset + length;
        log->in_commit = is_commit_frame(bytes);
    }
    return SQLITE_OK;
}

static int log_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    log_file *log = as_log(file);
    if (log->lost >= 0 && offset + length > log->lost)
        return log->lost_code;
    const bool overlaps = log->length > 0 && offset < log->start + log->length && offset + length > log->start;
    const int code = overlaps ? flush(log) : SQLITE_OK;
    return code != SQLITE_OK ? code : log->real->pMethods->xRead(log->real, bytes, length, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    log->next = -1;
    return code != SQLITE_OK ? code : log->real->pMethods->xTruncate(log->real, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    if (code != SQLITE_OK)
        return code;
    log->behind.is_on = true;  // without syncs nobody would wait for the disk
    return log->lost >= 0 ? log->lost_code : log->real->pMethods->xSync(log->real, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileSize(log->real, size);
}

static int log_control(sqlite3_file *file, int operation, void *argument)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileControl(log->real, operation, argument);
}

// SQLite locks the database, never its log; whoever does would rely on what was written.
static int log_lock(sqlite3_file *file, int level)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xLock(log->real, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    log_file *log = as_log(file);
    const int code = flush(log);
    const int unlocked = log->real->pMethods->xUnlock(log->real, level);
    return code != SQLITE_OK ? code : unlocked;
}

static int log_close(sqlite3_file *file)
{
    log_file *log = as_log(file);
    if (log->database != NULL)
        log->database->log = NULL;
    mc_write_behind_close(&log->behind);
    mc_free(log->buffer);  // at most frames that were never committed
    return log->real->pMethods->xClose(log->real);
}

// ---- The database --------------------------------------------------------------------------------------------------------

static int database_close(sqlite3_file *file)
{
    database_file *database = (database_file *)file;
    if (database->log != NULL)
        database->log->database = NULL;
    return database->real->pMethods->xClose(database->real);
}

static int pass_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xRead(real_of(file), bytes, length, offset);
}

static int pass_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xWrite(real_of(file), bytes, length, offset);
}

static int pass_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int pass_sync(sqlite3_file *file, int flags)
{
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int pass_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int pass_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int pass_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int pass_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int pass_check_lock(sqlite3_file *file, int *is_reserved)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_reserved);
}

static int pass_sector_size(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int pass_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int pass_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, memory);
}

static int database_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
    database_file *database = (database_file *)file;
    // Given back or taken, the write lock separates transactions: what is still held back belongs to one that was rolled back.
    const bool is_write_lock = first == LOCK_WRITE && (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    if (is_write_lock && database->log != NULL)
        separate_transactions(database->log);
    return database->real->pMethods->xShmLock(database->real, first, count, flags);
}

static void pass_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int pass_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static int pass_fetch(sqlite3_file *file, sqlite3_int64 offset, int length, void **memory)
{
    return real_of(file)->pMethods->xFetch(real_of(file), offset, length, memory);
}

static int pass_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *memory)
{
    return real_of(file)->pMethods->xUnfetch(real_of(file), offset, memory);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = pass_check_lock,
    .xFileControl = log_control,
    .xSectorSize = pass_sector_size,
    .xDeviceCharacteristics = pass_characteristics,
};

// A base of version 2 has shared memory but no mapping of pages.
#define DATABASE_METHODS                                                                                                     \
    .xClose = database_close, .xRead = pass_read, .xWrite = pass_write, .xTruncate = pass_truncate, .xSync = pass_sync,      \
    .xFileSize = pass_size, .xLock = pass_lock, .xUnlock = pass_unlock, .xCheckReservedLock = pass_check_lock,               \
    .xFileControl = pass_control, .xSectorSize = pass_sector_size, .xDeviceCharacteristics = pass_characteristics,           \
    .xShmMap = pass_shm_map, .xShmLock = database_shm_lock, .xShmBarrier = pass_shm_barrier, .xShmUnmap = pass_shm_unmap

static const sqlite3_io_methods database_methods = {.iVersion = 2, DATABASE_METHODS};
static const sqlite3_io_methods mapping_database_methods = {
    .iVersion = 3, DATABASE_METHODS, .xFetch = pass_fetch, .xUnfetch = pass_unfetch};

// ---- Opening -------------------------------------------------------------------------------------------------------------

/// The database that a log belongs to, if this layer is the topmost one and opened it; NULL otherwise.
static database_file *database_of_log(const sqlite3_vfs *vfs_below, const char *log_name)
{
    sqlite3_file *file = log_name != NULL ? sqlite3_database_file_object(log_name) : NULL;
    const bool is_ours =
        file != NULL && (file->pMethods == &database_methods || file->pMethods == &mapping_database_methods);
    return is_ours && ((database_file *)file)->vfs_below == vfs_below ? (database_file *)file : NULL;
}

int mc_coalescing_open(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    file->pMethods = NULL;
    if ((flags & SQLITE_OPEN_SUBJOURNAL) != 0)
        return mc_statement_journal_open(base, file, flags, out_flags);
    if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) == 0)
        return base->xOpen(base, name, file, flags, out_flags);

    sqlite3_file *real = (sqlite3_file *)((char *)file + MC_COALESCING_FILE_SIZE);
    real->pMethods = NULL;
    const int code = base->xOpen(base, name, real, flags, out_flags);
    if (code != SQLITE_OK) {
        // SQLite closes a file whose open failed if it has methods; ours has none, so the base's is closed here.
        if (real->pMethods != NULL)
            (void)real->pMethods->xClose(real);
        return code;
    }
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) {
        // Without shared memory (version 1) the end of a transaction is not seen: nothing can be held back safely.
        if (real->pMethods->iVersion < 2) {
            (void)real->pMethods->xClose(real);
            return base->xOpen(base, name, file, flags, out_flags);
        }
        database_file *database = (database_file *)file;
        const bool maps = real->pMethods->iVersion >= 3;
        *database = (database_file){.base.pMethods = maps ? &mapping_database_methods : &database_methods, .real = real, .vfs_below = base};
        return SQLITE_OK;
    }
    log_file *log = (log_file *)file;
    *log = (log_file){.base.pMethods = &log_methods, .real = real, .next = -1, .lost = -1, .behind = mc_write_behind_none(name)};
    log->database = database_of_log(base, name);
    if (log->database != NULL)
        log->database->log = log;
    return SQLITE_OK;
}
