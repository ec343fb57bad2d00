/// mc_blob_lease.h: tells values that somebody has in hand from those that a killed process left behind. Internal.
///
/// Beside the database `NAME` lies the empty file `NAME-lease`. A pool holds a shared lock on it as long as one of its values is
/// unfinished, or finished and pinned because no row may refer to it yet; the lock goes with the process, however that ends. Where the file
/// can be locked exclusively no other pool has such values. The locks are SQLite's own, so that they hold between pools of one process as
/// well as between processes, on every system and storage that SQLite locks databases on.
///
/// Who looks for leftovers does so in a transaction of the writer: then only one pool at a time tries to be alone, and nobody
/// finishes or saves a value meanwhile.
/// Threads: any.
#ifndef MC_BLOB_LEASE_H
#define MC_BLOB_LEASE_H

#include "blobs/mc_blob_pool.h"

/// Holds the lease once more. Each success is followed by an end.
/// Fails with MC_ERROR_TIMEOUT (somebody looks for leftovers all the time), MC_ERROR_NO_MEMORY, and what opening a file fails with.
mc_status mc_blob_lease_take(mc_pool *pool, mc_error *error);
void mc_blob_lease_end(mc_pool *pool);

/// Whether this pool holds it.
bool mc_blob_lease_is_held(mc_pool *pool);

/// Tries to lock out all other pools, without waiting; in a transaction of the writer. `*alone` is false where one of them holds the lease;
/// else the end is due, which fails where this pool cannot hold its own lease again. Fails as taking does.
mc_status mc_blob_lease_begin_alone(mc_pool *pool, bool *alone, mc_error *error);
mc_status mc_blob_lease_end_alone(mc_pool *pool, mc_error *error);

/// Ends all of it when the pool is closed.
void mc_blob_lease_close(mc_lease *lease);

#endif
