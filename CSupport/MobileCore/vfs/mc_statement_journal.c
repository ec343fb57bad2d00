#include "vfs/mc_statement_journal.h"

#include <stdbool.h>
#include <string.h>

#include "base/mc_memory.h"

enum {
    SIZE_FIRST = 128 * 1024,
    SIZE_MAXIMUM = 512 * 1024,
    PIECE = 64 * 1024,  // below 128 KB, where the unix VFS cuts a single write short
};

typedef struct statement_journal {
    sqlite3_file base;
    sqlite3_vfs *below;
    sqlite3_file *real;    // opened when the content has left the memory
    unsigned char *bytes;  // NULL before the first write, and after the content has moved to a file
    sqlite3_int64 size, capacity;
    int flags;
} statement_journal;

_Static_assert(sizeof(statement_journal) <= MC_STATEMENT_JOURNAL_SIZE, "room for the wrapper of the journal");

static statement_journal *as_journal(sqlite3_file *file)
{
    return (statement_journal *)file;
}

static bool is_in_file(const statement_journal *journal)
{
    return journal->real->pMethods != NULL;
}

/// Makes room for `size` bytes in memory; false beyond the limit, and without memory.
static bool make_room(statement_journal *journal, sqlite3_int64 size)
{
    sqlite3_int64 capacity = journal->capacity > 0 ? journal->capacity : SIZE_FIRST;
    while (capacity < size)
        capacity *= 2;
    if (capacity == journal->capacity)
        return true;
    unsigned char *const bytes = capacity <= SIZE_MAXIMUM ? mc_reallocate(journal->bytes, (size_t)capacity, 1) : NULL;
    if (bytes == NULL)
        return false;
    journal->bytes = bytes;
    journal->capacity = capacity;
    return true;
}

/// Moves the content to a file of the base.
static int move_to_file(statement_journal *journal)
{
    sqlite3_file *const real = journal->real;
    int code = journal->below->xOpen(journal->below, NULL, real, journal->flags, NULL);
    for (sqlite3_int64 at = 0; at < journal->size && code == SQLITE_OK; at += PIECE) {
        const sqlite3_int64 rest = journal->size - at;
        code = real->pMethods->xWrite(real, journal->bytes + at, (int)(rest < PIECE ? rest : PIECE), at);
    }
    if (code != SQLITE_OK) {
        if (real->pMethods != NULL)
            (void)real->pMethods->xClose(real);
        real->pMethods = NULL;  // the content is still complete in memory
        return code;
    }
    mc_free(journal->bytes);
    journal->bytes = NULL;
    journal->capacity = 0;
    return SQLITE_OK;
}

static int journal_write(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    statement_journal *const journal = as_journal(file);
    if (!is_in_file(journal) && !make_room(journal, offset + length)) {
        const int code = move_to_file(journal);
        if (code != SQLITE_OK)
            return code;
    }
    if (is_in_file(journal))
        return journal->real->pMethods->xWrite(journal->real, bytes, length, offset);
    if (offset > journal->size)
        memset(journal->bytes + journal->size, 0, (size_t)(offset - journal->size));
    memcpy(journal->bytes + offset, bytes, (size_t)length);
    if (offset + length > journal->size)
        journal->size = offset + length;
    return SQLITE_OK;
}

static int journal_read(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    const statement_journal *const journal = as_journal(file);
    if (is_in_file(journal))
        return journal->real->pMethods->xRead(journal->real, bytes, length, offset);
    const sqlite3_int64 there = offset < journal->size ? journal->size - offset : 0;
    const size_t part = (size_t)(there < length ? there : length);
    if (part > 0)
        memcpy(bytes, journal->bytes + offset, part);
    memset((unsigned char *)bytes + part, 0, (size_t)length - part);
    return part == (size_t)length ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int journal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    statement_journal *const journal = as_journal(file);
    if (is_in_file(journal))
        return journal->real->pMethods->xTruncate(journal->real, size);
    if (size < journal->size)
        journal->size = size;
    return SQLITE_OK;
}

static int journal_size(sqlite3_file *file, sqlite3_int64 *size)
{
    const statement_journal *const journal = as_journal(file);
    if (is_in_file(journal))
        return journal->real->pMethods->xFileSize(journal->real, size);
    *size = journal->size;
    return SQLITE_OK;
}

static int journal_close(sqlite3_file *file)
{
    statement_journal *const journal = as_journal(file);
    mc_free(journal->bytes);
    journal->bytes = NULL;
    return is_in_file(journal) ? journal->real->pMethods->xClose(journal->real) : SQLITE_OK;
}

// No other process has the file, and it does not outlive the process: locks and syncs are not needed.
static int do_nothing(sqlite3_file *file, int argument)
{
    (void)file;
    (void)argument;
    return SQLITE_OK;
}

static int journal_check_lock(sqlite3_file *file, int *is_reserved)
{
    (void)file;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int journal_control(sqlite3_file *file, int operation, void *argument)
{
    const statement_journal *const journal = as_journal(file);
    return is_in_file(journal) ? journal->real->pMethods->xFileControl(journal->real, operation, argument) : SQLITE_NOTFOUND;
}

static int journal_property(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods journal_methods = {
    .iVersion = 1,
    .xClose = journal_close,
    .xRead = journal_read,
    .xWrite = journal_write,
    .xTruncate = journal_truncate,
    .xSync = do_nothing,
    .xFileSize = journal_size,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = journal_check_lock,
    .xFileControl = journal_control,
    .xSectorSize = journal_property,
    .xDeviceCharacteristics = journal_property,
};

int mc_statement_journal_open(sqlite3_vfs *base, sqlite3_file *file, int flags, int *out_flags)
{
    statement_journal *const journal = as_journal(file);
    sqlite3_file *const real = (sqlite3_file *)((char *)file + MC_STATEMENT_JOURNAL_SIZE);
    real->pMethods = NULL;
    *journal = (statement_journal){.base.pMethods = &journal_methods, .below = base, .real = real, .flags = flags};
    if (out_flags != NULL)
        *out_flags = flags;
    return SQLITE_OK;
}
