#include "blobs/mc_utf8_counter.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "json/mc_json_scan.h"

/// The position of the next byte that is not ASCII, or the end.
static const uint8_t *ascii_end(const uint8_t *at, const uint8_t *end)
{
#if defined(__SSE2__)
    while (end - at >= 16) {
        const unsigned high = (unsigned)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)at));
        if (high != 0)
            return at + __builtin_ctz(high);
        at += 16;
    }
#else
    while (end - at >= 32) {  // the compiler vectorizes it
        uint64_t words[4];
        memcpy(words, at, 32);
        if (((words[0] | words[1] | words[2] | words[3]) & UINT64_C(0x8080808080808080)) != 0)
            break;
        at += 32;
    }
#endif
    while (at < end && *at < 0x80)
        at++;
    return at;
}

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/// The position after the common characters of two and three bytes from `at` on, which are checked here. Stops at ASCII, near the end,
/// and at all bytes that need further checks.
static const uint8_t *common_end(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 3) {
        if (at[0] >= 0xC2 && at[0] < 0xE0 && is_continuation(at[1]))
            at += 2;
        else if (at[0] > 0xE0 && at[0] < 0xF0 && at[0] != 0xED && is_continuation(at[1]) && is_continuation(at[2]))
            at += 3;
        else
            break;
    }
    return at;
}

static bool is_lead(uint8_t byte)
{
    return !is_continuation(byte);
}

/// Completes the character that an earlier piece has begun. `*used`: the number of bytes of this piece that it took.
static bool complete(mc_utf8_counter *counter, const uint8_t *bytes, size_t length, size_t *used, size_t *bad)
{
    *used = 0;
    while (counter->count > 0 && *used < length) {
        mc_json_stop stop;
        counter->begun[counter->count++] = bytes[*used];
        const uint8_t *const end = counter->begun + counter->count;
        if (mc_json_utf8_end(counter->begun, end, &stop) != NULL) {
            counter->count = 0;
        } else if (stop.expected != NULL) {
            *bad = *used;
            return false;
        }
        ++*used;
    }
    return true;
}

bool mc_utf8_push(mc_utf8_counter *counter, const uint8_t *bytes, size_t length, int64_t *scalars, size_t *bad)
{
    size_t used = 0;
    if (!complete(counter, bytes, length, &used, bad))
        return false;
    const uint8_t *at = bytes + used, *const end = bytes + length;
    while ((at = ascii_end(at, end)) < end) {
        mc_json_stop stop;
        at = common_end(at, end);
        if (at == end || *at < 0x80)
            continue;
        const uint8_t *const next = mc_json_utf8_end(at, end, &stop);
        if (next != NULL) {
            at = next;
            continue;
        }
        if (stop.expected != NULL) {
            *bad = (size_t)(stop.at - bytes);
            return false;
        }
        counter->count = (size_t)(end - at);
        memcpy(counter->begun, at, counter->count);
        break;
    }
    *scalars += mc_utf8_count(bytes, length);
    return true;
}

int64_t mc_utf8_count(const uint8_t *bytes, size_t length)
{
    int64_t count = 0;
    size_t at = 0;
    while (at + 128 <= length) {  // sums of at most 128 fit into a byte, so that the compiler can use byte lanes
        uint8_t sum = 0;
        for (size_t i = 0; i < 128; i++)
            sum = (uint8_t)(sum + (uint8_t)((int8_t)bytes[at + i] > (int8_t)-65));
        count += sum;
        at += 128;
    }
    for (; at < length; at++)
        count += is_lead(bytes[at]);
    return count;
}

static size_t length_of(uint8_t lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

size_t mc_utf8_prefix(const uint8_t *bytes, size_t length, int64_t max_scalars, int64_t *scalars)
{
    enum { BLOCK = 512 };
    size_t at = 0;  // always the first byte of a character, or within one after a block
    int64_t count = 0;
    while (at + BLOCK <= length) {
        const int64_t more = mc_utf8_count(bytes + at, BLOCK);
        if (more > max_scalars - count)
            break;
        count += more;
        at += BLOCK;
    }
    while (at < length && !is_lead(bytes[at]))  // the rest of the block's last character, which has been counted
        at++;
    while (at < length && count < max_scalars) {
        const size_t next = at + length_of(bytes[at]);
        if (next > length)
            break;
        at = next;
        count++;
    }
    // A block's last character may extend beyond the end: it is then left to the next call.
    size_t start = at;
    while (start > 0 && !is_lead(bytes[start - 1]))
        start--;
    if (start > 0 && start - 1 + length_of(bytes[start - 1]) > at) {
        at = start - 1;
        count--;
    }
    *scalars = count;
    return at;
}
