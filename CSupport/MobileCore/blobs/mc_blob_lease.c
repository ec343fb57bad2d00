/// mc_blob_lease.c: locks of the file beside the database.
#include "blobs/mc_blob_lease.h"

/// Whoever looks for leftovers holds the exclusive lock for one small update.
enum { TIMEOUT_MS = 10000 };

/// A lease is the connection that holds the lock.
static sqlite3 *connection_of(mc_blob_lease *lease)
{
    return (sqlite3 *)(void *)lease;
}

void mc_blob_lease_end(mc_blob_lease *lease)
{
    (void)sqlite3_close(connection_of(lease));
}

/// SQLite's result is `*code` as well.
static mc_status lock_lease(mc_pool *pool, const char *lock, int timeout_ms, mc_blob_lease **out, int *code, mc_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    sqlite3 *db = NULL;
    mc_status status = MC_OK;
    *out = NULL;
    *code = SQLITE_NOMEM;
    char *path = sqlite3_mprintf("%s-lease", mc_pool_path(pool));
    if (path == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the lease of large values");
    *code = sqlite3_open_v2(path, &db, flags, mc_pool_vfs(pool));
    if (*code == SQLITE_OK)
        *code = sqlite3_busy_timeout(db, timeout_ms);
    if (*code == SQLITE_OK)
        *code = sqlite3_exec(db, lock, NULL, NULL, NULL);
    if (*code == SQLITE_OK) {
        *out = (mc_blob_lease *)(void *)db;
    } else {
        status = mc_fail_sqlite(error, db, *code, "lock \"%s\"", path);
        (void)sqlite3_close(db);
    }
    sqlite3_free(path);
    return status;
}

mc_status mc_blob_lease_take(mc_pool *pool, mc_blob_lease **out, mc_error *error)
{
    int code;
    // A read in a transaction keeps SQLite's shared lock until the transaction ends.
    return lock_lease(pool, "BEGIN; SELECT 1 FROM sqlite_schema", TIMEOUT_MS, out, &code, error);
}

mc_status mc_blob_lease_try_alone(mc_pool *pool, mc_blob_lease **out, mc_error *error)
{
    int code;
    mc_error failure;
    const mc_status status = lock_lease(pool, "BEGIN EXCLUSIVE", 0, out, &code, &failure);
    if (status == MC_OK || (code & 0xFF) == SQLITE_BUSY)
        return MC_OK;
    if (error != NULL)
        *error = failure;
    return status;
}
