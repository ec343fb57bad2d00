/// mc_blob_lease.c: locks of the file next to the database, on one connection per pool.
///
///     free --take--> shared --end of the last--> free
///       +--begin_alone--> alone --end_alone--> free, or shared if a value of this pool holds the lease
///       shared --begin_alone--> alone        by way of free: any other pool that tries to be alone waits for our transaction
#include "blobs/mc_blob_lease.h"

#include "base/mc_fail.h"
#include "pool/mc_pool_internal.h"

/// A search for values of killed processes holds the exclusive lock for one pass over some columns.
enum { TIMEOUT_MS = 10000 };

static mc_lease *lease_of(const mc_pool *pool)
{
    return &mc_blob_pool_of(pool)->lease;
}

static mc_status fail(const mc_pool *pool, int code, mc_error *error)
{
    return mc_fail_sqlite(error, lease_of(pool)->db, code, "lock \"%s-lease\"", pool->path);
}

/// With the lease locked: opens the file.
static mc_status open_file(mc_pool *pool, mc_error *error)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    mc_lease *const lease = lease_of(pool);
    if (lease->db != NULL)
        return MC_OK;
    char *const path = sqlite3_mprintf("%s-lease", pool->path);
    if (path == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "no memory for the lease of large values");
    const int code = sqlite3_open_v2(path, &lease->db, flags, pool->vfs);
    sqlite3_free(path);
    if (code == SQLITE_OK)
        return MC_OK;
    const mc_status status = fail(pool, code, error);
    (void)sqlite3_close(lease->db);
    lease->db = NULL;
    return status;
}

static int run(mc_lease *lease, const char *sql, int timeout_ms)
{
    (void)sqlite3_busy_timeout(lease->db, timeout_ms);
    return sqlite3_exec(lease->db, sql, NULL, NULL, NULL);
}

static void unlock(mc_lease *lease)
{
    if (sqlite3_get_autocommit(lease->db) == 0)
        (void)run(lease, "ROLLBACK", 0);
    lease->is_locked = lease->is_alone = false;
}

/// With the lease locked: takes SQLite's shared lock.
static mc_status lock_shared(mc_pool *pool, mc_error *error)
{
    mc_lease *const lease = lease_of(pool);
    // A read in a transaction keeps the lock until the transaction ends.
    const int code = run(lease, "BEGIN; SELECT 1 FROM sqlite_schema", TIMEOUT_MS);
    lease->is_locked = code == SQLITE_OK;
    if (lease->is_locked)
        return MC_OK;
    const mc_status status = fail(pool, code, error);
    unlock(lease);
    return status;
}

mc_status mc_blob_lease_take(mc_pool *pool, mc_error *error)
{
    mc_lease *const lease = lease_of(pool);
    mc_status status = MC_OK;
    (void)pthread_mutex_lock(&lease->mutex);
    if (!lease->is_locked && !lease->is_alone) {
        status = open_file(pool, error);
        if (status == MC_OK)
            status = lock_shared(pool, error);
    }
    if (status == MC_OK)
        lease->holders++;
    (void)pthread_mutex_unlock(&lease->mutex);
    return status;
}

void mc_blob_lease_end(mc_pool *pool)
{
    mc_lease *const lease = lease_of(pool);
    (void)pthread_mutex_lock(&lease->mutex);
    if (--lease->holders == 0 && lease->is_locked)
        unlock(lease);
    (void)pthread_mutex_unlock(&lease->mutex);
}

bool mc_blob_lease_is_held(mc_pool *pool)
{
    mc_lease *const lease = lease_of(pool);
    (void)pthread_mutex_lock(&lease->mutex);
    const bool is_held = lease->holders > 0;
    (void)pthread_mutex_unlock(&lease->mutex);
    return is_held;
}

mc_status mc_blob_lease_begin_alone(mc_pool *pool, bool *alone, mc_error *error)
{
    mc_lease *const lease = lease_of(pool);
    *alone = false;
    (void)pthread_mutex_lock(&lease->mutex);
    mc_status status = open_file(pool, error);
    if (status == MC_OK) {
        const bool was_locked = lease->is_locked;
        unlock(lease);
        const int code = run(lease, "BEGIN EXCLUSIVE", 0);
        *alone = lease->is_alone = code == SQLITE_OK;
        if (code != SQLITE_OK && (code & 0xFF) != SQLITE_BUSY)
            status = fail(pool, code, error);
        if (!*alone && was_locked) {
            const mc_status relocked = lock_shared(pool, status == MC_OK ? error : NULL);
            status = status == MC_OK ? relocked : status;
        }
    }
    (void)pthread_mutex_unlock(&lease->mutex);
    return status;
}

mc_status mc_blob_lease_end_alone(mc_pool *pool, mc_error *error)
{
    mc_lease *const lease = lease_of(pool);
    (void)pthread_mutex_lock(&lease->mutex);
    unlock(lease);
    const mc_status status = lease->holders > 0 ? lock_shared(pool, error) : MC_OK;
    (void)pthread_mutex_unlock(&lease->mutex);
    return status;
}

void mc_blob_lease_close(mc_lease *lease)
{
    (void)pthread_mutex_lock(&lease->mutex);
    (void)sqlite3_close(lease->db);
    lease->db = NULL;
    lease->is_locked = false;
    (void)pthread_mutex_unlock(&lease->mutex);
}
