#include "vfs/mc_coalescing_log.h"

#include <stdbool.h>
#include <string.h>

#include "base/mc_memory.h"
#include "vfs/mc_log_checksums.h"

// SQLite's operations on a write-ahead log, and how they are handled:
//
//   log header (32 bytes at 0)       at a restart of the log                  -> straight through
//   frame header (24), then page     appends of the running transaction       -> held back
//   the same at an earlier place     a statement or savepoint was rolled back -> the bytes after it are dropped, then as above
//   page of an earlier frame         a spilled page changed again             -> straight through, after a flush
//   frame headers, each 24           checksums rewritten after a commit       -> straight through
//   reads                            spilled pages, frames to be rewritten    -> from the buffer where it has them
//   read of a checksum (8)           the seed of the rewritten ones           -> completed before, see mc_log_checksums.h
//
// A write that fails ends the transaction: SQLite treats it as a failure of the whole log. A read that fails may end the statement alone;
// the transaction then continues without the pages that the read was to save. So a read never writes.
//
// Invariants:
// 1. The buffer holds consecutive bytes [start, start + length) of the log, all of them frames of the running transaction.
// 2. It is empty unless the connection was seen to take the write lock: other processes append at the same place.
// 3. It is empty when the write of a commit frame's page has returned SQLITE_OK.
// 4. From the place of a failed write on the log is lost, and SQLite must not continue there: every read and write after it fails until
//    the transaction ends, or the frame at that place or an earlier one is written again from its header on. Writing an earlier page
//    again repairs nothing.

enum {
    RUN_SIZE = 64 * 1024,      // below 128 KB, where the unix VFS cuts a single write short
    LOG_HEADER_PAGE_SIZE = 8,  // place of the page size in the log header, 4 bytes, big endian
};

struct mc_coalescing_log {
    sqlite3_file base;
    sqlite3_file *real;
    mc_coalescing_log **place;  // where the database keeps this log; NULL: the database is not of this layer
    unsigned char *buffer;      // RUN_SIZE bytes, made at the first frame
    sqlite3_int64 start;        // place of the buffer in the log
    sqlite3_int64 next;         // the place of the next append; -1: not known
    sqlite3_int64 lost;         // from here on the log is incomplete; -1: it is whole
    sqlite3_int64 commit;       // place of the frame header written last, if it is that of a commit frame; otherwise -1
    sqlite3_int64 frame_size;   // header and page; 0: not known yet
    int length;                 // bytes in the buffer
    int lost_code;              // the result code of the failed write
    bool is_locked;             // this connection has the write lock
};

_Static_assert(sizeof(mc_coalescing_log) <= MC_COALESCING_FILE_SIZE, "room for the wrapper of the log");

static mc_coalescing_log *as_log(sqlite3_file *file)
{
    return (mc_coalescing_log *)file;
}

void mc_coalescing_log_separate(mc_coalescing_log *log, bool is_locked)
{
    log->length = 0;
    log->next = -1;
    log->lost = -1;
    log->commit = -1;
    log->is_locked = is_locked;
}

/// Writes to the file. After a failure the log is lost until the transaction ends; if its end will not be seen, the code is only returned.
static int write_real(mc_coalescing_log *log, const void *bytes, int length, sqlite3_int64 offset)
{
    const int code = log->real->pMethods->xWrite(log->real, bytes, length, offset);
    if (code == SQLITE_OK)
        return SQLITE_OK;
    log->next = -1;
    if (log->is_locked) {
        log->lost = offset;
        log->lost_code = code;
    }
    return code;
}

static int flush(mc_coalescing_log *log)
{
    if (log->length == 0)
        return SQLITE_OK;
    const int code = write_real(log, log->buffer, log->length, log->start);
    log->length = 0;
    return code;
}

static int hold(mc_coalescing_log *log, const unsigned char *bytes, int length, sqlite3_int64 offset)
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

static bool is_commit_frame(const unsigned char *header)
{
    // Bytes 4 to 7: the size of the database after a commit, 0 in every other frame.
    return (header[4] | header[5] | header[6] | header[7]) != 0;
}

static sqlite3_int64 frame_size_in(const unsigned char *log_header)
{
    const unsigned char *size = log_header + LOG_HEADER_PAGE_SIZE;
    return MC_FRAME_HEADER_SIZE + ((sqlite3_int64)size[0] << 24 | size[1] << 16 | size[2] << 8 | size[3]);
}

/// Whether frames can be distinguished from other writes.
static bool knows_frames(mc_coalescing_log *log)
{
    unsigned char header[MC_LOG_HEADER_SIZE];
    if (log->frame_size == 0 && log->real->pMethods->xRead(log->real, header, MC_LOG_HEADER_SIZE, 0) == SQLITE_OK)
        log->frame_size = frame_size_in(header);
    return log->frame_size > 0;
}

/// A page is sometimes written in two parts, of any length: only the place of a write shows that it is a frame's header.
static bool is_frame_header(mc_coalescing_log *log, int length, sqlite3_int64 offset)
{
    return length == MC_FRAME_HEADER_SIZE && offset >= MC_LOG_HEADER_SIZE && knows_frames(log)
        && (offset - MC_LOG_HEADER_SIZE) % log->frame_size == 0;
}

/// Whether the end of the transaction will be seen, and there is memory to hold frames back. If not, the layer only forwards writes.
static bool can_hold(mc_coalescing_log *log)
{
    if (log->place == NULL || !log->is_locked)
        return false;
    if (log->buffer == NULL)
        log->buffer = mc_allocate(RUN_SIZE);
    return log->buffer != NULL;
}

/// SQLite writes the log from `offset` on: the bytes after it no longer count, whether they were held back or lost.
static void forget_behind(mc_coalescing_log *log, sqlite3_int64 offset)
{
    if (log->length > 0 && offset < log->start + log->length) {
        log->length = offset > log->start ? (int)(offset - log->start) : 0;
        log->next = offset;
    }
    if (offset <= log->lost)
        log->lost = -1;
}

static int append(mc_coalescing_log *log, const void *bytes, int length, sqlite3_int64 offset, bool is_header)
{
    const int code = hold(log, bytes, length, offset);
    return code == SQLITE_OK && log->commit >= 0 && !is_header ? flush(log) : code;
}

static int write_through(mc_coalescing_log *log, const void *bytes, int length, sqlite3_int64 offset, bool is_header)
{
    int code = flush(log);
    if (code == SQLITE_OK)
        code = write_real(log, bytes, length, offset);
    if (code != SQLITE_OK)
        return code;
    if (offset == 0 && length == MC_LOG_HEADER_SIZE) {
        log->frame_size = frame_size_in(bytes);
        log->next = MC_LOG_HEADER_SIZE;
    } else if (is_header) {
        // The first of a transaction: its page follows at once. While checksums are rewritten the next write is elsewhere.
        log->next = offset + length;
    }
    return SQLITE_OK;
}

static int log_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    mc_coalescing_log *log = as_log(file);
    const bool is_header = is_frame_header(log, length, offset);
    // The headers whose checksums are rewritten come after a commit frame, when no frame is held back or lost.
    if (is_header || offset == 0)
        forget_behind(log, offset);
    if (log->lost >= 0 && offset + length > log->lost)
        return log->lost_code;
    if (is_header || offset == 0)
        log->commit = is_header && is_commit_frame(bytes) ? offset : -1;
    const bool is_append = offset == log->next && can_hold(log);
    return is_append ? append(log, bytes, length, offset, is_header) : write_through(log, bytes, length, offset, is_header);
}

/// Reads held-back bytes from the buffer, the rest from the file.
static int read_both(const mc_coalescing_log *log, unsigned char *bytes, int length, sqlite3_int64 offset)
{
    const sqlite3_int64 end = offset + length, held_end = log->start + log->length;
    const sqlite3_int64 from = offset > log->start ? offset : log->start, to = end < held_end ? end : held_end;
    if (from >= to)
        return log->real->pMethods->xRead(log->real, bytes, length, offset);
    memcpy(bytes + (from - offset), log->buffer + (from - log->start), (size_t)(to - from));
    int code = SQLITE_OK;
    if (offset < from)
        code = log->real->pMethods->xRead(log->real, bytes, (int)(from - offset), offset);
    if (code == SQLITE_OK && to < end)
        code = log->real->pMethods->xRead(log->real, bytes + (to - offset), (int)(end - to), to);
    return code;
}

/// Whether SQLite reads the checksum of the frame before the first one whose checksum it rewrites, which it does only after a commit frame.
/// If that is the first frame of all, SQLite reads the log's header.
static bool is_seed_of_checksums(const mc_coalescing_log *log, int length, sqlite3_int64 offset)
{
    return log->commit >= 0 && length == MC_FRAME_CHECKSUM_SIZE && offset >= MC_LOG_HEADER_SIZE;
}

static int log_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    mc_coalescing_log *log = as_log(file);
    if (log->lost >= 0 && offset + length > log->lost)
        return log->lost_code;
    if (is_seed_of_checksums(log, length, offset))
        return mc_log_checksums_complete(log->real, log->frame_size, offset - MC_FRAME_CHECKSUM, log->commit, bytes);
    return read_both(log, bytes, length, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    log->next = -1;
    return code != SQLITE_OK ? code : log->real->pMethods->xTruncate(log->real, size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    if (code != SQLITE_OK)
        return code;
    return log->lost >= 0 ? log->lost_code : log->real->pMethods->xSync(log->real, flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileSize(log->real, size);
}

static int log_control(sqlite3_file *file, int operation, void *argument)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xFileControl(log->real, operation, argument);
}

// SQLite locks the database, never its log; a caller that locks the log relies on the written bytes.
static int log_lock(sqlite3_file *file, int level)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    return code != SQLITE_OK ? code : log->real->pMethods->xLock(log->real, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    mc_coalescing_log *log = as_log(file);
    const int code = flush(log);
    const int unlocked = log->real->pMethods->xUnlock(log->real, level);
    return code != SQLITE_OK ? code : unlocked;
}

static int log_close(sqlite3_file *file)
{
    mc_coalescing_log *log = as_log(file);
    if (log->place != NULL)
        *log->place = NULL;
    mc_free(log->buffer);  // at most frames that were never committed
    return log->real->pMethods->xClose(log->real);
}

static int log_check_lock(sqlite3_file *file, int *is_reserved)
{
    sqlite3_file *const real = as_log(file)->real;
    return real->pMethods->xCheckReservedLock(real, is_reserved);
}

static int log_sector_size(sqlite3_file *file)
{
    sqlite3_file *const real = as_log(file)->real;
    return real->pMethods->xSectorSize(real);
}

static int log_characteristics(sqlite3_file *file)
{
    sqlite3_file *const real = as_log(file)->real;
    return real->pMethods->xDeviceCharacteristics(real);
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
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

void mc_coalescing_log_open(sqlite3_file *file, sqlite3_file *real, mc_coalescing_log **place)
{
    mc_coalescing_log *const log = as_log(file);
    *log = (mc_coalescing_log){.base.pMethods = &log_methods, .real = real, .place = place, .next = -1, .lost = -1, .commit = -1};
    if (place != NULL)
        *place = log;
}

void mc_coalescing_log_forget_database(mc_coalescing_log *log)
{
    log->place = NULL;
}
