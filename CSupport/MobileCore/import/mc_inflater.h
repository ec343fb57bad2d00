/// mc_inflater.h: turns bytes in chunks of any size, plain or deflated, into plain pieces for a sink. Internal.
///
/// JSON text begins with a blank, a bracket or a brace, a gzip stream with 1F, and a zlib stream with a byte whose low half is 8:
/// so the first byte distinguishes them.
#ifndef MC_INFLATER_H
#define MC_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "base/mc_fail.h"

/// The maximum size of an inflated piece, in bytes.
enum { MC_INFLATER_PIECE_BYTES = 64 * 1024 };

/// Takes a piece of plain text. A length of 0 means that the stream is damaged, or ends, after the text taken so far: an error in the text
/// that the sink has kept for later comes first, regardless of the chunks.
typedef mc_status (*mc_inflater_sink)(void *context, const void *bytes, size_t length, mc_error *error);

typedef enum mc_inflater_kind { MC_INFLATER_UNKNOWN, MC_INFLATER_PLAIN, MC_INFLATER_ZLIB, MC_INFLATER_GZIP } mc_inflater_kind;

/// Starts by `mc_inflater_init`, ends with `mc_inflater_destroy`.
typedef struct mc_inflater {
    mc_inflater_sink sink;
    void *context;
    int64_t bytes_maximum, ratio_maximum;
    mc_inflater_kind kind;
    bool complete;  ///< a deflated stream has ended, and was intact
    bool ready;     ///< `stream` is to be closed
    int64_t bytes_in, bytes_out;
    uint8_t header[2];  ///< the first bytes of the input
    size_t header_length;
    uint8_t *buffer;  ///< the memory of the next piece; the sink may replace it for a time
    z_stream stream;
} mc_inflater;

/// Initializes the inflater. `bytes_maximum`: the maximum number of inflated bytes; `ratio_maximum`: the maximum growth, checked after
/// the first MB.
void mc_inflater_init(mc_inflater *inflater, mc_inflater_sink sink, void *context, int64_t bytes_maximum, int64_t ratio_maximum);

/// Takes the next bytes, at least one. Fails with MC_ERROR_COMPRESSION, MC_ERROR_LIMIT, MC_ERROR_NO_MEMORY and as the sink does.
mc_status mc_inflater_push(mc_inflater *inflater, const void *bytes, size_t length, mc_error *error);

/// Ends the input. Fails with MC_ERROR_TRUNCATED if a deflated stream ended in the middle.
mc_status mc_inflater_finish(const mc_inflater *inflater, mc_error *error);

/// Begins another input, of any kind, after the end of one.
void mc_inflater_begin_again(mc_inflater *inflater);

void mc_inflater_destroy(mc_inflater *inflater);

#endif
