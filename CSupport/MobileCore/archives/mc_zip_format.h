/// mc_zip_format.h: the records of a ZIP archive. Internal. All numbers are little-endian.
///
///     local header, name, extra, data, [descriptor]      per entry
///     directory record, name, extra, comment             per entry
///     end record, comment
#ifndef MC_ZIP_FORMAT_H
#define MC_ZIP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum {
    ZIP_LOCAL_BYTES = 30,
    ZIP_DIRECTORY_BYTES = 46,
    ZIP_END_BYTES = 22,
    ZIP_DESCRIPTOR_BYTES = 16,
    ZIP_COMMENT_MAXIMUM = 65535,
    ZIP_STORED = 0,
    ZIP_DEFLATED = 8,
    ZIP_FLAG_ENCRYPTED = 1,
    ZIP_FLAG_DESCRIPTOR = 8,  ///< CRC and lengths follow the data
    ZIP_FLAG_UTF8 = 2048,
    ZIP_VERSION = 20,  ///< of the format: deflated entries
    ZIP_PIECE_BYTES = 64 * 1024
};

#define ZIP_LOCAL_SIGNATURE UINT32_C(0x04034b50)
#define ZIP_DIRECTORY_SIGNATURE UINT32_C(0x02014b50)
#define ZIP_END_SIGNATURE UINT32_C(0x06054b50)
#define ZIP_DESCRIPTOR_SIGNATURE UINT32_C(0x08074b50)
/// The number that announces ZIP64 in place of a length or an offset.
#define ZIP_64 UINT32_C(0xFFFFFFFF)

static inline uint16_t zip_read_16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t zip_read_32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline void zip_write_16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value & 0xFF);
    at[1] = (uint8_t)(value >> 8);
}

static inline void zip_write_32(uint8_t *at, uint32_t value)
{
    zip_write_16(at, (uint16_t)(value & 0xFFFF));
    zip_write_16(at + 2, (uint16_t)(value >> 16));
}

#endif
