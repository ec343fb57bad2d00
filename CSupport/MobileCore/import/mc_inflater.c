#include "import/mc_inflater.h"

#include <limits.h>

#include "base/mc_memory.h"

enum { RATIO_FREE_BYTES = 1024 * 1024 };

void mc_inflater_init(mc_inflater *inflater, mc_inflater_sink sink, void *context, int64_t bytes_maximum, int64_t ratio_maximum)
{
    *inflater = (mc_inflater){
        .sink = sink,
        .context = context,
        .bytes_maximum = bytes_maximum,
        .ratio_maximum = ratio_maximum,
    };
}

/// Determines the kind of the input from its first byte.
static mc_status begin(mc_inflater *inflater, uint8_t first, mc_error *error)
{
    inflater->kind = first == 0x1F ? MC_INFLATER_GZIP : (first & 0x0F) == 8 ? MC_INFLATER_ZLIB : MC_INFLATER_PLAIN;
    if (inflater->kind == MC_INFLATER_PLAIN)
        return MC_OK;
    const int window_bits = inflater->kind == MC_INFLATER_GZIP ? 16 + MAX_WBITS : MAX_WBITS;
    inflater->buffer = mc_allocate(MC_INFLATER_PIECE_BYTES);
    inflater->stream.zalloc = mc_zlib_allocate;
    inflater->stream.zfree = mc_zlib_free;
    if (inflater->buffer == NULL || inflateInit2(&inflater->stream, window_bits) != Z_OK)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "inflating: no memory");
    inflater->ready = true;
    return MC_OK;
}

/// Reports an error in the text before a failure of the stream.
static mc_status settle_text(const mc_inflater *inflater, mc_error *error)
{
    return inflater->sink(inflater->context, inflater->buffer, 0, error);
}

/// Whether the input is a text whose first letter is that of a zlib stream, as "HTTP/1.1 500" is.
static bool looks_like_text(const mc_inflater *inflater)
{
    const uint8_t *const header = inflater->header;
    const bool is_header = (header[0] * 256 + header[1]) % 31 == 0;  // RFC 1950, 2.2
    return inflater->kind == MC_INFLATER_ZLIB && inflater->header_length == 2 && !is_header && header[0] >= ' ' && header[1] >= ' '
        && header[1] < 0x7F;
}

static mc_status fail_damaged(const mc_inflater *inflater, mc_error *error)
{
    const mc_status status = settle_text(inflater, error);
    if (status != MC_OK)
        return status;
    if (looks_like_text(inflater))
        return mc_fail_at(error, MC_ERROR_COMPRESSION, inflater->bytes_in, 0,
                          "the input begins with \"%c%c\": it is neither JSON nor a zlib or gzip stream, but looks like another text",
                          inflater->header[0], inflater->header[1]);
    const char *const reason = inflater->stream.msg != NULL ? inflater->stream.msg : "damaged";
    return mc_fail_at(error, MC_ERROR_COMPRESSION, inflater->bytes_in, 0, "%s stream, byte %lld: %s",
                      inflater->kind == MC_INFLATER_GZIP ? "gzip" : "zlib", (long long)inflater->bytes_in, reason);
}

static mc_status check_limits(const mc_inflater *inflater, mc_error *error)
{
    if (inflater->bytes_out > inflater->bytes_maximum)
        return mc_fail_at(error, MC_ERROR_LIMIT, inflater->bytes_in, 0, "inflating: more than %lld bytes; raise the limit if that is meant",
                          (long long)inflater->bytes_maximum);
    if (inflater->bytes_out > RATIO_FREE_BYTES && inflater->bytes_out / inflater->ratio_maximum > inflater->bytes_in)
        return mc_fail_at(error, MC_ERROR_LIMIT, inflater->bytes_in, 0,
                          "inflating: %lld bytes grow to more than %lld times their size; raise the limit if that is meant",
                          (long long)inflater->bytes_in, (long long)inflater->ratio_maximum);
    return MC_OK;
}

/// Begins another gzip member (RFC 1952, 2.2): no other bytes may follow a complete stream.
static mc_status begin_member(mc_inflater *inflater, uint8_t first, mc_error *error)
{
    if (inflater->kind == MC_INFLATER_GZIP && first == 0x1F) {
        if (inflateReset(&inflater->stream) != Z_OK)
            return fail_damaged(inflater, error);
        inflater->complete = false;
        return MC_OK;
    }
    const mc_status status = settle_text(inflater, error);
    return status != MC_OK
        ? status
        : mc_fail_at(error, MC_ERROR_COMPRESSION, inflater->bytes_in, 0, "%s stream, byte %lld: expected nothing after its end",
                     inflater->kind == MC_INFLATER_GZIP ? "gzip" : "zlib", (long long)inflater->bytes_in);
}

/// Inflates up to one full buffer.
static mc_status inflate_some(mc_inflater *inflater, mc_error *error)
{
    z_stream *const stream = &inflater->stream;
    const uInt before = stream->avail_in;
    stream->next_out = inflater->buffer;
    stream->avail_out = MC_INFLATER_PIECE_BYTES;
    const int result = inflate(stream, Z_NO_FLUSH);
    const size_t made = MC_INFLATER_PIECE_BYTES - stream->avail_out;
    inflater->bytes_in += before - stream->avail_in;
    inflater->bytes_out += (int64_t)made;
    if (result == Z_MEM_ERROR)
        return mc_fail(error, MC_ERROR_NO_MEMORY, "inflating: no memory");
    inflater->complete = result == Z_STREAM_END;
    mc_status status = check_limits(inflater, error);
    if (status == MC_OK && made > 0)
        status = inflater->sink(inflater->context, inflater->buffer, made, error);
    // Z_BUF_ERROR only means that zlib needs more input.
    const bool is_damaged = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
    return status == MC_OK && is_damaged ? fail_damaged(inflater, error) : status;
}

mc_status mc_inflater_push(mc_inflater *inflater, const void *bytes, size_t length, mc_error *error)
{
    const uint8_t *at = bytes, *const end = at + length;
    mc_status status = inflater->kind == MC_INFLATER_UNKNOWN ? begin(inflater, *at, error) : MC_OK;
    for (size_t byte = 0; byte < length && inflater->header_length < sizeof inflater->header; byte++)
        inflater->header[inflater->header_length++] = at[byte];
    if (status == MC_OK && inflater->kind == MC_INFLATER_PLAIN) {
        inflater->bytes_in += (int64_t)length;
        inflater->bytes_out += (int64_t)length;
        return inflater->sink(inflater->context, bytes, length, error);
    }
    z_stream *const stream = &inflater->stream;
    while (status == MC_OK && at < end) {
        if (inflater->complete) {
            status = begin_member(inflater, *at, error);
            if (status != MC_OK)
                break;
        }
        const size_t here = (size_t)(end - at) < INT_MAX ? (size_t)(end - at) : INT_MAX;
        stream->next_in = (Bytef *)(uintptr_t)at;  // zlib's type lacks the const, but zlib does not change the input
        stream->avail_in = (uInt)here;
        do
            status = inflate_some(inflater, error);
        while (status == MC_OK && !inflater->complete && (stream->avail_in > 0 || stream->avail_out == 0));
        at += here - stream->avail_in;
    }
    return status;
}

mc_status mc_inflater_finish(const mc_inflater *inflater, mc_error *error)
{
    if (inflater->kind != MC_INFLATER_ZLIB && inflater->kind != MC_INFLATER_GZIP)
        return MC_OK;
    if (inflater->complete)
        return MC_OK;
    const mc_status status = settle_text(inflater, error);
    if (status != MC_OK)
        return status;
    return mc_fail_at(error, MC_ERROR_TRUNCATED, inflater->bytes_in, 0, "%s stream, byte %lld: the input ends in the middle",
                      inflater->kind == MC_INFLATER_GZIP ? "gzip" : "zlib", (long long)inflater->bytes_in);
}

void mc_inflater_destroy(mc_inflater *inflater)
{
    if (inflater->ready)
        (void)inflateEnd(&inflater->stream);
    inflater->ready = false;
    mc_free(inflater->buffer);
    inflater->buffer = NULL;
}

void mc_inflater_begin_again(mc_inflater *inflater)
{
    mc_inflater_destroy(inflater);
    mc_inflater_init(inflater, inflater->sink, inflater->context, inflater->bytes_maximum, inflater->ratio_maximum);
}
