/// mc_zip_writer.c: writes a ZIP archive of deflated entries to a sink.
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "archives/mc_zip_format.h"
#include "base/mc_byte_buffer.h"
#include "base/mc_fail.h"
#include "base/mc_memory.h"
#include "mc_zip.h"

/// between ---begin---> in entry ---end---> between ---finish---> finished. An error: failed.
typedef enum writer_state { STATE_BETWEEN, STATE_IN_ENTRY, STATE_FINISHED, STATE_FAILED } writer_state;

struct mc_zip_writer {
    mc_zip_sink sink;
    void *context;
    writer_state state;
    mc_byte_buffer directory;  // its records so far
    size_t count;
    uint64_t written;
    // The entry in progress.
    uint64_t offset, size, packed;
    uint32_t crc;
    size_t record;  // where its record begins in the directory
    bool stream_ready;
    z_stream stream;
    uint8_t out[ZIP_PIECE_BYTES];
};

static mc_status write_bytes(mc_zip_writer *writer, const void *bytes, size_t length, mc_error *error)
{
    if (length == 0)
        return MC_OK;
    writer->written += length;
    if (writer->written >= ZIP_64)
        return mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: 4 GB and more are not supported");
    return writer->sink(writer->context, bytes, length, error);
}

/// Remembers a failure, after which the writer only accepts `mc_zip_writer_free`.
static mc_status settled(mc_zip_writer *writer, mc_status status)
{
    if (status != MC_OK)
        writer->state = STATE_FAILED;
    return status;
}

static mc_status expect(const mc_zip_writer *writer, writer_state state, mc_error *error)
{
    return writer->state == state ? MC_OK : mc_fail(error, MC_ERROR_MISUSE, "ZIP archive: a call out of order, or after an error");
}

mc_status mc_zip_writer_open(mc_zip_sink sink, void *context, mc_zip_writer **out, mc_error *error)
{
    *out = mc_allocate_zeroed(1, sizeof **out);
    if (*out == NULL)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    (*out)->sink = sink;
    (*out)->context = context;
    (*out)->directory.maximum = (size_t)MC_ZIP_ENTRIES_MAXIMUM * (ZIP_DIRECTORY_BYTES + MC_ZIP_NAME_MAXIMUM);
    return MC_OK;
}

/// Writes the fields that local header and directory record share: flags, method, date and, where they are known, sum and lengths.
static void describe(const mc_zip_writer *writer, uint8_t *at, size_t name_length, bool has_lengths)
{
    zip_write_16(at, ZIP_FLAG_DESCRIPTOR | ZIP_FLAG_UTF8);
    zip_write_16(at + 2, ZIP_DEFLATED);
    zip_write_16(at + 4, 0);
    zip_write_16(at + 6, 0x21);  // 1980-01-01: equal contents give equal archives
    zip_write_32(at + 8, has_lengths ? writer->crc : 0);
    zip_write_32(at + 12, has_lengths ? (uint32_t)writer->packed : 0);
    zip_write_32(at + 16, has_lengths ? (uint32_t)writer->size : 0);
    zip_write_16(at + 20, (uint16_t)name_length);
}

static mc_status begin(mc_zip_writer *writer, const char *name, size_t name_length, mc_error *error)
{
    uint8_t header[ZIP_LOCAL_BYTES] = {0}, record[ZIP_DIRECTORY_BYTES] = {0};
    writer->stream = (z_stream){.zalloc = mc_zlib_allocate, .zfree = mc_zlib_free};
    if (deflateInit2(&writer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "ZIP archive: no memory");
    writer->stream_ready = true;
    writer->offset = writer->written;
    writer->size = writer->packed = 0;
    writer->crc = 0;
    zip_write_32(header, ZIP_LOCAL_SIGNATURE);
    zip_write_16(header + 4, ZIP_VERSION);
    describe(writer, header + 6, name_length, false);
    writer->record = writer->directory.length;
    mc_status status = mc_byte_buffer_append(&writer->directory, record, sizeof record);
    if (status == MC_OK)
        status = mc_byte_buffer_append(&writer->directory, name, name_length);
    if (status != MC_OK)
        return mc_fail(error, status, "ZIP archive: no memory");
    status = write_bytes(writer, header, sizeof header, error);
    return status == MC_OK ? write_bytes(writer, name, name_length, error) : status;
}

mc_status mc_zip_writer_begin(mc_zip_writer *writer, const char *name, size_t name_length, mc_error *error)
{
    mc_status status = expect(writer, STATE_BETWEEN, error);
    if (status != MC_OK)
        return status;
    if (name_length == 0)
        return mc_fail(error, MC_ERROR_MISUSE, "ZIP archive: an entry needs a name");
    if (name_length > MC_ZIP_NAME_MAXIMUM || writer->count == MC_ZIP_ENTRIES_MAXIMUM)
        return mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: at most %d entries, and names of at most %d bytes", (int)MC_ZIP_ENTRIES_MAXIMUM,
                       (int)MC_ZIP_NAME_MAXIMUM);
    status = begin(writer, name, name_length, error);
    writer->state = STATE_IN_ENTRY;
    return settled(writer, status);
}

/// Deflates the input of the stream; with Z_FINISH to its end.
static mc_status deflate_input(mc_zip_writer *writer, int flush, mc_error *error)
{
    do {
        writer->stream.next_out = writer->out;
        writer->stream.avail_out = ZIP_PIECE_BYTES;
        (void)deflate(&writer->stream, flush);  // cannot fail: the state is valid and there is room
        const size_t length = ZIP_PIECE_BYTES - writer->stream.avail_out;
        writer->packed += length;
        const mc_status status = write_bytes(writer, writer->out, length, error);
        if (status != MC_OK)
            return status;
    } while (writer->stream.avail_out == 0);
    return MC_OK;
}

mc_status mc_zip_writer_push(mc_zip_writer *writer, const void *bytes, size_t length, mc_error *error)
{
    enum { LONGEST = 1 << 30 };  // zlib counts in 32 bits
    mc_status status = expect(writer, STATE_IN_ENTRY, error);
    const uint8_t *next = bytes;
    while (status == MC_OK && length > 0) {
        const size_t piece = length < LONGEST ? length : LONGEST;
        writer->size += piece;
        if (writer->size >= ZIP_64)
            return settled(writer, mc_fail(error, MC_ERROR_LIMIT, "ZIP archive: entries of 4 GB and more are not supported"));
        writer->crc = (uint32_t)crc32(writer->crc, next, (uInt)piece);
        writer->stream.next_in = (Bytef *)(uintptr_t)next;  // zlib does not write there; its header lacks the const
        writer->stream.avail_in = (uInt)piece;
        status = settled(writer, deflate_input(writer, Z_NO_FLUSH, error));
        next += piece;
        length -= piece;
    }
    return status;
}

static mc_status end_entry(mc_zip_writer *writer, mc_error *error)
{
    uint8_t descriptor[ZIP_DESCRIPTOR_BYTES];
    uint8_t *const record = writer->directory.bytes + writer->record;
    const size_t name_length = writer->directory.length - writer->record - ZIP_DIRECTORY_BYTES;
    const mc_status status = deflate_input(writer, Z_FINISH, error);
    (void)deflateEnd(&writer->stream);
    writer->stream_ready = false;
    if (status != MC_OK)
        return status;
    zip_write_32(descriptor, ZIP_DESCRIPTOR_SIGNATURE);
    zip_write_32(descriptor + 4, writer->crc);
    zip_write_32(descriptor + 8, (uint32_t)writer->packed);
    zip_write_32(descriptor + 12, (uint32_t)writer->size);
    zip_write_32(record, ZIP_DIRECTORY_SIGNATURE);
    zip_write_16(record + 4, ZIP_VERSION);
    zip_write_16(record + 6, ZIP_VERSION);
    describe(writer, record + 8, name_length, true);
    zip_write_32(record + 42, (uint32_t)writer->offset);
    writer->count++;
    return write_bytes(writer, descriptor, sizeof descriptor, error);
}

mc_status mc_zip_writer_end(mc_zip_writer *writer, mc_error *error)
{
    const mc_status status = expect(writer, STATE_IN_ENTRY, error);
    if (status != MC_OK)
        return status;
    writer->state = STATE_BETWEEN;
    return settled(writer, end_entry(writer, error));
}

static mc_status write_directory(mc_zip_writer *writer, mc_error *error)
{
    uint8_t record[ZIP_END_BYTES] = {0};
    const uint64_t offset = writer->written;
    const mc_status status = write_bytes(writer, writer->directory.bytes, writer->directory.length, error);
    if (status != MC_OK)
        return status;
    zip_write_32(record, ZIP_END_SIGNATURE);
    zip_write_16(record + 8, (uint16_t)writer->count);
    zip_write_16(record + 10, (uint16_t)writer->count);
    zip_write_32(record + 12, (uint32_t)writer->directory.length);
    zip_write_32(record + 16, (uint32_t)offset);
    return write_bytes(writer, record, sizeof record, error);
}

mc_status mc_zip_writer_finish(mc_zip_writer *writer, mc_error *error)
{
    const mc_status status = expect(writer, STATE_BETWEEN, error);
    if (status != MC_OK)
        return status;
    writer->state = STATE_FINISHED;
    return settled(writer, write_directory(writer, error));
}

void mc_zip_writer_free(mc_zip_writer *writer)
{
    if (writer == NULL)
        return;
    if (writer->stream_ready)
        (void)deflateEnd(&writer->stream);
    mc_byte_buffer_free(&writer->directory);
    mc_free(writer);
}
