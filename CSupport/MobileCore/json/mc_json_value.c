/// mc_json_value.c: validates one value of any kind without building anything.
#include "json/mc_json_scan.h"

/// The kinds of the open containers, one bit per level: set for an object.
typedef struct nesting {
    uint64_t objects[MC_JSON_DEPTH_LIMIT / 64];
    unsigned depth;
} nesting;

static bool in_object(const nesting *nesting)
{
    const unsigned level = nesting->depth - 1;
    return (nesting->objects[level / 64] >> (level % 64) & 1) != 0;
}

static void enter(nesting *nesting, bool object)
{
    const unsigned level = nesting->depth++;
    const uint64_t bit = UINT64_C(1) << (level % 64);
    nesting->objects[level / 64] = (nesting->objects[level / 64] & ~bit) | (object ? bit : 0);
}

/// Reads the key of a member and the following colon; `at` is where the key's quote must be.
static const uint8_t *key_end(const uint8_t *at, const uint8_t *end, const char *expected, mc_json_stop *stop)
{
    bool escaped = false;
    if (at == end || *at != '"')
        return mc_json_stop_at(stop, at, end, expected);
    at = mc_json_string_end(at + 1, end, &escaped, stop);
    if (at == NULL)
        return NULL;
    at = mc_json_skip_blanks(at + 1, end);
    if (at == end || *at != ':')
        return mc_json_stop_at(stop, at, end, "':'");
    return mc_json_skip_blanks(at + 1, end);
}

/// Reads a value that is not a container.
static const uint8_t *scalar_end(const uint8_t *at, const uint8_t *end, mc_json_stop *stop)
{
    mc_json_number number;
    bool escaped = false;
    switch (*at) {
    case '"': at = mc_json_string_end(at + 1, end, &escaped, stop); return at == NULL ? NULL : at + 1;
    case 'n': return mc_json_word_end(at, end, "null", stop);
    case 't': return mc_json_word_end(at, end, "true", stop);
    case 'f': return mc_json_word_end(at, end, "false", stop);
    case MC_JSON_NUMBER_START: return mc_json_number_end(at, end, &number, stop);
    default: return mc_json_stop_at(stop, at, end, "a value");
    }
}

/// Continues after a complete value: closes the containers that end here. Returns the beginning of the next value, or the end of
/// the outermost container if `nesting->depth` has become 0.
static const uint8_t *next_value(const uint8_t *at, const uint8_t *end, nesting *nesting, mc_json_stop *stop)
{
    while (nesting->depth > 0) {
        const bool object = in_object(nesting);
        at = mc_json_skip_blanks(at, end);
        if (at < end && *at == ',') {
            at = mc_json_skip_blanks(at + 1, end);
            return object ? key_end(at, end, "a key", stop) : at;
        }
        if (at == end || *at != (object ? '}' : ']'))
            return mc_json_stop_at(stop, at, end, object ? "',' or '}'" : "',' or ']'");
        at++;
        nesting->depth--;
    }
    return at;
}

const uint8_t *mc_json_value_end(const uint8_t *at, const uint8_t *end, unsigned depth_left, mc_json_stop *stop)
{
    nesting nesting;
    nesting.depth = 0;
    for (;;) {
        if (at == end)
            return mc_json_stop_at(stop, at, end, NULL);
        if (*at == '[' || *at == '{') {
            const bool object = *at == '{';
            if (nesting.depth == depth_left) {
                (void)mc_json_stop_at(stop, at, end, "less nesting");
                stop->too_deep = true;
                return NULL;
            }
            enter(&nesting, object);
            at = mc_json_skip_blanks(at + 1, end);
            if (at < end && *at == (object ? '}' : ']')) {
                at++;
                nesting.depth--;
                at = next_value(at, end, &nesting, stop);
            } else if (object) {
                at = key_end(at, end, "a key or '}'", stop);
                if (at == NULL)
                    return NULL;
                continue;
            } else {
                continue;
            }
        } else {
            at = scalar_end(at, end, stop);
            if (at != NULL)
                at = next_value(at, end, &nesting, stop);
        }
        if (at == NULL || nesting.depth == 0)
            return at;
    }
}
