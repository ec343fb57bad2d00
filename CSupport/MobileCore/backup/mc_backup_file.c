/// mc_backup_file.c: the file of a backup: made under another name, locked, written to the disk, renamed.
#if !defined(__APPLE__)
#define _DEFAULT_SOURCE  // for flock and fsync, which standard C does not have
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/mc_backup_file.h"
#include "base/mc_memory.h"
#include "pool/mc_pool_internal.h"

static mc_status fail_file(mc_error *error, const char *what, const char *path)
{
    const int code = errno;
    const mc_status status = code == ENOENT ? MC_ERROR_NOT_FOUND : code == ENOSPC || code == EDQUOT ? MC_ERROR_FULL : MC_ERROR_IO;
    return mc_fail(error, status, "backup: %s \"%s\": %s", what, path, code == ENOENT ? "its folder does not exist" : strerror(code));
}

/// Refuses a database in use under the name of the copy: its log would be applied to the copy, and its connections would lose their file.
static mc_status check_place(const mc_pool *pool, const char *path, mc_error *error)
{
    static const char *const suffixes[] = {"-wal", "-journal"};
    struct stat status;
    if (path[0] == '\0')
        return mc_fail(error, MC_ERROR_MISUSE, "backup: its path is empty; name a file");
    if (stat(path, &status) == 0) {
        if (pool->knows_file && (uint64_t)status.st_dev == pool->device && (uint64_t)status.st_ino == pool->inode)
            return mc_fail(error, MC_ERROR_MISUSE, "backup to \"%s\": this is the database itself; choose another path", path);
        if (S_ISDIR(status.st_mode))
            return mc_fail(error, MC_ERROR_MISUSE, "backup to \"%s\": this is a folder; give the path of a file", path);
    }
    for (size_t index = 0; index < sizeof suffixes / sizeof suffixes[0]; index++) {
        char *const other = sqlite3_mprintf("%s%s", path, suffixes[index]);
        if (other == NULL)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a backup");
        const bool exists = stat(other, &status) == 0;
        sqlite3_free(other);
        if (exists)
            return mc_fail(error, MC_ERROR_MISUSE,
                           "backup to \"%s\": a database of this name is in use or was not closed, as \"%s%s\" shows; choose another path",
                           path, path, suffixes[index]);
    }
    return MC_OK;
}

/// Makes and locks the part. The file that was locked may have got its final name meanwhile: it is then no longer the part.
static mc_status take_part(mc_backup_file *file, mc_error *error)
{
    for (;;) {
        struct stat opened, named;
        file->descriptor = open(file->part, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file->descriptor < 0)
            return fail_file(error, "create", file->part);
        if (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0) {
            (void)close(file->descriptor);
            file->descriptor = -1;
            return mc_fail(error, MC_ERROR_MISUSE,
                           "backup to \"%s\": another backup is writing to it; wait for its end, or choose another path", file->path);
        }
        if (fstat(file->descriptor, &opened) == 0 && stat(file->part, &named) == 0 && opened.st_dev == named.st_dev
            && opened.st_ino == named.st_ino)
            break;
        (void)close(file->descriptor);
    }
    // A process that was killed may have left a part.
    return ftruncate(file->descriptor, 0) == 0 ? MC_OK : fail_file(error, "empty", file->part);
}

/// Opens the database of the copy. It needs no journal and no waits for the disk: until it has its name, it is removed after a failure.
static mc_status open_database(mc_backup_file *file, const mc_pool *pool, mc_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
    char *const uri = mc_uri_write(file->part, false, pool->options.in_memory ? NULL : pool->parameters);
    int code = SQLITE_NOMEM;
    if (uri != NULL)
        code = sqlite3_open_v2(uri, &file->db, flags, pool->options.in_memory ? NULL : pool->vfs);
    sqlite3_free(uri);
    if (code == SQLITE_OK)
        code = sqlite3_exec(file->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    return code == SQLITE_OK ? MC_OK : mc_fail_sqlite(error, file->db, code, "backup: open \"%s\"", file->part);
}

mc_status mc_backup_file_open(mc_backup_file *file, const mc_pool *pool, const char *path, mc_error *error)
{
    struct stat source;
    *file = (mc_backup_file){.path = path, .descriptor = -1};
    mc_status status = check_place(pool, path, error);
    if (status != MC_OK)
        return status;
    file->part = sqlite3_mprintf("%s.part", path);
    if (file->part == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a backup");
    status = take_part(file, error);
    if (status == MC_OK && pool->knows_file && stat(pool->path, &source) == 0 && fchmod(file->descriptor, source.st_mode & 0777) != 0)
        status = fail_file(error, "set the permissions of", file->part);
    return status == MC_OK ? open_database(file, pool, error) : status;
}

/// Writes the name of a file to the disk.
static mc_status sync_folder(const char *path, mc_error *error)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = slash == NULL ? mc_copy_text(".") : sqlite3_mprintf("%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (folder == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for a backup");
    mc_status status = MC_OK;
    const int descriptor = open(folder, O_RDONLY | O_CLOEXEC);
    // Some file systems do not write folders on request; they write them in order.
    if (descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL))
        status = fail_file(error, "write to the disk", folder);
    if (descriptor >= 0)
        (void)close(descriptor);
    mc_free(folder);
    return status;
}

mc_status mc_backup_file_close(mc_backup_file *file, mc_status status, mc_error *error)
{
    const int code = sqlite3_close(file->db);
    if (status == MC_OK && code != SQLITE_OK)
        status = mc_fail_sqlite(error, NULL, code, "backup: close \"%s\"", file->part);
    if (status == MC_OK && fsync(file->descriptor) != 0)
        status = fail_file(error, "write to the disk", file->part);
    const bool is_complete = status == MC_OK;
    if (is_complete && rename(file->part, file->path) != 0)
        status = fail_file(error, "replace", file->path);
    if (status != MC_OK && file->descriptor >= 0)
        (void)unlink(file->part);
    if (file->descriptor >= 0)
        (void)close(file->descriptor);  // also ends the lock
    mc_free(file->part);
    return status == MC_OK ? sync_folder(file->path, error) : status;
}
