/// mc_message.h: whole JSON messages (RFC 8259), read into one flat list of nodes.
///
/// A message is read in one call. Its nodes are in the order of the text. A container is followed by its contents and has the number of
/// their end, so that skipping an unused part costs one addition. Strings and numbers are not copied from the caller's bytes; only
/// strings with escapes are unfolded, into memory of the message.
///
///     {"id": 7, "tags": ["a"]}    0 object, length 2, end 6
///                                 1 string id     2 integer 7
///                                 3 string tags   4 array, length 1, end 6   5 string a
///
/// Numbers keep their text, because 12.34 must not pass through a double, and because integers beyond 64 bits occur.
///
/// Order of calls: parse, then read the nodes, then free. The caller's bytes must outlive the message.
/// Threads:        a message never changes after `mc_message_parse`: any number of threads may read it.
/// Memory:         32 bytes per node, and the unfolded strings.
#ifndef MC_MESSAGE_H
#define MC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mc_json.h"
#include "mc_version.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

typedef enum mc_json_kind {
    MC_JSON_NULL = 0,
    MC_JSON_FALSE = 1,
    MC_JSON_TRUE = 2,
    MC_JSON_INTEGER = 3,  ///< a number without fraction and exponent that fits into 64 bits
    MC_JSON_NUMBER = 4,   ///< any other number
    MC_JSON_STRING = 5,
    MC_JSON_ARRAY = 6,
    MC_JSON_OBJECT = 7  ///< its contents are key, value, key, value...
} mc_json_kind;

/// One value. Swift reads this layout as well (`JSONCell`).
typedef struct mc_json_node {
    const char *MC_NULLABLE text;  ///< strings: UTF-8 without quotes and escapes; numbers: as written; otherwise NULL
    int64_t integer;               ///< the value of an MC_JSON_INTEGER; of an MC_JSON_NUMBER see `places`; otherwise 0
    uint32_t length;               ///< bytes of `text`; elements of an array; members of an object
    uint32_t end;                  ///< number of the first node after this one and its contents
    uint32_t offset;               ///< bytes from the start of the message to the value's first byte
    uint8_t kind;                  ///< a `mc_json_kind`
    uint8_t places;                ///< MC_JSON_NUMBER: its value is `integer` / 10 ^ `places`, or MC_JSON_PLACES_UNKNOWN; otherwise 0
} mc_json_node;

/// The number's value is only in its text.
enum { MC_JSON_PLACES_UNKNOWN = 255 };

MC_STATIC_ASSERT(sizeof(mc_json_node) == 32 && offsetof(mc_json_node, integer) == 8 && offsetof(mc_json_node, length) == 16
                     && offsetof(mc_json_node, end) == 20 && offsetof(mc_json_node, kind) == 28,
                 "Swift reads nodes by these offsets");

typedef struct mc_message mc_message;

/// The treatment of two members of one object that have the same key, after unfolding.
typedef enum mc_json_duplicates {
    MC_JSON_DUPLICATES_REFUSED = 0,  ///< MC_ERROR_JSON, at the second key
    MC_JSON_DUPLICATES_KEPT = 1      ///< all are in the nodes; `mc_message_member` finds the last one, as jansson does
} mc_json_duplicates;

typedef struct mc_message_options {
    size_t size;  ///< of this struct, and MC_VERSION_NUMBER where the program is compiled: see mc_version.h
    int version;
    unsigned depth;  ///< levels of arrays and objects; 0: 64; at most MC_JSON_DEPTH_LIMIT
    mc_json_duplicates duplicates;
} mc_message_options;

/// Returns the defaults: 64 levels, no duplicate keys.
static inline mc_message_options mc_message_default_options(void)
{
    mc_message_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.version = MC_VERSION_NUMBER;
    return options;
}

/// Reads a message of at most 4 GB. Only blanks may surround the value. `options` may be NULL.
/// On success `*out` is a message that the caller gives to `mc_message_free`; on failure it is NULL.
/// Fails with MC_ERROR_JSON (`byte_offset`: the first byte that is not allowed), MC_ERROR_TRUNCATED (the text ended in the middle),
/// MC_ERROR_LIMIT (too deep, too long), MC_ERROR_NO_MEMORY, MC_ERROR_MISUSE (an option out of its range).
MC_MUST_USE mc_status mc_message_read(const void *bytes, size_t length, const mc_message_options *MC_NULLABLE options,
                                      mc_message *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Reads a message as `mc_message_read` does, with a depth as the only option.
MC_MUST_USE mc_status mc_message_parse(const void *bytes, size_t length, unsigned depth, mc_message *MC_NULLABLE *MC_NONNULL out,
                                       mc_error *MC_NULLABLE error);

/// Returns the nodes; the first one is the root. They belong to the message.
const mc_json_node *mc_message_nodes(const mc_message *message, size_t *count);

/// Finds the value under a key of the object `object` (a number among the nodes). Returns 0, which is never the value of a member, if the
/// object has no such key or the node is not an object. Walks the members, because messages have few; other contents are skipped.
uint32_t mc_message_member(const mc_message *message, uint32_t object, const char *key, size_t length);

/// Finds the `index`-th element of an array, by the same rules.
uint32_t mc_message_element(const mc_message *message, uint32_t array, size_t index);

/// Frees a message; NULL is allowed.
void mc_message_free(mc_message *MC_NULLABLE message);

/// Reads the value of a node as the nearest double; returns false if it is not a number or is beyond the largest double.
bool mc_json_node_double(const mc_json_node *node, double *value);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
