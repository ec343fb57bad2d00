/// mc_blob.h: large values, which live outside of the rows that refer to them.
///
/// A value has an id, which a row holds, and its content in numbered chunks of equal size (the last may be shorter). The
/// chunk size is chosen so that a chunk fills whole pages of the database. A value is written once, to a new id, and never
/// changed; it can be read as soon as it is complete. So a reader of the old value and the writer of its successor never meet.
///
///     writing --finish--> complete --drop--> dropped --collect--> gone
///        +------ cancel, or the process died ----^
///
/// Tables (made by `mc_blob_prepare`):
///     _mc_value(id, unit, chunk, state, length, bytes)               one row per value
///     _mc_chunk(id = value << 24 | number, start, content)           start: Unicode scalars before the chunk; NULL for bytes
///
/// A pinned value is neither dropped by `mc_blob_drop_unreferenced` nor collected: readers pin what they read, a finished
/// writer pins its value until the row that shall refer to it has been written. Pins live in the pool, not in the file.
/// What another pool or process may drop is told by locks of the empty file "NAME-lease" beside the database NAME: as long as a pool has
/// values that are unfinished, or finished and pinned by their writer, no other one drops what it does not know.
#ifndef MC_BLOB_H
#define MC_BLOB_H

#include "mc_statement.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// What lengths and positions of a value count.
typedef enum mc_blob_unit {
    MC_BLOB_BYTES = 0,
    MC_BLOB_SCALARS = 1  ///< Unicode scalars of valid UTF-8
} mc_blob_unit;

/// Makes the tables where they are missing, and drops the values that a killed process left unfinished: all unfinished ones, when
/// no pool in any process is writing a value; as long as one is, they stay, and the next call looks again. `connection` is the
/// writer. Idempotent. Fails with what writing and opening files fail with.
MC_MUST_USE mc_status mc_blob_prepare(mc_connection *connection, mc_error *MC_NULLABLE error);

/// What is known of a value.
typedef struct mc_blob_description {
    mc_blob_unit unit;
    int64_t length;  ///< in its unit
    int64_t bytes;
    int64_t chunk_size;  ///< bytes
} mc_blob_description;

/// Looks a complete value up. Fails with MC_ERROR_NOT_FOUND, MC_ERROR_CORRUPT (the row contradicts itself), MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_blob_describe(mc_connection *connection, int64_t value, mc_blob_description *description,
                                       mc_error *MC_NULLABLE error);

/// Bytes of a chunk that fills whole pages of the database, about 64 KB or 4 pages, whichever is more.
size_t mc_blob_chunk_size(mc_connection *connection, mc_blob_unit unit);

/// Makes values unreadable, for good when the transaction commits. Values that do not exist are passed over.
MC_MUST_USE mc_status mc_blob_drop(mc_connection *connection, const int64_t *values, size_t count, mc_error *MC_NULLABLE error);

/// A column that holds ids of large values.
typedef struct mc_blob_reference {
    const char *table;
    const char *column;
} mc_blob_reference;

/// Drops every complete value that is not pinned and that no column refers to. `*dropped` (may be NULL) counts them: none as long as
/// another pool has values that are not saved yet, in any process; the next call looks again.
/// Costs one pass over the columns. `connection` is the writer.
MC_MUST_USE mc_status mc_blob_drop_unreferenced(mc_connection *connection, const mc_blob_reference *MC_NULLABLE references, size_t count,
                                                int64_t *MC_NULLABLE dropped, mc_error *MC_NULLABLE error);

/// Whether values were dropped since the connection was checked out, so that collecting is worth while.
bool mc_blob_has_dropped(const mc_connection *connection);

/// Frees the space of dropped values that are not pinned, in short transactions of the writer of at most 64 chunks each.
/// `*removed` (may be NULL) counts the values that are gone. Without the tables there is nothing to do.
MC_MUST_USE mc_status mc_blob_collect(mc_pool *pool, int64_t *MC_NULLABLE removed, mc_error *MC_NULLABLE error);

/// Copies the file `path` into the writer, or the value from its beginning to the file `path`, which it replaces when all of it
/// has been written (beside it meanwhile: `path` with ".part"). `*bytes` (may be NULL) counts them.
/// Fail with MC_ERROR_NOT_FOUND (no such file), MC_ERROR_IO, and as writing and reading the value do.
struct mc_blob_writer;
struct mc_blob_reader;
MC_MUST_USE mc_status mc_blob_copy_from_file(struct mc_blob_writer *writer, const char *path, int64_t *MC_NULLABLE bytes,
                                             mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_blob_copy_to_file(struct mc_blob_reader *reader, const char *path, int64_t *MC_NULLABLE bytes,
                                           mc_error *MC_NULLABLE error);

/// Pins a value once more, or takes one pin away. Pinning fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_blob_pin(mc_pool *pool, int64_t value, mc_error *MC_NULLABLE error);
void mc_blob_unpin(mc_pool *pool, int64_t value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
