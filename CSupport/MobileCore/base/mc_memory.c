#include "base/mc_memory.h"

#include <stdint.h>
#include <string.h>

void *mc_allocate(size_t bytes)
{
    return sqlite3_malloc64(bytes);
}

/// Returns the product, or 0 if it overflows.
static size_t product(size_t count, size_t size)
{
    return size != 0 && count > SIZE_MAX / size ? 0 : count * size;
}

void *mc_allocate_zeroed(size_t count, size_t size)
{
    const size_t bytes = product(count, size);
    void *const memory = sqlite3_malloc64(bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

void *mc_reallocate(void *memory, size_t count, size_t size)
{
    const size_t bytes = product(count, size);
    return bytes == 0 ? NULL : sqlite3_realloc64(memory, bytes);  // SQLite would free the memory for 0
}

char *mc_copy_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = mc_allocate(bytes);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void mc_free(void *memory)
{
    sqlite3_free(memory);
}

void *mc_zlib_allocate(void *context, unsigned count, unsigned size)
{
    (void)context;
    return mc_allocate_zeroed(count, size);
}

void mc_zlib_free(void *context, void *memory)
{
    (void)context;
    mc_free(memory);
}
