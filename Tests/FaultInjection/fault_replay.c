#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_storage_internal.h"

enum { SECTOR = 512 };

/// The bytes of a file.
typedef struct image {
    unsigned char *bytes;
    size_t size, capacity;
    bool exists;
} image;

struct fault_replay {
    fault_storage *storage;
    int64_t next;  // the number of changes passed
    int64_t mark;
    image durable[FAULT_FILES];     // the synced content
    int64_t *pending[FAULT_FILES];  // the numbers of the changes since then
    size_t pending_count[FAULT_FILES], pending_capacity[FAULT_FILES];
};

static bool reserve(image *file, size_t size)
{
    if (size <= file->capacity)
        return true;
    const size_t capacity = size + size / 2 + 4096;
    unsigned char *grown = realloc(file->bytes, capacity);
    if (grown == NULL)
        return false;
    memset(grown + file->capacity, 0, capacity - file->capacity);
    file->bytes = grown;
    file->capacity = capacity;
    return true;
}

static bool put(image *file, size_t place, const unsigned char *bytes, size_t length)
{
    if (!reserve(file, place + length))
        return false;
    memcpy(file->bytes + place, bytes, length);
    if (place + length > file->size)
        file->size = place + length;
    file->exists = true;
    return true;
}

static bool resize(image *file, size_t size)
{
    if (!reserve(file, size))
        return false;
    if (size < file->size)
        memset(file->bytes + size, 0, file->size - size);
    file->size = size;
    return true;
}

static bool apply(image *file, const fault_change *change)
{
    return change->kind == FAULT_TRUNCATE ? resize(file, (size_t)change->place)
                                          : put(file, (size_t)change->place, change->bytes, change->length);
}

static uint64_t next_random(uint64_t *state)
{
    // SplitMix64.
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

fault_replay *fault_replay_create(fault_storage *storage)
{
    fault_replay *replay = calloc(1, sizeof *replay);
    if (replay != NULL)
        replay->storage = storage;
    return replay;
}

void fault_replay_free(fault_replay *replay)
{
    if (replay == NULL)
        return;
    for (int i = 0; i < FAULT_FILES; i++) {
        free(replay->durable[i].bytes);
        free(replay->pending[i]);
    }
    free(replay);
}

static bool defer(fault_replay *replay, int file, int64_t number)
{
    if (replay->pending_count[file] == replay->pending_capacity[file]) {
        const size_t capacity = replay->pending_capacity[file] * 2 + 64;
        int64_t *grown = realloc(replay->pending[file], capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        replay->pending[file] = grown;
        replay->pending_capacity[file] = capacity;
    }
    replay->pending[file][replay->pending_count[file]++] = number;
    return true;
}

static bool sync_file(fault_replay *replay, int file)
{
    for (size_t i = 0; i < replay->pending_count[file]; i++)
        if (!apply(&replay->durable[file], &replay->storage->changes[replay->pending[file][i]]))
            return false;
    replay->pending_count[file] = 0;
    return true;
}

bool fault_replay_step(fault_replay *replay)
{
    if (replay->next >= replay->storage->change_count)
        return false;
    const fault_change *change = &replay->storage->changes[replay->next];
    bool ok = true;
    switch (change->kind) {
    case FAULT_WRITE:
    case FAULT_TRUNCATE: ok = defer(replay, change->file, replay->next); break;
    case FAULT_SYNC: ok = sync_file(replay, change->file); break;
    case FAULT_DELETE:
        replay->pending_count[change->file] = 0;
        ok = resize(&replay->durable[change->file], 0);
        replay->durable[change->file].exists = false;
        break;
    case FAULT_MARK: replay->mark = change->place; break;
    }
    replay->next++;
    return ok;
}

int64_t fault_replay_mark(const fault_replay *replay)
{
    return replay->mark;
}

/// Writes the sectors of `change` that `random` chooses, from none to all.
static bool apply_torn(image *file, const fault_change *change, uint64_t *random)
{
    size_t done = 0;
    while (done < change->length) {
        const size_t place = (size_t)change->place + done;
        size_t part = SECTOR - place % SECTOR;
        if (part > change->length - done)
            part = change->length - done;
        if ((next_random(random) & 1) != 0 && !put(file, place, change->bytes + done, part))
            return false;
        done += part;
    }
    return true;
}

static bool survive(image *file, const fault_replay *replay, int index, uint64_t *random)
{
    const image *durable = &replay->durable[index];
    file->exists = durable->exists || replay->pending_count[index] > 0;
    if (durable->size > 0 && !put(file, 0, durable->bytes, durable->size))
        return false;
    const uint64_t way = next_random(random) % 4;  // 0: none, 1: all, 2: a subset, 3: the first ones and a torn one
    const size_t count = replay->pending_count[index];
    const size_t last = count > 0 ? next_random(random) % count : 0;
    for (size_t i = 0; i < count && way != 0; i++) {
        const fault_change *change = &replay->storage->changes[replay->pending[index][i]];
        const bool is_torn = way == 3 ? i == last : way == 2 && next_random(random) % 8 == 0;
        if (way == 3 && i > last)
            break;
        if (way == 2 && !is_torn && (next_random(random) & 1) != 0)
            continue;
        if (is_torn && change->kind == FAULT_WRITE ? !apply_torn(file, change, random) : !apply(file, change))
            return false;
    }
    return true;
}

static bool write_file(const char *directory, const char *name, const image *file)
{
    char path[1024];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return false;
    (void)remove(path);
    if (!file->exists)
        return true;
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return false;
    const bool written = fwrite(file->bytes, 1, file->size, out) == file->size;
    return fclose(out) == 0 && written;
}

bool fault_replay_write(fault_replay *replay, uint64_t seed, const char *directory)
{
    uint64_t random = seed;
    bool ok = true;
    for (int i = 0; i < replay->storage->file_count && ok; i++) {
        image file = {0};
        ok = survive(&file, replay, i, &random) && write_file(directory, replay->storage->files[i], &file);
        free(file.bytes);
    }
    return ok;
}
