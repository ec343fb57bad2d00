/// mc_memory.h: the only source of memory in the core, so that SQLite's allocator, its limits and its counters hold for all of it.
/// Internal; every folder of the core includes it.
#ifndef MC_MEMORY_H
#define MC_MEMORY_H

#include <sqlite3.h>
#include <stddef.h>

#include "mc_error.h"

/// Allocates `bytes` bytes of memory, not cleared; NULL without memory, and for 0.
void *MC_NULLABLE mc_allocate(size_t bytes);

/// Allocates `count` pieces of `size` bytes each, all 0; NULL without memory, for 0, and where the product is beyond `size_t`.
void *MC_NULLABLE mc_allocate_zeroed(size_t count, size_t size);

/// Resizes memory to `count` pieces of `size` bytes, which may move it. Returns NULL without memory and for an impossible product:
/// `memory` is then unchanged.
void *MC_NULLABLE mc_reallocate(void *MC_NULLABLE memory, size_t count, size_t size);

/// Copies a text; NULL without memory.
char *MC_NULLABLE mc_copy_text(const char *MC_NONNULL text);

/// Frees memory; NULL is allowed.
void mc_free(void *MC_NULLABLE memory);

/// Functions for zlib's `zalloc` and `zfree`.
void *MC_NULLABLE mc_zlib_allocate(void *MC_NULLABLE context, unsigned count, unsigned size);
void mc_zlib_free(void *MC_NULLABLE context, void *MC_NULLABLE memory);

#endif
