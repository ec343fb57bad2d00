#include "vfs/mc_coalescing_file.h"

#include <stdbool.h>
#include <stddef.h>

#include "vfs/mc_statement_journal.h"

enum { LOCK_WRITE = 0 };  // SQLite's WAL_WRITE_LOCK, the first of the shared-memory locks

typedef struct database_file {
    sqlite3_file base;
    sqlite3_file *real;
    const sqlite3_vfs *vfs_below;  // distinguishes this layer's files from those of the same layer further up
    mc_coalescing_log *log;        // the open log of this connection; NULL if it has none
} database_file;

_Static_assert((int)MC_STATEMENT_JOURNAL_SIZE <= (int)MC_COALESCING_FILE_SIZE, "room for the wrapper of a statement's journal");
_Static_assert(sizeof(database_file) <= MC_COALESCING_FILE_SIZE, "room for the wrapper of the database");

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((database_file *)file)->real;
}

static int database_close(sqlite3_file *file)
{
    database_file *database = (database_file *)file;
    if (database->log != NULL)
        mc_coalescing_log_forget_database(database->log);
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
    // The write lock, released or taken, separates transactions: bytes that are still held back belong to one that was rolled back.
    const bool is_write_lock = first == LOCK_WRITE && (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    if (is_write_lock && database->log != NULL)
        mc_coalescing_log_separate(database->log, false);
    const int code = database->real->pMethods->xShmLock(database->real, first, count, flags);
    if (is_write_lock && database->log != NULL && code == SQLITE_OK && (flags & SQLITE_SHM_LOCK) != 0)
        mc_coalescing_log_separate(database->log, true);
    return code;
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

// A base of version 2 has shared memory but no mapping of pages.
#define DATABASE_METHODS                                                                                                                   \
    .xClose = database_close, .xRead = pass_read, .xWrite = pass_write, .xTruncate = pass_truncate, .xSync = pass_sync,                    \
    .xFileSize = pass_size, .xLock = pass_lock, .xUnlock = pass_unlock, .xCheckReservedLock = pass_check_lock,                             \
    .xFileControl = pass_control, .xSectorSize = pass_sector_size, .xDeviceCharacteristics = pass_characteristics,                         \
    .xShmMap = pass_shm_map, .xShmLock = database_shm_lock, .xShmBarrier = pass_shm_barrier, .xShmUnmap = pass_shm_unmap

static const sqlite3_io_methods database_methods = {.iVersion = 2, DATABASE_METHODS};
static const sqlite3_io_methods mapping_database_methods = {
    .iVersion = 3, DATABASE_METHODS, .xFetch = pass_fetch, .xUnfetch = pass_unfetch};

// ---- Opening -------------------------------------------------------------------------------------------------------------

/// The database that a log belongs to, if this layer is the topmost one and opened it; NULL otherwise.
static database_file *database_of_log(const sqlite3_vfs *vfs_below, const char *log_name)
{
    sqlite3_file *file = log_name != NULL ? sqlite3_database_file_object(log_name) : NULL;
    const bool is_ours = file != NULL && (file->pMethods == &database_methods || file->pMethods == &mapping_database_methods);
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
        // SQLite closes a file whose open failed if it has methods; this file has none, so the base's is closed here.
        if (real->pMethods != NULL)
            (void)real->pMethods->xClose(real);
        return code;
    }
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) {
        // Without shared memory the end of a transaction is not seen: no frame can be held back safely.
        if (real->pMethods->iVersion < 2 || real->pMethods->xShmMap == NULL) {
            (void)real->pMethods->xClose(real);
            return base->xOpen(base, name, file, flags, out_flags);
        }
        database_file *database = (database_file *)file;
        const bool maps = real->pMethods->iVersion >= 3;
        *database = (database_file){.base.pMethods = maps ? &mapping_database_methods : &database_methods, .real = real, .vfs_below = base};
        return SQLITE_OK;
    }
    database_file *database = database_of_log(base, name);
    mc_coalescing_log_open(file, real, database != NULL ? &database->log : NULL);
    return SQLITE_OK;
}
