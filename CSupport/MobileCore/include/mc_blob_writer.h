/// mc_blob_writer.h: writes a new large value from front to back. Its length need not be known in advance.
///
/// Order of calls: open; any number of write and flush; finish or not; free. Without finish the value is dropped.
/// Transactions:   the content goes into the database in short transactions of the pool's writer, about 512 KB each, which wait
///                 their turn. On a thread that holds the writer they are parts of its transaction.
///                 Any number of pools and processes may write values to a file at the same time. While a value is written, the
///                 log may grow to about 16 MB before a checkpoint.
/// Threads:        one at a time per writer.
/// Memory:         one buffer of about 512 KB, regardless of the length of the value.
/// After a failure of the database the writer can only be freed. Refused input (not UTF-8, over length, not at the end) leaves
/// the writer unchanged.
#ifndef MC_BLOB_WRITER_H
#define MC_BLOB_WRITER_H

#include <string.h>

#include "mc_blob.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_blob_writer mc_blob_writer;

/// The announced length of a value without content.
enum { MC_BLOB_EMPTY = -2 };

/// Zeroed: bytes, of any length.
typedef struct mc_blob_writer_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    mc_blob_unit unit;
    int64_t length;      ///< announced length in units, or MC_BLOB_EMPTY, which must then be reached exactly; 0 and -1: unknown
    size_t chunk_size;   ///< bytes; 0: `mc_blob_chunk_size`
    int64_t timeout_ns;  ///< of each wait for the writer connection, as in `mc_checkout`
} mc_blob_writer_options;

/// Returns the defaults: bytes of any length.
static inline mc_blob_writer_options mc_blob_writer_default_options(void)
{
    mc_blob_writer_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// Opens a writer; nothing is written to the database before there is a buffer to write. On success `*out` goes to
/// `mc_blob_writer_free`. `pool` is borrowed and must outlive the writer; its tables exist (`mc_blob_prepare`).
/// Fails with MC_ERROR_MISUSE, MC_ERROR_NO_MEMORY, and as a check-out of a reader does.
MC_MUST_USE mc_status mc_blob_writer_open(mc_pool *pool, const mc_blob_writer_options *options, mc_blob_writer *MC_NULLABLE *MC_NONNULL out,
                                          mc_error *MC_NULLABLE error);

/// Appends bytes; pieces of text may be cut anywhere, also within a character.
/// Fails with MC_ERROR_TYPE (not UTF-8: `byte_offset` is the position), MC_ERROR_OVER_LENGTH, MC_ERROR_LIMIT (2^24 chunks),
/// MC_ERROR_NOT_FOUND (the content so far has been rolled back with the caller's transaction), MC_ERROR_TIMEOUT, MC_ERROR_CLOSED,
/// MC_ERROR_FULL, MC_ERROR_SQLITE.
MC_MUST_USE mc_status mc_blob_writer_write(mc_blob_writer *writer, const void *MC_NULLABLE bytes, size_t length,
                                           mc_error *MC_NULLABLE error);

/// The same at a position in units. A value can only grow: any position but its end fails with MC_ERROR_APPEND_ONLY.
MC_MUST_USE mc_status mc_blob_writer_write_at(mc_blob_writer *writer, int64_t position, const void *MC_NULLABLE bytes, size_t length,
                                              mc_error *MC_NULLABLE error);

/// The same as a sink for streams: `context` is the writer. Returns whether it took the bytes; if not, `mc_blob_writer_failure` returns
/// the error.
bool mc_blob_writer_sink(void *context, const void *MC_NULLABLE bytes, size_t length);

/// Returns the error of the sink; its `code` is MC_OK if the sink has not failed.
const mc_error *mc_blob_writer_failure(const mc_blob_writer *writer);

/// Writes the buffer to the database.
MC_MUST_USE mc_status mc_blob_writer_flush(mc_blob_writer *writer, mc_error *MC_NULLABLE error);

/// Writes the rest of the buffer and makes the value complete in the same transaction. `*value` is its id, pinned: give it to
/// `mc_blob_unpin` when a row refers to it. Until then, and until the pool is closed, other pools do not drop it either.
/// Fails as `mc_blob_writer_write` does, and with MC_ERROR_TRUNCATED (shorter than announced), MC_ERROR_TYPE (the text ends within a
/// character).
MC_MUST_USE mc_status mc_blob_writer_finish(mc_blob_writer *writer, int64_t *value, mc_error *MC_NULLABLE error);

/// Return the units and the bytes written so far.
int64_t mc_blob_writer_length(const mc_blob_writer *writer);
int64_t mc_blob_writer_bytes(const mc_blob_writer *writer);

/// Frees the writer. An unfinished value is dropped at once if the connection is free, otherwise at the next open.
/// NULL is allowed.
void mc_blob_writer_free(mc_blob_writer *MC_NULLABLE writer);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
