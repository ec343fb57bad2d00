/// mc_blob_window.h: the content of one large value, with some bytes read ahead. Internal to the reader.
#ifndef MC_BLOB_WINDOW_H
#define MC_BLOB_WINDOW_H

#include "mc_blob.h"

/// The window. Begins with the first five fields set and the others zeroed, ends with `mc_blob_window_free`. Its owner pins the value.
typedef struct mc_blob_window {
    mc_pool *pool;  // borrowed
    int64_t value;
    int64_t value_bytes;
    int64_t chunk_size;
    mc_checkout checkout;  // of the connection for each fetch
    uint8_t *bytes;        // content that has been read ahead; NULL before the first
    size_t capacity;
    int64_t start;  // the offset of `bytes` in the value
    size_t length;
} mc_blob_window;

/// Copies `size` bytes from `byte` on, all of which exist. Fails as `mc_blob_reader_read` does.
mc_status mc_blob_window_read(mc_blob_window *window, int64_t byte, uint8_t *buffer, size_t size, mc_error *error);

/// Makes the window begin at `byte`, or contain it with at least `least` bytes after it if the value has them. Fails likewise.
mc_status mc_blob_window_fill(mc_blob_window *window, int64_t byte, size_t least, mc_error *error);

/// The content from `byte` on, which the window contains; valid until it is read or filled again.
const uint8_t *mc_blob_window_content(const mc_blob_window *window, int64_t byte, size_t *length);

void mc_blob_window_free(mc_blob_window *window);

#endif
