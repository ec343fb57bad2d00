#if defined(__linux__)
#define _GNU_SOURCE  // sync_file_range
#endif
#include <stdbool.h>
#include <stddef.h>

#include "storage/mc_write_behind.h"

mc_write_behind mc_write_behind_none(const char *name)
{
    return (mc_write_behind){.name = name, .descriptor = -1};
}

#if defined(__linux__)
#include <fcntl.h>
#include <unistd.h>

enum {
    PIECE = 1024 * 1024,
    GAP = 64 * 1024,  // what SQLite writes between two runs by other ways
};

void mc_write_behind_note(mc_write_behind *behind, int64_t offset, int64_t length)
{
    if (offset < behind->end || offset > behind->end + GAP)
        behind->start = offset;
    behind->end = offset + length;
    if (!behind->is_on || behind->end - behind->start < PIECE)
        return;
    if (behind->descriptor < 0 && behind->name != NULL) {
        behind->descriptor = open(behind->name, O_WRONLY | O_CLOEXEC);
        if (behind->descriptor < 0)
            behind->name = NULL;  // not a file of the system's
    }
    if (behind->descriptor >= 0)
        (void)sync_file_range(behind->descriptor, behind->start, behind->end - behind->start, SYNC_FILE_RANGE_WRITE);
    behind->start = behind->end;
}

void mc_write_behind_close(mc_write_behind *behind)
{
    if (behind->descriptor >= 0)
        (void)close(behind->descriptor);
    behind->descriptor = -1;
}
#else
void mc_write_behind_note(mc_write_behind *behind, int64_t offset, int64_t length)
{
    (void)behind;
    (void)offset;
    (void)length;
}

void mc_write_behind_close(mc_write_behind *behind)
{
    (void)behind;
}
#endif
