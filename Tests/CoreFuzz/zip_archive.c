/// zip_archive.c: fuzzes the reader and the writer of ZIP archives (mc_zip.h).
///
/// Rules: any bytes are read or refused, without a read outside of them; an extracted entry has the length and the sum of its record, and
/// is the same the second time; the content of an entry that was written is read back, and an archive cut anywhere is refused.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz_check.h"
#include "mc_zip.h"

typedef struct bytes {
    uint8_t *start;
    size_t length;
} bytes;

static mc_status read_bytes(void *context, uint64_t offset, void *buffer, size_t length, mc_error *error)
{
    const bytes *const archive = context;
    (void)error;
    CHECK(offset <= archive->length && length <= archive->length - offset);
    memcpy(buffer, archive->start + offset, length);
    return MC_OK;
}

static mc_status append(void *context, const void *piece, size_t length, mc_error *error)
{
    bytes *const out = context;
    (void)error;
    CHECK(length > 0);
    out->start = realloc(out->start, out->length + length);
    CHECK(out->start != NULL);
    memcpy(out->start + out->length, piece, length);
    out->length += length;
    return MC_OK;
}

static mc_status open_bytes(bytes *archive, mc_zip **zip, mc_error *error)
{
    const mc_zip_options options = {MC_OPTIONS(mc_zip_options), .read = read_bytes, .context = archive, .length = archive->length,
                                    .entry_maximum = 1 << 22};
    const mc_status status = mc_zip_open(&options, zip, error);
    CHECK((status == MC_OK) == (*zip != NULL));
    return status;
}

/// Reads any bytes as an archive.
static void check_reading(const uint8_t *input, size_t length)
{
    bytes archive = {.start = (uint8_t *)(uintptr_t)input, .length = length};
    mc_zip *zip = NULL;
    mc_error error;
    if (open_bytes(&archive, &zip, &error) != MC_OK) {
        CHECK(error.message[0] != '\0');
        return;
    }
    CHECK(mc_zip_entry_at(zip, mc_zip_entry_count(zip)) == NULL);
    for (size_t index = 0; index < mc_zip_entry_count(zip) && index < 8; index++) {
        const mc_zip_entry *const entry = mc_zip_entry_at(zip, index);
        bytes first = {0}, second = {0};
        CHECK(entry->name_length > 0);
        const mc_status status = mc_zip_extract(zip, index, append, &first, &error);
        if (status == MC_OK) {
            CHECK(first.length == entry->size && (uint32_t)crc32(0, first.start, (uInt)first.length) == entry->crc);
            CHECK(mc_zip_extract(zip, index, append, &second, &error) == MC_OK && second.length == first.length);
            CHECK(first.length == 0 || memcmp(first.start, second.start, first.length) == 0);
        }
        free(first.start);
        free(second.start);
    }
    mc_zip_free(zip);
}

/// Writes the input as one or two entries, and reads them back.
static void check_writing(const uint8_t *input, size_t length)
{
    bytes archive = {0};
    mc_zip_writer *writer = NULL;
    mc_zip *zip = NULL;
    mc_error error;
    const size_t half = length / 2;
    CHECK(mc_zip_writer_open(append, &archive, &writer, &error) == MC_OK);
    CHECK(mc_zip_writer_push(writer, input, length, &error) == MC_ERROR_MISUSE);
    CHECK(mc_zip_writer_begin(writer, "first", 5, &error) == MC_OK);
    CHECK(mc_zip_writer_push(writer, input, half, &error) == MC_OK
          && mc_zip_writer_push(writer, input + half, length - half, &error) == MC_OK);
    CHECK(mc_zip_writer_end(writer, &error) == MC_OK && mc_zip_writer_begin(writer, "second", 6, &error) == MC_OK);
    CHECK(mc_zip_writer_end(writer, &error) == MC_OK && mc_zip_writer_finish(writer, &error) == MC_OK);
    mc_zip_writer_free(writer);
    CHECK(open_bytes(&archive, &zip, &error) == MC_OK && mc_zip_entry_count(zip) == 2 && mc_zip_entry_at(zip, 0)->size == length);
    bytes content = {0};
    CHECK(mc_zip_extract(zip, 0, append, &content, &error) == MC_OK && content.length == length);
    CHECK(length == 0 || memcmp(content.start, input, length) == 0);
    mc_zip_free(zip);
    bytes cut = {.start = archive.start, .length = length == 0 ? 0 : (size_t)input[0] * archive.length / 256};
    CHECK(open_bytes(&cut, &zip, &error) != MC_OK);
    free(content.start);
    free(archive.start);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
    check_reading(input, length);
    check_writing(input, length);
    return 0;
}
