#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault_storage_internal.h"

int fault_record_file(fault_storage *storage, const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;
    if (name == NULL || strlen(name) >= FAULT_NAME_SIZE)
        return -1;
    for (int i = 0; i < storage->file_count; i++)
        if (strcmp(storage->files[i], name) == 0)
            return i;
    if (storage->file_count == FAULT_FILES)
        return -1;
    (void)snprintf(storage->files[storage->file_count], FAULT_NAME_SIZE, "%s", name);
    return storage->file_count++;
}

void fault_record_add(fault_storage *storage, fault_kind kind, int file, int64_t place, const void *bytes, size_t length)
{
    fault_storage_enter(storage);
    if (!storage->is_recording || (file < 0 && kind != FAULT_MARK)) {
        fault_storage_leave(storage);
        return;
    }
    if (storage->change_count == storage->change_capacity) {
        const int64_t capacity = storage->change_capacity * 2 + 1024;
        fault_change *grown = realloc(storage->changes, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            storage->has_lost_changes = true;
            fault_storage_leave(storage);
            return;
        }
        storage->changes = grown;
        storage->change_capacity = capacity;
    }
    unsigned char *copy = length > 0 ? malloc(length) : NULL;
    if (length > 0 && copy == NULL) {
        storage->has_lost_changes = true;
    } else {
        if (length > 0)
            memcpy(copy, bytes, length);
        storage->changes[storage->change_count++] =
            (fault_change){.kind = kind, .file = file, .place = place, .length = length, .bytes = copy};
    }
    fault_storage_leave(storage);
}

void fault_record_forget(fault_storage *storage)
{
    for (int64_t i = 0; i < storage->change_count; i++)
        free(storage->changes[i].bytes);
    free(storage->changes);
    storage->changes = NULL;
    storage->change_count = storage->change_capacity = 0;
    storage->has_lost_changes = false;
}

void fault_storage_record(fault_storage *storage, bool on)
{
    fault_storage_enter(storage);
    if (on)
        fault_record_forget(storage);
    storage->is_recording = on;
    fault_storage_leave(storage);
}

void fault_storage_mark(fault_storage *storage, int64_t mark)
{
    fault_record_add(storage, FAULT_MARK, -1, mark, NULL, 0);
}

int64_t fault_storage_recorded(fault_storage *storage)
{
    fault_storage_enter(storage);
    const int64_t count = storage->has_lost_changes ? -1 : storage->change_count;
    fault_storage_leave(storage);
    return count;
}

fault_recorded fault_storage_change(fault_storage *storage, int64_t number)
{
    fault_storage_enter(storage);
    const fault_change *change = &storage->changes[number];
    const fault_recorded recorded = {
        .kind = change->kind,
        .file = change->file >= 0 ? storage->files[change->file] : "",
        .place = change->place,
        .length = (int64_t)change->length,
    };
    fault_storage_leave(storage);
    return recorded;
}
