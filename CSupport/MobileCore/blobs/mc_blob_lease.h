/// mc_blob_lease.h: distinguishes values that a pool still uses from the values of killed processes. Internal.
///
/// The empty file `NAME-lease` is next to the database `NAME`. A pool holds a shared lock on it as long as one of its values is
/// unfinished, or finished and pinned because no row may refer to it yet; the lock ends with the process, in any case. If the file
/// can be locked exclusively, no other pool has such values. The locks are SQLite's own, so they work between pools of one process as
/// well as between processes, on every system and storage on which SQLite locks databases.
///
/// A search for values of killed processes takes place in a transaction of the writer. So only one pool at a time tries to be alone,
/// and no pool finishes or saves a value meanwhile.
/// Threads: any.
#ifndef MC_BLOB_LEASE_H
#define MC_BLOB_LEASE_H

#include "blobs/mc_blob_pool.h"

/// Takes the lease, or another hold on it. Each success requires one call of the end function.
/// Fails with MC_ERROR_TIMEOUT (another pool is alone for the whole wait), MC_ERROR_NO_MEMORY, and as opening a file does.
mc_status mc_blob_lease_take(mc_pool *pool, mc_error *error);
void mc_blob_lease_end(mc_pool *pool);

/// Whether this pool holds it.
bool mc_blob_lease_is_held(mc_pool *pool);

/// Tries to lock out all other pools, without waiting; in a transaction of the writer. `*alone` is false if one of them holds the lease;
/// otherwise the end function must be called, which fails if this pool cannot take its own lease again. Fails as taking does.
mc_status mc_blob_lease_begin_alone(mc_pool *pool, bool *alone, mc_error *error);
mc_status mc_blob_lease_end_alone(mc_pool *pool, mc_error *error);

/// Ends all locks when the pool is closed.
void mc_blob_lease_close(mc_lease *lease);

#endif
