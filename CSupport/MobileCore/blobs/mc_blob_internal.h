/// mc_blob_internal.h: the declarations shared by the files of large values.
#ifndef MC_BLOB_INTERNAL_H
#define MC_BLOB_INTERNAL_H

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "base/mc_fail.h"
#include "mc_blob.h"

/// The number of low bits of a chunk's key that hold the chunk's number; the value's id is above them.
enum { MC_CHUNK_BITS = 24 };
#define MC_CHUNKS_MAXIMUM (INT64_C(1) << MC_CHUNK_BITS)
#define MC_VALUES_MAXIMUM (INT64_C(1) << (62 - MC_CHUNK_BITS))

static inline int64_t mc_chunk_key(int64_t value, int64_t number)
{
    return (int64_t)((uint64_t)value << MC_CHUNK_BITS) | number;
}

/// A short transaction of the writer; on a thread that holds the writer, a savepoint of its transaction.
typedef struct mc_short_write {
    mc_pool *pool;
    mc_connection *connection;
    bool is_part;
    bool postpones_checkpoint;
} mc_short_write;

mc_status mc_short_write_begin(mc_pool *pool, const char *label, int64_t timeout_ns, mc_short_write *write, mc_error *error);

/// Lets the log grow to about 16 MB before the commit makes a checkpoint, if the pool's setting is less.
void mc_short_write_postpone_checkpoint(mc_short_write *write);

/// Commits if `status` is MC_OK, otherwise rolls back; returns the connection to the pool. Returns `status`, or the error of the commit.
mc_status mc_short_write_end(mc_short_write *write, mc_status status, mc_error *error);

/// Runs a cached statement with up to four integers.
mc_status mc_blob_run(mc_connection *connection, const char *sql, const int64_t *values, int count, int64_t *changes, mc_error *error);

/// Finds the first column of the first row; `*found` is false without a row.
mc_status mc_blob_find(mc_connection *connection, const char *sql, const int64_t *values, int count, int64_t *result, bool *found,
                       mc_error *error);

/// Runs `sweep` while no other pool has unsaved values, in the writer's transaction or in one of its own. If another pool has some, it
/// returns without a sweep: a later one does the work.
mc_status mc_blob_sweep(mc_connection *connection, mc_status (*sweep)(mc_connection *connection, void *context, mc_error *error),
                        void *context, mc_error *error);

// ---- Writing, in the caller's transaction: insert, any number of chunks, complete ---------------------------------------------

/// Makes an unfinished value, with an id that no other value has had. `owner` distinguishes it from a value of another process that got the
/// same id after this one was rolled back; 0: none. Fails with MC_ERROR_LIMIT (no ids are left), and as writing does.
mc_status mc_blob_insert_value(mc_connection *connection, mc_blob_unit unit, size_t chunk_size, int64_t owner, int64_t *value,
                               mc_error *error);

/// One chunk, whose bytes are borrowed. Every chunk of a value except the last one has the value's chunk size.
typedef struct mc_blob_chunk {
    int64_t value;
    mc_blob_unit unit;
    int64_t number;
    int64_t start;         ///< the number of scalars before it; ignored for bytes
    const uint8_t *bytes;  ///< never NULL
    size_t length;
    bool replaces;  ///< it has been stored before, with fewer bytes
} mc_blob_chunk;

/// Stores a chunk. Fails with MC_ERROR_LIMIT (2^24 chunks), and as writing does.
mc_status mc_blob_store_chunk(mc_connection *connection, const mc_blob_chunk *chunk, mc_error *error);

/// Makes a value readable after the commit.
mc_status mc_blob_complete_value(mc_connection *connection, int64_t value, int64_t units, int64_t bytes, mc_error *error);

/// Marks a value as dropped. Its chunks stay until the collection removes them.
mc_status mc_blob_drop_one(mc_connection *connection, int64_t value, mc_error *error);

/// Marks the unfinished value of an owner as dropped, if it is still there.
mc_status mc_blob_drop_unfinished(mc_connection *connection, int64_t value, int64_t owner, mc_error *error);

#endif
