/// mc_blob.h: large values, which are stored outside of the rows that refer to them.
///
/// A value has an id, which a row holds, and its content in numbered chunks of equal size (the last may be shorter). The
/// chunk size is chosen so that a chunk fills whole pages of the database. A value is written once, to a new id, and never
/// changed; it can be read as soon as it is complete. So a reader of the old value never waits for the writer of the new one.
///
///     writing --finish--> complete --drop--> dropped --collect--> gone
///        +------ cancel, or the process died ----^
///
/// Tables (made by `mc_blob_prepare`):
///     _mc_value(id, unit, chunk, state, length, bytes)               one row per value
///     _mc_chunk(id = value << 24 | number, start, content)           start: Unicode scalars before the chunk; NULL for bytes
///
/// A pinned value is neither dropped by `mc_blob_drop_unreferenced` nor collected. Readers pin the values that they read; a finished
/// writer pins its value until the row that shall refer to it has been written. Pins are kept in the pool, not in the file.
/// Locks of the empty file "NAME-lease" next to the database NAME show other pools and processes what they may drop: as long as a pool has
/// values that are unfinished, or finished and pinned by their writer, no other pool drops values that it does not know.
#ifndef MC_BLOB_H
#define MC_BLOB_H

#include "mc_statement.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

/// The unit of a value's lengths and positions.
typedef enum mc_blob_unit {
    MC_BLOB_BYTES = 0,
    MC_BLOB_SCALARS = 1  ///< Unicode scalars of valid UTF-8
} mc_blob_unit;

/// Makes missing tables, and drops the values that a killed process left unfinished. It drops all unfinished values if no pool in any
/// process is writing one; otherwise they stay, and the next call checks again. `connection` is the writer. Idempotent.
/// Fails as writing to the database and opening files do.
MC_MUST_USE mc_status mc_blob_prepare(mc_connection *connection, mc_error *MC_NULLABLE error);

/// The properties of a complete value.
typedef struct mc_blob_description {
    mc_blob_unit unit;
    int64_t length;  ///< in its unit
    int64_t bytes;
    int64_t chunk_size;  ///< bytes
} mc_blob_description;

/// Looks up a complete value. Fails with MC_ERROR_NOT_FOUND, MC_ERROR_CORRUPT (the row contradicts itself), MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_blob_describe(mc_connection *connection, int64_t value, mc_blob_description *description,
                                       mc_error *MC_NULLABLE error);

/// Returns the size, in bytes, of a chunk that fills whole pages of the database: about 64 KB or 4 pages, whichever is more.
size_t mc_blob_chunk_size(mc_connection *connection, mc_blob_unit unit);

/// Makes values unreadable, for good when the transaction commits. Ids of values that do not exist are ignored.
MC_MUST_USE mc_status mc_blob_drop(mc_connection *connection, const int64_t *values, size_t count, mc_error *MC_NULLABLE error);

/// A column that holds ids of large values.
typedef struct mc_blob_reference {
    const char *table;
    const char *column;
} mc_blob_reference;

/// Drops every complete value that is not pinned and that no column refers to. `*dropped` (may be NULL) is their number. As long as
/// another pool in any process has values that are not saved yet, it drops none, and the next call checks again.
/// Costs one pass over the columns. `connection` is the writer.
MC_MUST_USE mc_status mc_blob_drop_unreferenced(mc_connection *connection, const mc_blob_reference *MC_NULLABLE references, size_t count,
                                                int64_t *MC_NULLABLE dropped, mc_error *MC_NULLABLE error);

/// Returns whether values were dropped since the connection was checked out: collecting is then worth its cost.
bool mc_blob_has_dropped(const mc_connection *connection);

/// Frees the space of dropped values that are not pinned, within the file: VACUUM makes the file smaller. It works in short transactions
/// of the writer, of at most 64 chunks each.
/// `*removed` (may be NULL) is the number of values whose space is free. Does nothing without the tables.
MC_MUST_USE mc_status mc_blob_collect(mc_pool *pool, int64_t *MC_NULLABLE removed, mc_error *MC_NULLABLE error);

struct mc_blob_writer;
struct mc_blob_reader;

/// Copies the file `path` into the writer, or the value from its beginning to the file `path`. The file is replaced when the whole value
/// has been written; until then, the value is written to `path` with ".part" appended. `*bytes` (may be NULL) is the number of bytes.
/// They fail with MC_ERROR_NOT_FOUND (no such file), MC_ERROR_IO, and as writing and reading the value do.
MC_MUST_USE mc_status mc_blob_copy_from_file(struct mc_blob_writer *writer, const char *path, int64_t *MC_NULLABLE bytes,
                                             mc_error *MC_NULLABLE error);
MC_MUST_USE mc_status mc_blob_copy_to_file(struct mc_blob_reader *reader, const char *path, int64_t *MC_NULLABLE bytes,
                                           mc_error *MC_NULLABLE error);

/// Add one pin to a value, or remove one. Pinning fails with MC_ERROR_NO_MEMORY.
MC_MUST_USE mc_status mc_blob_pin(mc_pool *pool, int64_t value, mc_error *MC_NULLABLE error);
void mc_blob_unpin(mc_pool *pool, int64_t value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
