/// br_checksum.h: the check sum of values in order, used to verify what was written. FNV-1a over eight bytes at a time.
#ifndef BR_CHECKSUM_H
#define BR_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t br_checksum_number(uint64_t sum, int64_t value)
{
    return ((sum ^ (uint64_t)value) + 1) * UINT64_C(0x100000001B3);
}

static inline uint64_t br_checksum_bytes(uint64_t sum, const char *bytes, size_t length)
{
    sum = br_checksum_number(sum, (int64_t)length);
    for (size_t i = 0; i < length; i += 8) {
        uint64_t part = 0;
        memcpy(&part, bytes + i, length - i < 8 ? length - i : 8);
        sum = br_checksum_number(sum, (int64_t)part);
    }
    return sum;
}

#endif
