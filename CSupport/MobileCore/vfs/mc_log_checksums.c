#include "vfs/mc_log_checksums.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mc_memory.h"

enum {
    LOG_SALT = 16,      // 8 bytes, the same in each frame of the log
    LOG_CHECKSUM = 24,  // 8 bytes, the seed of the first frame's checksum
    FRAME_SALT = 8,
    SALT_SIZE = 8,
    FRAME_SUMMED = 8,  // bytes at the beginning of a frame's header that its checksum covers, in addition to the page
};

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void put(unsigned char *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void sum(uint32_t sums[2], const unsigned char *bytes, sqlite3_int64 length, bool is_big_endian)
{
    for (sqlite3_int64 at = 0; at < length; at += 8) {
        const unsigned char *const pair = bytes + at;
        sums[0] += (is_big_endian ? big_endian(pair) : little_endian(pair)) + sums[1];
        sums[1] += (is_big_endian ? big_endian(pair + 4) : little_endian(pair + 4)) + sums[0];
    }
}

/// Whether SQLite has postponed the checksum: it clears the salt with it.
static bool is_put_off(const unsigned char *header)
{
    static const unsigned char nothing[SALT_SIZE + MC_FRAME_CHECKSUM_SIZE];
    return memcmp(header + FRAME_SALT, nothing, sizeof nothing) == 0;
}

/// Gives the frame at `place` the checksum that continues `sums`, which become its own. `frame` has room for header and page.
static int complete_frame(sqlite3_file *log, const unsigned char *log_header, sqlite3_int64 place, unsigned char *frame,
                          sqlite3_int64 frame_size, uint32_t sums[2])
{
    const int code = log->pMethods->xRead(log, frame, (int)frame_size, place);
    if (code != SQLITE_OK)
        return code;
    const bool is_big_endian = (log_header[3] & 1) != 0;  // the last bit of the magic number
    sum(sums, frame, FRAME_SUMMED, is_big_endian);
    sum(sums, frame + MC_FRAME_HEADER_SIZE, frame_size - MC_FRAME_HEADER_SIZE, is_big_endian);
    memcpy(frame + FRAME_SALT, log_header + LOG_SALT, SALT_SIZE);
    put(frame + MC_FRAME_CHECKSUM, sums[0]);
    put(frame + MC_FRAME_CHECKSUM + 4, sums[1]);
    return log->pMethods->xWrite(log, frame, MC_FRAME_HEADER_SIZE, place);
}

int mc_log_checksums_complete(sqlite3_file *log, sqlite3_int64 frame_size, sqlite3_int64 frame, sqlite3_int64 last, unsigned char *checksum)
{
    unsigned char header[MC_FRAME_HEADER_SIZE], log_header[MC_LOG_HEADER_SIZE];
    unsigned char *bytes = NULL;
    const sqlite3_int64 end = frame < last ? frame : last;
    sqlite3_int64 place = end;
    int code;
    while ((code = log->pMethods->xRead(log, header, MC_FRAME_HEADER_SIZE, place)) == SQLITE_OK && is_put_off(header)) {
        place -= frame_size;
        if (place < MC_LOG_HEADER_SIZE)
            break;
    }
    if (code != SQLITE_OK)
        return code;
    memcpy(checksum, header + MC_FRAME_CHECKSUM, MC_FRAME_CHECKSUM_SIZE);
    if (place == end)
        return SQLITE_OK;

    bytes = mc_allocate((size_t)frame_size);
    code = bytes != NULL ? log->pMethods->xRead(log, log_header, MC_LOG_HEADER_SIZE, 0) : SQLITE_IOERR_NOMEM;
    if (code != SQLITE_OK)
        goto done;
    if (place < MC_LOG_HEADER_SIZE)
        memcpy(checksum, log_header + LOG_CHECKSUM, MC_FRAME_CHECKSUM_SIZE);
    uint32_t sums[2] = {big_endian(checksum), big_endian(checksum + 4)};
    for (place += frame_size; place <= end && code == SQLITE_OK; place += frame_size)
        code = complete_frame(log, log_header, place, bytes, frame_size, sums);
    put(checksum, sums[0]);
    put(checksum + 4, sums[1]);

done:
    mc_free(bytes);
    return code;
}
