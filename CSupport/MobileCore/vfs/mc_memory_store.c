/// mc_memory_store.c: the files of databases in memory, by name, and their bytes.
#include "vfs/mc_memory_store.h"

#include <string.h>

#include "base/mc_memory.h"

static void free_store(mc_memory_store *store)
{
    for (size_t index = 0; index < store->piece_count; index++)
        mc_free(store->pieces[index]);
    mc_free(store->pieces);
    (void)pthread_mutex_destroy(&store->lock);
    mc_free(store->name);
    mc_free(store);
}

static mc_memory_store *create_store(const char *name)
{
    mc_memory_store *store = mc_allocate_zeroed(1, sizeof *store);
    char *const copy = name != NULL ? mc_copy_text(name) : NULL;
    if (store == NULL || (name != NULL && copy == NULL) || pthread_mutex_init(&store->lock, NULL) != 0) {
        mc_free(copy);
        mc_free(store);
        return NULL;
    }
    store->name = copy;
    return store;
}

/// With the names locked: the place of a named file in the list, which has NULL if there is none.
static mc_memory_store **find(mc_memory_names *names, const char *name)
{
    mc_memory_store **link = &names->first;
    while (*link != NULL && strcmp((*link)->name, name) != 0)
        link = &(*link)->next;
    return link;
}

int mc_memory_store_take(mc_memory_names *names, const char *name, bool creates, bool is_new, mc_memory_store **out)
{
    int code = SQLITE_OK;
    (void)pthread_mutex_lock(&names->mutex);
    mc_memory_store *store = name != NULL ? *find(names, name) : NULL;
    if (store == NULL ? name != NULL && !creates : is_new) {
        store = NULL;
        code = SQLITE_CANTOPEN;
    } else if (store == NULL) {
        store = create_store(name);
        code = store != NULL ? SQLITE_OK : SQLITE_NOMEM;
        if (store != NULL && name != NULL) {
            store->next = names->first;
            names->first = store;
        }
    }
    if (store != NULL)
        store->users++;
    (void)pthread_mutex_unlock(&names->mutex);
    *out = store;
    return code;
}

/// With the names locked: takes a file's name away, and frees it if no file of SQLite has it open.
static void forget(mc_memory_names *names, mc_memory_store *store)
{
    *find(names, store->name) = store->next;
    mc_free(store->name);
    store->name = NULL;
    if (store->users == 0)
        free_store(store);
}

static const char *const companions[] = {"-wal", "-journal"};

/// With the names locked: whether the file is the log or the journal of a database that is open.
static bool is_needed(mc_memory_names *names, const mc_memory_store *store)
{
    const size_t length = strlen(store->name);
    for (size_t index = 0; index < sizeof companions / sizeof companions[0]; index++) {
        const size_t suffix = strlen(companions[index]);
        if (length <= suffix || strcmp(store->name + length - suffix, companions[index]) != 0)
            continue;
        for (const mc_memory_store *other = names->first; other != NULL; other = other->next) {
            if (other->users > 0 && strlen(other->name) == length - suffix && strncmp(other->name, store->name, length - suffix) == 0)
                return true;
        }
    }
    return false;
}

/// With the names locked: frees the log and the journal of a database without open files.
static void forget_companions(mc_memory_names *names, const char *name)
{
    const size_t length = strlen(name);
    for (mc_memory_store **link = &names->first; *link != NULL;) {
        mc_memory_store *const store = *link;
        bool is_companion = false;
        for (size_t index = 0; index < sizeof companions / sizeof companions[0]; index++)
            is_companion =
                is_companion || (strncmp(store->name, name, length) == 0 && strcmp(store->name + length, companions[index]) == 0);
        if (is_companion && store->users == 0)
            forget(names, store);  // `link` has the next one then
        else
            link = &store->next;
    }
}

void mc_memory_store_return(mc_memory_names *names, mc_memory_store *store, bool is_database)
{
    (void)pthread_mutex_lock(&names->mutex);
    if (--store->users == 0) {
        if (store->name == NULL) {
            free_store(store);
        } else if (is_database) {
            forget_companions(names, store->name);
            forget(names, store);
        } else if (!is_needed(names, store)) {
            forget(names, store);
        }
    }
    (void)pthread_mutex_unlock(&names->mutex);
}

void mc_memory_store_delete(mc_memory_names *names, const char *name)
{
    (void)pthread_mutex_lock(&names->mutex);
    mc_memory_store *const store = *find(names, name);
    if (store != NULL)
        forget(names, store);
    (void)pthread_mutex_unlock(&names->mutex);
}

int64_t mc_memory_store_look(mc_memory_names *names, const char *name)
{
    (void)pthread_mutex_lock(&names->mutex);
    mc_memory_store *const store = *find(names, name);
    const int64_t size = store != NULL ? mc_memory_store_size(store) : -1;
    (void)pthread_mutex_unlock(&names->mutex);
    return size;
}

int mc_memory_store_read(mc_memory_store *store, void *buffer, int amount, int64_t offset)
{
    uint8_t *to = buffer;
    (void)pthread_mutex_lock(&store->lock);
    const int64_t left = store->size > offset ? store->size - offset : 0;
    const size_t size = left < amount ? (size_t)left : (size_t)amount;
    for (size_t done = 0; done < size;) {
        const size_t at = (size_t)offset + done, within = at % MC_MEMORY_PIECE;
        const size_t part = size - done < MC_MEMORY_PIECE - within ? size - done : MC_MEMORY_PIECE - within;
        const uint8_t *const piece = store->pieces[at / MC_MEMORY_PIECE];
        if (piece != NULL)
            memcpy(to + done, piece + within, part);
        else
            memset(to + done, 0, part);
        done += part;
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (size == (size_t)amount)
        return SQLITE_OK;
    memset(to + size, 0, (size_t)amount - size);  // SQLite requires it of short reads
    return SQLITE_IOERR_SHORT_READ;
}

/// With the store locked: makes the table long enough for `size` bytes.
static bool make_table(mc_memory_store *store, size_t size)
{
    const size_t count = (size + MC_MEMORY_PIECE - 1) / MC_MEMORY_PIECE;
    if (count <= store->piece_count)
        return true;
    const size_t wanted = count > 2 * store->piece_count ? count : 2 * store->piece_count;
    uint8_t **const pieces = mc_reallocate(store->pieces, wanted, sizeof *pieces);
    if (pieces == NULL)
        return false;
    memset(pieces + store->piece_count, 0, (wanted - store->piece_count) * sizeof *pieces);
    store->pieces = pieces;
    store->piece_count = wanted;
    return true;
}

int mc_memory_store_write(mc_memory_store *store, const void *buffer, int amount, int64_t offset)
{
    const size_t size = (size_t)amount;
    (void)pthread_mutex_lock(&store->lock);
    bool has_memory = make_table(store, (size_t)offset + size);
    for (size_t done = 0; has_memory && done < size;) {
        const size_t at = (size_t)offset + done, within = at % MC_MEMORY_PIECE;
        const size_t part = size - done < MC_MEMORY_PIECE - within ? size - done : MC_MEMORY_PIECE - within;
        uint8_t **const piece = &store->pieces[at / MC_MEMORY_PIECE];
        if (*piece == NULL)
            *piece = mc_allocate_zeroed(1, MC_MEMORY_PIECE);
        has_memory = *piece != NULL;
        if (has_memory) {
            memcpy(*piece + within, (const uint8_t *)buffer + done, part);
            done += part;
        }
    }
    if (has_memory && store->size < offset + amount)
        store->size = offset + amount;
    (void)pthread_mutex_unlock(&store->lock);
    return has_memory ? SQLITE_OK : SQLITE_IOERR_NOMEM;
}

int mc_memory_store_truncate(mc_memory_store *store, int64_t size)
{
    (void)pthread_mutex_lock(&store->lock);
    if (size < store->size) {
        const size_t kept = ((size_t)size + MC_MEMORY_PIECE - 1) / MC_MEMORY_PIECE, within = (size_t)size % MC_MEMORY_PIECE;
        for (size_t index = kept; index < store->piece_count; index++) {
            mc_free(store->pieces[index]);
            store->pieces[index] = NULL;
        }
        // Later writes beyond this place have zeros before them.
        if (within > 0 && store->pieces[kept - 1] != NULL)
            memset(store->pieces[kept - 1] + within, 0, MC_MEMORY_PIECE - within);
        store->size = size;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return SQLITE_OK;
}

int64_t mc_memory_store_size(mc_memory_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
    const int64_t size = store->size;
    (void)pthread_mutex_unlock(&store->lock);
    return size;
}
