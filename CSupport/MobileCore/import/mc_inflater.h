/// mc_inflater.h: bytes in chunks of any size, plain or deflated, become plain pieces for a sink. Internal.
///
/// JSON text begins with a blank, a bracket or a brace, a gzip stream with 1F, and a zlib stream with a byte whose low half is 8:
/// so the first byte tells them apart.
#ifndef MC_INFLATER_H
#define MC_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "base/mc_fail.h"

/// Bytes of plain text that a piece made of deflated input has at most.
enum { MC_INFLATER_PIECE_BYTES = 64 * 1024 };

/// Takes a piece of plain text. A length of 0 says that the stream is damaged, or ends, behind what it has taken: a failure that it finds
/// in what it has kept for later comes first, whatever the chunks were.
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
    uint8_t *buffer;  ///< where pieces are made; the sink may put another one in its place until it is put back
    z_stream stream;
} mc_inflater;

/// `bytes_maximum`: the most plain bytes to make of deflated ones; `ratio_maximum`: the most they may grow, looked at beyond
/// the first MB.
void mc_inflater_init(mc_inflater *inflater, mc_inflater_sink sink, void *context, int64_t bytes_maximum, int64_t ratio_maximum);

/// Takes the next bytes, one at least. Fails with MC_ERROR_COMPRESSION, MC_ERROR_LIMIT, MC_ERROR_NO_MEMORY and as the sink does.
mc_status mc_inflater_push(mc_inflater *inflater, const void *bytes, size_t length, mc_error *error);

/// Says that the input is complete. Fails with MC_ERROR_TRUNCATED where a deflated stream ended in the middle.
mc_status mc_inflater_finish(const mc_inflater *inflater, mc_error *error);

void mc_inflater_destroy(mc_inflater *inflater);

#endif
