/// mc_blob_reader.h: reads one large value, front to back or from any position.
///
/// The chunks of a value have the same size, so the chunk of a byte is found by division, and the chunk of a Unicode scalar by a
/// binary search over the chunks' counts. So `seek` costs the same anywhere in the value.
///
/// Order of calls: open; any number of seek and read; free.
/// Connections:    each call takes a reader of the pool for its own duration. Between calls an open reader blocks no other caller and
///                 holds no snapshot. The value is pinned, so it stays unchanged until the reader is freed.
/// Threads:        one at a time per reader; different readers do not disturb each other.
/// Memory:         a buffer that grows from 4 KB to 256 KB while small pieces are read in sequence; none for pieces of 128 KB
///                 or more, which go straight to the caller's buffer.
#ifndef MC_BLOB_READER_H
#define MC_BLOB_READER_H

#include <string.h>

#include "mc_blob.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef struct mc_blob_reader mc_blob_reader;

/// The options of a reader. Start from `mc_blob_reader_default_options`.
typedef struct mc_blob_reader_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    int64_t timeout_ns;             ///< the longest wait for a connection, at the opening and in each later call: as in `mc_checkout`
    mc_ticket *MC_NULLABLE ticket;  ///< interrupts the wait and the work of each call; outlives the reader. Another check-out may have it
                                    ///< only between calls
} mc_blob_reader_options;

/// Returns the defaults: each wait as long as by default, without a ticket.
static inline mc_blob_reader_options mc_blob_reader_default_options(void)
{
    mc_blob_reader_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// Opens a complete value at its beginning. `options` may be NULL. On success `*out` goes to `mc_blob_reader_free`; `pool` is borrowed and
/// must outlive the reader. Fails with MC_ERROR_NOT_FOUND, MC_ERROR_CORRUPT, MC_ERROR_NO_MEMORY, and as a check-out of a reader does, as do
/// all later calls that read: MC_ERROR_TIMEOUT, MC_ERROR_INTERRUPTED, MC_ERROR_CLOSED, MC_ERROR_MISUSE (a ticket in use).
MC_MUST_USE mc_status mc_blob_reader_open(mc_pool *pool, int64_t value, const mc_blob_reader_options *MC_NULLABLE options,
                                          mc_blob_reader *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Returns the unit, the length and the sizes of the value.
mc_blob_description mc_blob_reader_description(const mc_blob_reader *reader);

/// Returns the reader's position, in units of the value.
int64_t mc_blob_reader_position(const mc_blob_reader *reader);

/// Moves to a position from 0 to the length, in units. Fails with MC_ERROR_MISUSE (beyond the length), MC_ERROR_CORRUPT.
MC_MUST_USE mc_status mc_blob_reader_seek(mc_blob_reader *reader, int64_t position, mc_error *MC_NULLABLE error);

/// Copies up to `capacity` bytes to `buffer`. `*length` is their number: less than `capacity` only at the end of the value, 0 after it.
/// A piece of a text may end within a character. On failure the position is unchanged.
/// Fails with MC_ERROR_CORRUPT (a chunk is missing or too short), MC_ERROR_NOT_FOUND (another process removed the value).
MC_MUST_USE mc_status mc_blob_reader_read(mc_blob_reader *reader, void *buffer, size_t capacity, size_t *length,
                                          mc_error *MC_NULLABLE error);

/// The same as a source for streams: `context` is the reader. Returns the number of bytes copied, 0 at the end of the value, or SIZE_MAX
/// on failure; `mc_blob_reader_failure` then returns the error.
size_t mc_blob_reader_source(void *context, void *buffer, size_t capacity);

/// Returns the error of the source; its `code` is MC_OK if the source has not failed.
const mc_error *mc_blob_reader_failure(const mc_blob_reader *reader);

/// Copies up to `max_units` whole characters of a text, as many as fit; `*units` and `*length` (bytes) are 0 at the end.
/// `capacity` is at least 4. Fails as `mc_blob_reader_read` does, and with MC_ERROR_MISUSE (a value of bytes).
MC_MUST_USE mc_status mc_blob_reader_read_text(mc_blob_reader *reader, int64_t max_units, char *buffer, size_t capacity, size_t *length,
                                               int64_t *units, mc_error *MC_NULLABLE error);

/// Frees the reader and removes its pin. NULL is allowed.
void mc_blob_reader_free(mc_blob_reader *MC_NULLABLE reader);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
