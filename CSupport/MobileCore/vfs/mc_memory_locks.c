/// mc_memory_locks.c: the locks of files in memory, and the memory that the connections of a write-ahead log share.
///
///     SHARED      any number, while nobody has PENDING or EXCLUSIVE
///     RESERVED    one, next to those that are SHARED
///     PENDING     one, on its way to EXCLUSIVE: no new SHARED
///     EXCLUSIVE   one, when it is the only one that is SHARED
#include "vfs/mc_memory_store.h"

#include <string.h>

#include "base/mc_memory.h"

static bool is_other(const mc_memory_file *holder, const mc_memory_file *file)
{
    return holder != NULL && holder != file;
}

/// With the store locked.
static int take(mc_memory_file *file, int level)
{
    mc_memory_store *const store = file->store;
    if (is_other(store->pending, file) || is_other(store->exclusive, file))
        return SQLITE_BUSY;
    if (level == SQLITE_LOCK_SHARED) {
        store->shared++;
        file->level = level;
        return SQLITE_OK;
    }
    if (is_other(store->reserved, file))
        return SQLITE_BUSY;
    if (level == SQLITE_LOCK_RESERVED) {
        store->reserved = file;
        file->level = level;
        return SQLITE_OK;
    }
    store->pending = file;
    file->level = SQLITE_LOCK_PENDING;
    if (store->shared > 1)
        return SQLITE_BUSY;
    store->exclusive = file;
    file->level = SQLITE_LOCK_EXCLUSIVE;
    return SQLITE_OK;
}

int mc_memory_lock(mc_memory_file *file, int level)
{
    if (file->level >= level)
        return SQLITE_OK;
    (void)pthread_mutex_lock(&file->store->lock);
    const int code = take(file, level);
    (void)pthread_mutex_unlock(&file->store->lock);
    return code;
}

void mc_memory_unlock(mc_memory_file *file, int level)
{
    mc_memory_store *const store = file->store;
    if (file->level <= level)
        return;
    (void)pthread_mutex_lock(&store->lock);
    if (store->reserved == file)
        store->reserved = NULL;
    if (store->pending == file)
        store->pending = NULL;
    if (store->exclusive == file)
        store->exclusive = NULL;
    if (level == SQLITE_LOCK_NONE)
        store->shared--;
    (void)pthread_mutex_unlock(&store->lock);
    file->level = level;
}

bool mc_memory_is_reserved(mc_memory_file *file)
{
    (void)pthread_mutex_lock(&file->store->lock);
    const bool is_reserved = file->store->reserved != NULL || file->store->pending != NULL || file->store->exclusive != NULL;
    (void)pthread_mutex_unlock(&file->store->lock);
    return is_reserved;
}

/// With the store locked: makes regions up to `index`.
static bool make_regions(mc_memory_store *store, int index, int bytes)
{
    if (index >= store->region_count) {
        void **const regions = mc_reallocate(store->regions, (size_t)index + 1, sizeof *regions);
        if (regions == NULL)
            return false;
        store->regions = regions;
    }
    while (store->region_count <= index) {
        void *const region = mc_allocate_zeroed(1, (size_t)bytes);
        if (region == NULL)
            return false;
        store->regions[store->region_count++] = region;
    }
    return true;
}

int mc_memory_region(mc_memory_file *file, int index, int bytes, bool extends, void volatile **out)
{
    mc_memory_store *const store = file->store;
    int code = SQLITE_OK;
    *out = NULL;
    (void)pthread_mutex_lock(&store->lock);
    if (!file->uses_regions) {
        file->uses_regions = true;
        store->region_users++;
    }
    if (extends && !make_regions(store, index, bytes))
        code = SQLITE_NOMEM;
    else if (index < store->region_count)
        *out = store->regions[index];
    (void)pthread_mutex_unlock(&store->lock);
    return code;
}

/// With the store locked: gives the locks of `slots`, one bit each, back.
static void give_back(mc_memory_file *file, unsigned slots)
{
    for (int slot = 0; slot < SQLITE_SHM_NLOCK; slot++) {
        const unsigned bit = slots & 1U << slot;
        if ((file->exclusive_slots & bit) != 0)
            file->store->slots[slot] = 0;
        else if ((file->shared_slots & bit) != 0)
            file->store->slots[slot]--;
    }
    file->exclusive_slots &= ~slots;
    file->shared_slots &= ~slots;
}

/// With the store locked.
static int take_slots(mc_memory_file *file, int first, int count, bool is_shared)
{
    int *const slots = file->store->slots;
    for (int slot = first; slot < first + count; slot++) {
        const unsigned bit = 1U << slot;
        const int own = (file->shared_slots & bit) != 0 ? 1 : (file->exclusive_slots & bit) != 0 ? -1 : 0;
        if (own < 0 || (is_shared ? slots[slot] < 0 : slots[slot] != own))
            return SQLITE_BUSY;
    }
    for (int slot = first; slot < first + count; slot++) {
        const unsigned bit = 1U << slot;
        if (is_shared) {
            slots[slot] += (file->shared_slots & bit) == 0;
            file->shared_slots |= bit;
        } else {
            slots[slot] = -1;
            file->shared_slots &= ~bit;
            file->exclusive_slots |= bit;
        }
    }
    return SQLITE_OK;
}

int mc_memory_lock_slots(mc_memory_file *file, int first, int count, int flags)
{
    int code = SQLITE_OK;
    (void)pthread_mutex_lock(&file->store->lock);
    if ((flags & SQLITE_SHM_UNLOCK) != 0)
        give_back(file, ((1U << count) - 1) << first);
    else
        code = take_slots(file, first, count, (flags & SQLITE_SHM_SHARED) != 0);
    (void)pthread_mutex_unlock(&file->store->lock);
    return code;
}

void mc_memory_barrier(mc_memory_file *file)
{
    // All writes before it are visible to everyone who takes the lock afterwards, as every connection does before it reads.
    (void)pthread_mutex_lock(&file->store->lock);
    (void)pthread_mutex_unlock(&file->store->lock);
}

void mc_memory_leave_regions(mc_memory_file *file)
{
    mc_memory_store *const store = file->store;
    if (!file->uses_regions)
        return;
    file->uses_regions = false;
    (void)pthread_mutex_lock(&store->lock);
    give_back(file, (1U << SQLITE_SHM_NLOCK) - 1);
    if (--store->region_users == 0) {
        for (int index = 0; index < store->region_count; index++)
            mc_free(store->regions[index]);
        mc_free(store->regions);
        store->regions = NULL;
        store->region_count = 0;
    }
    (void)pthread_mutex_unlock(&store->lock);
}
