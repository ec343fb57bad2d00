/// CMobileDeflate.h: compression by Intel's ISA-L, piece by piece. No algorithm is implemented here.
///
/// Threads: one thread at a time uses a compressor.
#ifndef CMOBILE_DEFLATE_H
#define CMOBILE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define MD_NULLABLE _Nullable
#define MD_NONNULL _Nonnull
#else
#define MD_NULLABLE
#define MD_NONNULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// A stream that is being compressed, with the memory for it: about 400 KB.
typedef struct md_compressor md_compressor;

/// The progress of one call.
typedef struct md_step {
    size_t taken;     // of the text
    size_t given;     // to the output
    bool is_end;      // of the stream: all of it was given
    bool has_failed;  // the library refuses to work, for example one of another version than its headers
} md_step;

/// Creates a compressor at the beginning of a stream. The caller gives it to `md_compressor_free`. NULL without memory.
md_compressor *MD_NULLABLE md_compressor_create(void);

/// Frees a compressor; NULL is allowed.
void md_compressor_free(md_compressor *MD_NULLABLE compressor);

/// Continues a zlib stream (RFC 1950): takes text and gives bytes of the stream as far as there is room. Call it again with the rest of the text
/// until all of it is taken; with `is_last`, until the end of the stream. After the end, the next call begins another stream.
md_step md_compress(md_compressor *MD_NONNULL compressor, const uint8_t *MD_NULLABLE text, size_t length, bool is_last,
                    uint8_t *MD_NONNULL out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
