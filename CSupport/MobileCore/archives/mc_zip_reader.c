/// mc_zip_reader.c: reads the directory of a ZIP archive, and extracts its entries.
#define _POSIX_C_SOURCE 200809L  // pread, O_CLOEXEC
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "archives/mc_zip_format.h"
#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "base/mc_options.h"
#include "mc_zip.h"

/// An entry with the facts that only the reader needs.
typedef struct zip_item {
    mc_zip_entry entry;
    uint32_t offset;  // of its local header
    uint16_t flags, method;
} zip_item;

struct mc_zip {
    mc_zip_options options;
    int file;  // -1: the caller's source
    zip_item *items;
    size_t count;
    char *names;
    uint64_t directory;  // where the directory begins, and the data must have ended
};

static mc_status damaged(mc_error *error, uint64_t offset, const char *found)
{
    return mc_fail_at(error, MC_ERROR_COMPRESSION, (int64_t)offset, 0, "ZIP archive, byte %" PRIu64 ": %s", offset, found);
}

/// Reads a range, which is checked against the archive's length.
static mc_status read_range(const mc_zip *zip, uint64_t offset, void *buffer, size_t length, mc_error *error)
{
    if (offset > zip->options.length || length > zip->options.length - offset)
        return damaged(error, zip->options.length, "it ended too early");
    return length == 0 ? MC_OK : zip->options.read(zip->options.context, offset, buffer, length, error);
}

/// Finds the end record, which a comment of up to 64 KB may follow.
static mc_status find_end(const mc_zip *zip, uint8_t record[ZIP_END_BYTES], uint64_t *place, mc_error *error)
{
    const uint64_t length = zip->options.length;
    if (length < ZIP_END_BYTES)
        return damaged(error, length, "it is too short");
    const size_t tail = (size_t)(length < ZIP_END_BYTES + ZIP_COMMENT_MAXIMUM ? length : ZIP_END_BYTES + ZIP_COMMENT_MAXIMUM);
    uint8_t *const bytes = mc_allocate(tail);
    if (bytes == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    mc_status status = read_range(zip, length - tail, bytes, tail, error);
    if (status != MC_OK)
        goto done;
    status = MC_ERROR_COMPRESSION;
    for (size_t at = tail - ZIP_END_BYTES + 1; at-- > 0;) {
        // The comment must reach exactly to the end: a signature inside of a comment is not an end record.
        if (zip_read_32(bytes + at) == ZIP_END_SIGNATURE && zip_read_16(bytes + at + 20) == tail - at - ZIP_END_BYTES) {
            memcpy(record, bytes + at, ZIP_END_BYTES);
            *place = length - tail + at;
            status = MC_OK;
            break;
        }
    }
    if (status != MC_OK)
        (void)damaged(error, length, "it has no end record");

done:
    mc_free(bytes);
    return status;
}

/// Takes one record of the directory. `names` is where its name goes.
static mc_status read_item(const mc_zip *zip, uint64_t offset, const uint8_t *record, zip_item *item, mc_error *error)
{
    item->flags = zip_read_16(record + 8);
    item->method = zip_read_16(record + 10);
    item->entry.crc = zip_read_32(record + 16);
    item->entry.packed = zip_read_32(record + 20);
    item->entry.size = zip_read_32(record + 24);
    item->entry.name_length = zip_read_16(record + 28);
    item->offset = zip_read_32(record + 42);
    if (item->entry.packed == ZIP_64 || item->entry.size == ZIP_64 || item->offset == ZIP_64)
        return mc_fail_at(error, MC_ERROR_LIMIT, (int64_t)offset, 0, "ZIP archive: entries of 4 GB and more are not supported");
    if (item->entry.name_length > MC_ZIP_NAME_MAXIMUM)
        return mc_fail_at(error, MC_ERROR_LIMIT, (int64_t)offset, 0, "ZIP archive: a name of %zu bytes; at most %d are allowed",
                          item->entry.name_length, (int)MC_ZIP_NAME_MAXIMUM);
    if (item->entry.name_length == 0)
        return damaged(error, offset, "an entry has no name");
    if ((uint64_t)item->offset + ZIP_LOCAL_BYTES > zip->directory || item->entry.packed > zip->directory)
        return damaged(error, offset, "an entry lies outside of the archive");
    return MC_OK;
}

/// Reads the records of the directory between `zip->directory` and `end`.
static mc_status read_directory(mc_zip *zip, size_t count, uint64_t end, mc_error *error)
{
    uint8_t record[ZIP_DIRECTORY_BYTES];
    const size_t room = (size_t)(end - zip->directory);  // names are shorter than their records
    zip->items = mc_allocate_zeroed(count + 1, sizeof *zip->items);
    zip->names = mc_allocate(room + 1);
    if (zip->items == NULL || zip->names == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    uint64_t at = zip->directory;
    size_t used = 0;
    for (size_t index = 0; index < count; index++) {
        zip_item *const item = &zip->items[index];
        if (end - at < ZIP_DIRECTORY_BYTES)
            return damaged(error, at, "its directory ended too early");
        mc_status status = read_range(zip, at, record, sizeof record, error);
        if (status != MC_OK)
            return status;
        if (zip_read_32(record) != ZIP_DIRECTORY_SIGNATURE)
            return damaged(error, at, "a record of its directory was expected");
        status = read_item(zip, at, record, item, error);
        if (status != MC_OK)
            return status;
        const uint64_t whole =
            (uint64_t)ZIP_DIRECTORY_BYTES + item->entry.name_length + zip_read_16(record + 30) + zip_read_16(record + 32);
        if (whole > end - at)
            return damaged(error, at, "its directory ended too early");
        item->entry.name = zip->names + used;
        status = read_range(zip, at + ZIP_DIRECTORY_BYTES, zip->names + used, item->entry.name_length, error);
        if (status != MC_OK)
            return status;
        used += item->entry.name_length;
        at += whole;
    }
    if (at != end)
        return damaged(error, at, "its directory is longer than its entries");
    zip->count = count;
    return MC_OK;
}

static mc_status read_archive(mc_zip *zip, mc_error *error)
{
    uint8_t record[ZIP_END_BYTES] = {0};
    uint64_t end = 0;
    const mc_status status = find_end(zip, record, &end, error);
    if (status != MC_OK)
        return status;
    const size_t count = zip_read_16(record + 10);
    const uint32_t size = zip_read_32(record + 12), offset = zip_read_32(record + 16);
    if (zip_read_16(record + 4) != 0 || zip_read_16(record + 6) != 0 || zip_read_16(record + 8) != count)
        return mc_fail_at(error, MC_ERROR_LIMIT, (int64_t)end, 0, "ZIP archive: archives of several parts are not supported");
    if (count > MC_ZIP_ENTRIES_MAXIMUM || size == ZIP_64 || offset == ZIP_64)
        return mc_fail_at(error, MC_ERROR_LIMIT, (int64_t)end, 0, "ZIP archive: %zu entries; at most %d, below 4 GB, are supported", count,
                          (int)MC_ZIP_ENTRIES_MAXIMUM);
    if ((uint64_t)offset + size != end)
        return damaged(error, end, "its directory is not in the announced place");
    if (size / ZIP_DIRECTORY_BYTES < count)
        return damaged(error, end, "its directory is too short for its entries");
    zip->directory = offset;
    return read_directory(zip, count, end, error);
}

mc_status mc_zip_open(const mc_zip_options *options, mc_zip **out, mc_error *error)
{
    *out = NULL;
    mc_status status = MC_OPTIONS_CHECK(mc_zip_options, options, error);
    if (status != MC_OK)
        return status;
    mc_zip *const zip = mc_allocate_zeroed(1, sizeof *zip);
    if (zip == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    zip->options = *options;
    zip->file = -1;
    status = read_archive(zip, error);
    if (status == MC_OK)
        *out = zip;
    else
        mc_zip_free(zip);
    return status;
}

static mc_status read_file(void *context, uint64_t offset, void *buffer, size_t length, mc_error *error)
{
    const int file = (int)(intptr_t)context;
    size_t done = 0;
    while (done < length) {
        const ssize_t got = pread(file, (uint8_t *)buffer + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return mc_fail(error, MC_ERROR_IO, "ZIP archive, byte %" PRIu64 ": %s", offset + done,
                           got == 0 ? "it has become shorter" : strerror(errno));
        done += (size_t)got;
    }
    return MC_OK;
}

mc_status mc_zip_open_file(const char *path, uint64_t entry_maximum, uint32_t ratio_maximum, mc_zip **out, mc_error *error)
{
    *out = NULL;
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return mc_fail(error, errno == ENOENT ? MC_ERROR_NOT_FOUND : MC_ERROR_IO, "open \"%.80s\": %s", path, strerror(errno));
    mc_status result = MC_OK;
    if (fstat(file, &status) != 0 || status.st_size < 0)
        result = mc_fail(error, MC_ERROR_IO, "open \"%.80s\": %s", path, strerror(errno));
    if (result == MC_OK) {
        const mc_zip_options options = {
            MC_OPTIONS(mc_zip_options),        .read = read_file,
            .context = (void *)(intptr_t)file, .length = (uint64_t)status.st_size,
            .entry_maximum = entry_maximum,    .ratio_maximum = ratio_maximum,
        };
        result = mc_zip_open(&options, out, error);
    }
    if (result == MC_OK)
        (*out)->file = file;
    else
        (void)close(file);
    return result;
}

size_t mc_zip_entry_count(const mc_zip *zip)
{
    return zip->count;
}

const mc_zip_entry *mc_zip_entry_at(const mc_zip *zip, size_t index)
{
    return index < zip->count ? &zip->items[index].entry : NULL;
}

void mc_zip_free(mc_zip *zip)
{
    if (zip == NULL)
        return;
    if (zip->file >= 0)
        (void)close(zip->file);
    mc_free(zip->items);
    mc_free(zip->names);
    mc_free(zip);
}

/// An entry on its way out.
typedef struct zip_extraction {
    mc_zip *zip;
    const zip_item *item;
    mc_zip_sink sink;
    void *context;
    uint64_t at, left;  // the place of the next packed bytes, and their number
    uint64_t written;
    uint64_t maximum;
    uint32_t crc;
    uint8_t in[ZIP_PIECE_BYTES], out[ZIP_PIECE_BYTES];
} zip_extraction;

/// Hands extracted bytes over, and counts them.
static mc_status deliver(zip_extraction *entry, const uint8_t *bytes, size_t length, mc_error *error)
{
    enum { UNCHECKED = 1 << 20 };
    if (length == 0)
        return MC_OK;
    entry->written += length;
    if (entry->written > entry->maximum)
        return mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: an entry is longer than %" PRIu64 " bytes", entry->maximum);
    const uint32_t ratio = entry->zip->options.ratio_maximum == 0 ? 1000 : entry->zip->options.ratio_maximum;
    if (entry->written > UNCHECKED && entry->written / ratio > entry->item->entry.packed)
        return mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: an entry grows to more than %" PRIu32 " times its size", ratio);
    if (entry->written > entry->item->entry.size)
        return damaged(error, entry->at, "an entry is longer than announced");
    entry->crc = (uint32_t)crc32(entry->crc, bytes, (uInt)length);
    return entry->sink(entry->context, bytes, length, error);
}

/// Reads the next packed bytes into `in`.
static mc_status fetch(zip_extraction *entry, size_t *length, mc_error *error)
{
    *length = entry->left < ZIP_PIECE_BYTES ? (size_t)entry->left : ZIP_PIECE_BYTES;
    const mc_status status = read_range(entry->zip, entry->at, entry->in, *length, error);
    entry->at += *length;
    entry->left -= *length;
    return status;
}

static mc_status extract_stored(zip_extraction *entry, mc_error *error)
{
    while (entry->left > 0) {
        size_t length = 0;
        mc_status status = fetch(entry, &length, error);
        if (status == MC_OK)
            status = deliver(entry, entry->in, length, error);
        if (status != MC_OK)
            return status;
    }
    return MC_OK;
}

/// Inflates what is in `stream`; `*ended` is whether the deflated data is complete.
static mc_status inflate_piece(zip_extraction *entry, z_stream *stream, bool *ended, mc_error *error)
{
    do {
        stream->next_out = entry->out;
        stream->avail_out = ZIP_PIECE_BYTES;
        const int code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR)
            return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return damaged(error, entry->at, "its deflated data is damaged");
        const mc_status status = deliver(entry, entry->out, ZIP_PIECE_BYTES - stream->avail_out, error);
        if (status != MC_OK)
            return status;
        *ended = code == Z_STREAM_END;
    } while (!*ended && stream->avail_out == 0);
    return MC_OK;
}

static mc_status extract_deflated(zip_extraction *entry, mc_error *error)
{
    z_stream stream = {.zalloc = mc_zlib_allocate, .zfree = mc_zlib_free};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    mc_status status = MC_OK;
    bool ended = false;
    while (status == MC_OK && !ended && entry->left > 0) {
        size_t length = 0;
        status = fetch(entry, &length, error);
        stream.next_in = entry->in;
        stream.avail_in = (uInt)length;
        if (status == MC_OK)
            status = inflate_piece(entry, &stream, &ended, error);
    }
    if (status == MC_OK && !ended)
        status = damaged(error, entry->at, "its deflated data ended too early");
    if (status == MC_OK && (stream.avail_in > 0 || entry->left > 0))
        status = damaged(error, entry->at, "bytes follow its deflated data");
    (void)inflateEnd(&stream);
    return status;
}

/// Checks the local header and finds the data after it.
static mc_status find_data(zip_extraction *entry, mc_error *error)
{
    uint8_t header[ZIP_LOCAL_BYTES];
    const zip_item *const item = entry->item;
    const mc_status status = read_range(entry->zip, item->offset, header, sizeof header, error);
    if (status != MC_OK)
        return status;
    if (zip_read_32(header) != ZIP_LOCAL_SIGNATURE || zip_read_16(header + 8) != item->method
        || zip_read_16(header + 26) != item->entry.name_length)
        return damaged(error, item->offset, "an entry differs from its record in the directory");
    entry->at = (uint64_t)item->offset + ZIP_LOCAL_BYTES + item->entry.name_length + zip_read_16(header + 28);
    entry->left = item->entry.packed;
    if (entry->at > entry->zip->directory || entry->left > entry->zip->directory - entry->at)
        return damaged(error, item->offset, "an entry lies outside of the archive");
    return MC_OK;
}

mc_status mc_zip_extract(mc_zip *zip, size_t index, mc_zip_sink sink, void *context, mc_error *error)
{
    if (index >= zip->count)
        return mc_fail(error, MC_ERROR_NOT_FOUND, "ZIP archive: there is no entry %zu", index);
    const zip_item *const item = &zip->items[index];
    if ((item->flags & ZIP_FLAG_ENCRYPTED) != 0 || (item->method != ZIP_STORED && item->method != ZIP_DEFLATED))
        return mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: an entry is encrypted, or packed by the unknown method %u",
                       (unsigned)item->method);
    zip_extraction *const entry = mc_allocate(sizeof *entry);
    if (entry == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    entry->zip = zip;
    entry->item = item;
    entry->sink = sink;
    entry->context = context;
    entry->written = 0;
    entry->maximum = zip->options.entry_maximum == 0 ? UINT32_MAX : zip->options.entry_maximum;
    entry->crc = 0;
    mc_status status = find_data(entry, error);
    if (status == MC_OK)
        status = item->method == ZIP_STORED ? extract_stored(entry, error) : extract_deflated(entry, error);
    if (status == MC_OK && entry->written != item->entry.size)
        status = damaged(error, entry->at, "an entry is shorter than announced");
    if (status == MC_OK && entry->crc != item->entry.crc)
        status = damaged(error, entry->at, "the sum of an entry is wrong");
    mc_free(entry);
    return status;
}
