/// mc_file.c: opens the file of a pool, and finds the reason where SQLite only says that it cannot.
#if !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L  // for faccessat, which standard C does not have
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pool/mc_pool_internal.h"

/// The folder that a path leads to: whether it is there, and whether files can be made in it.
static void look_at_folder(const char *path, bool *exists, bool *forbids)
{
    *exists = true;
    *forbids = false;
    char folder[4096] = ".";
    const char *const end = strrchr(path, '/');
    if (end != NULL) {
        const size_t length = end == path ? 1 : (size_t)(end - path);
        if (length >= sizeof folder)
            return;
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0)
        return;
    *exists = errno != ENOENT;
    *forbids = errno == EACCES || errno == EROFS;
}

/// Reports a file that cannot be opened. SQLite only says that it is unable to; the file system knows why.
/// @param must_exist  whether the file may not be created
static mc_status fail_to_open(const char *path, bool must_exist, int sqlite_code, sqlite3 *db, mc_error *error)
{
    mc_status result = must_exist ? MC_ERROR_NOT_FOUND : MC_ERROR_SQLITE;
    const char *reason = NULL;
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    bool has_folder = true, is_forbidden = false;
    look_at_folder(path, &has_folder, &is_forbidden);
    if (exists && S_ISDIR(status.st_mode)) {
        result = MC_ERROR_NOT_FOUND;
        reason = "it is a folder; give the path of a file";
    } else if (!has_folder) {
        result = MC_ERROR_NOT_FOUND;
        reason = "its folder does not exist; create the folder, or correct the path";
    } else if (!exists && must_exist) {
        reason = "the file does not exist";
    } else if (exists && faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0 && errno == EACCES) {
        result = MC_ERROR_IO;
        reason = "the user of this process may not read and write it";
    } else if (!exists && is_forbidden) {
        result = MC_ERROR_IO;
        reason = "the user of this process may not create files in its folder";
    }
    if (reason == NULL)
        (void)mc_fail_sqlite(error, db, sqlite_code, "open \"%s\"", path);
    else
        (void)mc_fail(error, result, "open \"%s\": %s", path, reason);
    if (error != NULL) {
        error->code = result;
        error->sqlite_code = sqlite_code;
    }
    return result;
}

/// Opens a file by its URI, where its path alone does not say how.
static int open_uri(mc_connection *connection, int flags, const char *vfs)
{
    const mc_pool *const pool = connection->pool;
    char *const uri = mc_uri_write(pool->path, pool->options.immutable, pool->parameters);
    const int code = uri != NULL ? sqlite3_open_v2(uri, &connection->db, flags | SQLITE_OPEN_URI, vfs) : SQLITE_NOMEM;
    sqlite3_free(uri);
    return code;
}

/// Whether SQLite has to be given a URI. Some systems' libraries take each path that begins with "file:" for one.
static bool needs_uri(const mc_pool *pool)
{
    return pool->options.immutable || pool->parameters != NULL || strncmp(pool->path, "file:", 5) == 0;
}

void mc_file_note(mc_pool *pool)
{
    struct stat status;
    pool->knows_file = !pool->options.in_memory && stat(pool->path, &status) == 0;
    if (!pool->knows_file)
        return;
    pool->device = (uint64_t)status.st_dev;
    pool->inode = (uint64_t)status.st_ino;
}

mc_status mc_file_fail_moved(const mc_pool *pool, mc_error *error)
{
    const mc_status status =
        mc_fail(error, MC_ERROR_IO, "\"%s\" has been deleted, moved or replaced while it was open: close the database, and open it again",
                pool->path);
    if (error != NULL)
        error->sqlite_code = SQLITE_READONLY_DBMOVED;
    return status;
}

/// Refuses a file that is not the one of the pool's other connections, and an immutable one whose log has content, which SQLite would
/// ignore.
static mc_status check_file(const mc_connection *connection, mc_error *error)
{
    const mc_pool *const pool = connection->pool;
    const char *const file = sqlite3_db_filename(connection->db, "main");
    struct stat status;
    if (pool->knows_file
        && (stat(pool->path, &status) != 0 || (uint64_t)status.st_dev != pool->device || (uint64_t)status.st_ino != pool->inode))
        return mc_file_fail_moved(pool, error);
    if (!pool->options.immutable || file == NULL || stat(sqlite3_filename_wal(file), &status) != 0 || status.st_size == 0)
        return MC_OK;
    return mc_fail(error, MC_ERROR_MISUSE,
                   "open \"%s\" as immutable: its write-ahead log has changes; open it once for writing, which copies them", pool->path);
}

mc_status mc_file_open(mc_connection *connection, mc_error *error)
{
    const mc_pool *pool = connection->pool;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (!pool->options.read_only)
        flags |= SQLITE_OPEN_READWRITE | (connection->is_writer && pool->options.creates_file ? SQLITE_OPEN_CREATE : 0);
    else
        flags |= SQLITE_OPEN_READONLY;
    const char *const vfs = connection->is_writer ? pool->writer_vfs : pool->vfs;
    const int code = needs_uri(pool) ? open_uri(connection, flags, vfs) : sqlite3_open_v2(pool->path, &connection->db, flags, vfs);
    // SQLite opens a file that may not be written for reading, and complains at the first write.
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_READWRITE) && sqlite3_db_readonly(connection->db, "main") == 1) {
        const mc_status status = mc_fail(error, MC_ERROR_IO, "open \"%s\": the user of this process may only read it", pool->path);
        if (error != NULL)
            error->sqlite_code = SQLITE_READONLY;
        return status;
    }
    if (code == SQLITE_OK)
        return check_file(connection, error);
    if ((code & 0xFF) == SQLITE_CANTOPEN && pool->options.in_memory)
        return mc_fail(error, MC_ERROR_NOT_FOUND, "open \"%s\": this process has no database in memory of this name", pool->path);
    if ((code & 0xFF) == SQLITE_CANTOPEN)
        return fail_to_open(pool->path, !(flags & SQLITE_OPEN_CREATE), code, connection->db, error);
    return mc_fail_sqlite(error, connection->db, code, "open \"%s\"", pool->path);
}

mc_status mc_file_probe(mc_connection *connection, mc_error *error)
{
    const char *const path = connection->pool->path;
    const int code = sqlite3_exec(connection->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        return MC_OK;
    bool has_folder, is_forbidden;
    look_at_folder(path, &has_folder, &is_forbidden);
    const bool has_failed_to_make = (code & 0xFF) == SQLITE_READONLY || (code & 0xFF) == SQLITE_CANTOPEN;
    if (!connection->pool->options.read_only || !is_forbidden || !has_failed_to_make)
        return mc_fail_sqlite(error, connection->db, code, "open \"%s\"", path);
    const mc_status status =
        mc_fail(error, MC_ERROR_IO,
                "open \"%s\": it has a write-ahead log, and the user of this process may not create the log's files in its "
                "folder; allow that, or open it as immutable if no process changes it meanwhile",
                path);
    if (error != NULL)
        error->sqlite_code = code;
    return status;
}
