#include "br_scan.h"

#include <MobileCore.h>
#include <stdlib.h>
#include <zlib.h>

#include "br_checksum.h"

enum { COLUMNS = 12, CHUNK = 64 * 1024 };

static mc_status add_rows(void *context, const mc_row_batch *batch, mc_error *error)
{
    uint64_t *const sum = context;
    (void)error;
    for (size_t index = 0; index < batch->row_count * batch->column_count; index++) {
        const mc_value *const cell = &batch->cells[index];
        *sum = cell->kind == MC_VALUE_TEXT ? br_checksum_bytes(*sum, cell->value.bytes, cell->length)
                                           : br_checksum_number(*sum, cell->value.integer);
    }
    return MC_OK;
}

int64_t br_scan_rows(const char *json, size_t length, uint64_t *sum)
{
    static const char *const names[COLUMNS] = {"_sk",  "number", "small",  "price",  "rate",  "moment",
                                               "flag", "words3", "words8", "quoted", "place", "digest"};
    mc_column columns[COLUMNS];
    for (int column = 0; column < COLUMNS; column++)
        columns[column] = (mc_column){.name = names[column], .type = column < 3 ? MC_COLUMN_INTEGER : MC_COLUMN_TEXT, .required = true};
    columns[3] = (mc_column){.name = names[3], .type = MC_COLUMN_DECIMAL, .precision = 7, .scale = 2, .required = true};
    columns[4] = (mc_column){.name = names[4], .type = MC_COLUMN_DECIMAL, .precision = 7, .scale = 6, .required = true};
    columns[6].type = MC_COLUMN_BOOLEAN;
    const mc_rows_options options = {MC_OPTIONS(mc_rows_options), .columns = columns, .column_count = COLUMNS,
                                     .sink = sum != NULL ? add_rows : NULL, .context = sum};
    mc_rows *rows = NULL;
    mc_status status = mc_rows_open(&options, &rows, NULL);
    for (size_t at = 0; at < length && status == MC_OK; at += CHUNK)
        status = mc_rows_push(rows, json + at, length - at < CHUNK ? length - at : CHUNK, NULL);
    if (status == MC_OK)
        status = mc_rows_finish(rows, NULL);
    const int64_t count = status == MC_OK ? mc_rows_count(rows) : -1;
    mc_rows_free(rows);
    return count;
}

struct br_deflater {
    z_stream stream;
    int level;
    size_t capacity;
    unsigned char *bytes;
    bool open;
};

br_deflater *br_deflater_open(int level, size_t capacity)
{
    br_deflater *const deflater = calloc(1, sizeof *deflater);
    if (deflater == NULL)
        return NULL;
    deflater->level = level;
    deflater->capacity = capacity;
    deflater->bytes = malloc(capacity);
    if (deflater->bytes == NULL) {
        free(deflater);
        return NULL;
    }
    memset(deflater->bytes, 0xFF, capacity);  // makes the memory resident before the measurement
    return deflater;
}

void br_deflater_free(br_deflater *deflater)
{
    if (deflater == NULL)
        return;
    if (deflater->open)
        deflateEnd(&deflater->stream);
    free(deflater->bytes);
    free(deflater);
}

bool br_deflater_begin(br_deflater *deflater)
{
    if (deflater->open)
        return deflateReset(&deflater->stream) == Z_OK;
    deflater->open = deflateInit(&deflater->stream, deflater->level) == Z_OK;
    return deflater->open;
}

const void *br_deflater_take(br_deflater *deflater, const void *bytes, size_t length, bool last, size_t *deflated)
{
    z_stream *const stream = &deflater->stream;
    stream->next_in = (Bytef *)(uintptr_t)bytes;
    stream->avail_in = (uInt)length;
    stream->next_out = deflater->bytes;
    stream->avail_out = (uInt)deflater->capacity;
    const int result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
    *deflated = deflater->capacity - stream->avail_out;
    return (last ? result == Z_STREAM_END : result == Z_OK) && stream->avail_in == 0 ? deflater->bytes : NULL;
}
