/// mc_blob_lease.h: tells the values that somebody is writing from those that a killed process left unfinished.
///
/// Beside the database `NAME` lies the empty file `NAME-lease`. Who has committed a part of an unfinished value holds a shared
/// lock on it; the lock goes with the process, however that ends. Where it can be locked exclusively nobody is writing, so every
/// unfinished value is a leftover. The locks are SQLite's own, so that they hold between pools of one process as well as between
/// processes, on every system and storage that SQLite locks databases on.
#ifndef MC_BLOB_LEASE_H
#define MC_BLOB_LEASE_H

#include "blobs/mc_blob_internal.h"

typedef struct mc_blob_lease mc_blob_lease;

/// Takes a shared lock, for as long as the lease lives. On success `*out` goes to `mc_blob_lease_end`; on failure it is NULL.
/// Fails with MC_ERROR_TIMEOUT (somebody looks for leftovers all the time), MC_ERROR_NO_MEMORY, and what opening a file fails with.
mc_status mc_blob_lease_take(mc_pool *pool, mc_blob_lease **out, mc_error *error);

/// Tries to lock exclusively, without waiting. `*out` is NULL where somebody holds a lease, this pool included; else it goes to
/// `mc_blob_lease_end`. Fails as taking does.
mc_status mc_blob_lease_try_alone(mc_pool *pool, mc_blob_lease **out, mc_error *error);

/// Ends the lock. NULL is allowed.
void mc_blob_lease_end(mc_blob_lease *lease);

#endif
