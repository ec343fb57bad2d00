#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "CMobileDeflate.h"

enum {
    // Of 1 to 3: level 3 leaves 1 % less, and takes a quarter more time.
    LEVEL = 2,
    // A call of the library takes and gives lengths of 32 bits.
    PIECE = 1 << 30,
};

struct md_compressor {
    struct isal_zstream stream;
    uint8_t memory[ISAL_DEF_LVL2_DEFAULT];
};

static void begin(md_compressor *compressor)
{
    struct isal_zstream *const stream = &compressor->stream;
    isal_deflate_init(stream);
    stream->level = LEVEL;
    stream->level_buf = compressor->memory;
    stream->level_buf_size = sizeof compressor->memory;
    stream->gzip_flag = IGZIP_ZLIB;
    stream->flush = NO_FLUSH;
}

md_compressor *md_compressor_create(void)
{
    md_compressor *const compressor = malloc(sizeof *compressor);
    if (compressor != NULL)
        begin(compressor);
    return compressor;
}

void md_compressor_free(md_compressor *compressor)
{
    free(compressor);
}

static uint32_t piece(size_t length)
{
    return length < PIECE ? (uint32_t)length : PIECE;
}

md_step md_compress(md_compressor *compressor, const uint8_t *text, size_t length, bool is_last, uint8_t *out, size_t room)
{
    struct isal_zstream *const stream = &compressor->stream;
    const uint32_t input = piece(length), output = piece(room);
    // The library does not write to its input, whose pointer is not const.
    stream->next_in = (uint8_t *)(uintptr_t)text;
    stream->avail_in = input;
    stream->end_of_stream = is_last && input == length;
    stream->next_out = out;
    stream->avail_out = output;
    const bool has_failed = isal_deflate(stream) != COMP_OK;
    const md_step step = {input - stream->avail_in, output - stream->avail_out, stream->internal_state.state == ZSTATE_END, has_failed};
    if (step.is_end || has_failed)
        begin(compressor);
    return step;
}
