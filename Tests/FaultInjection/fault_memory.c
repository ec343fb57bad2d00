#include "fault_memory.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods underlying;

static _Thread_local struct {
    int64_t allocations;
    int64_t fails_at;  // 0: no allocation fails
    bool stays;
    bool has_failed;
    bool *told;
    int64_t bytes, peak;  // since the last `fault_memory_fail_after`
    int64_t held;
} faults;

/// Adds to the number of bytes that this thread has allocated; negative for freed bytes.
static void count_bytes(int64_t bytes)
{
    faults.held += bytes;
    faults.bytes += bytes;
    if (faults.bytes > faults.peak)
        faults.peak = faults.bytes;
}

static bool fails_now(void)
{
    faults.allocations++;
    const bool fails =
        faults.fails_at > 0 && (faults.allocations == faults.fails_at || (faults.stays && faults.allocations > faults.fails_at));
    faults.has_failed = faults.has_failed || fails;
    if (fails && faults.told != NULL)
        *faults.told = true;
    return fails;
}

static void *faulty_malloc(int bytes)
{
    void *const memory = fails_now() ? NULL : underlying.xMalloc(bytes);
    if (memory != NULL)
        count_bytes(underlying.xSize(memory));
    return memory;
}

static void *faulty_realloc(void *memory, int bytes)
{
    const int before = memory != NULL ? underlying.xSize(memory) : 0;
    void *const grown = fails_now() ? NULL : underlying.xRealloc(memory, bytes);
    if (grown != NULL)
        count_bytes(underlying.xSize(grown) - (int64_t)before);
    return grown;
}

static void counting_free(void *memory)
{
    count_bytes(-(int64_t)underlying.xSize(memory));
    underlying.xFree(memory);
}

/// Installs the allocator when the program is loaded, because SQLite accepts one only before its initialization.
__attribute__((constructor)) static void install(void)
{
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &underlying) != SQLITE_OK)
        return;
    sqlite3_mem_methods methods = underlying;
    methods.xMalloc = faulty_malloc;
    methods.xRealloc = faulty_realloc;
    methods.xFree = counting_free;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void fault_memory_fail_after(int64_t allocations, bool stays)
{
    faults.allocations = 0;
    faults.fails_at = allocations < 0 ? 0 : allocations + 1;
    faults.stays = stays;
    faults.has_failed = false;
    faults.bytes = faults.peak = 0;
}

bool fault_memory_has_failed(void)
{
    return faults.has_failed;
}

void fault_memory_tell(bool *has_failed)
{
    faults.told = has_failed;
}

int64_t fault_memory_peak(void)
{
    return faults.peak;
}

int64_t fault_memory_held(void)
{
    return faults.held;
}
