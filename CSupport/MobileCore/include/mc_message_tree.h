/// mc_message_tree.h: JSON messages as trees of jansson (https://jansson.readthedocs.io), for programs that work with those.
///
/// The reader is that of mc_message.h, so that the rules are the same everywhere; they are those of jansson's own loader, except:
///
///     integers        of 64 bits are JSON_INTEGER, exactly; larger ones are JSON_REAL (jansson refuses them), so is -0 (there it is 0)
///     other numbers   JSON_REAL, the nearest double, ties to even, whatever the process's locale. What comes to nothing is 0.0; beyond the
///                     largest double is MC_ERROR_LIMIT. Who needs 12.34 exactly reads the message's nodes, which keep the digits
///     equal keys      as the options say: refused (the default), or the last value stays, where the first key stands
///     U+0000          may be in strings: use json_string_length. In a key it is MC_ERROR_TYPE, as jansson refuses it: json_equal and
///                     json_object_get look at keys up to it, so that two of them would be one
///     members         keep the order of the text
///     depth           as the options say, 64 unless they do; jansson's 2048 does not count
///     positions       of errors are offsets of bytes; jansson counts lines and characters
///
/// This header does not include jansson's, and MobileCore.h includes this one: who wants no trees needs no jansson to compile, and
/// with the static library none to link. Whoever looks at a tree includes <jansson.h>, 2.14 or later.
///
/// Ownership: a tree belongs to the caller, who gives it to `json_decref`. It depends on nothing: not on the message, not on its bytes.
/// Threads:   as jansson has it: a tree is used by one thread at a time.
/// Memory:    allocated by jansson, some 60 to 150 bytes per value. A message takes 32; prefer it where it does.
#ifndef MC_MESSAGE_TREE_H
#define MC_MESSAGE_TREE_H

#include "mc_message.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct json_t;

/// Reads a message as a tree. `options` may be NULL. `*out` is NULL on failure.
/// Fails as `mc_message_read` and `mc_message_tree` do; `byte_offset` is where.
MC_MUST_USE mc_status mc_message_read_tree(const void *bytes, size_t length, const mc_message_options *MC_NULLABLE options,
                                           struct json_t *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Makes a tree of one value of a message that was read, with all that is in it. Of keys that the message has kept twice the last one
/// stays. `*out` is NULL on failure.
/// Fails with MC_ERROR_LIMIT (a number beyond the largest double) and MC_ERROR_TYPE (a key with U+0000; `byte_offset` is where),
/// MC_ERROR_MISUSE (no such node), MC_ERROR_NO_MEMORY (jansson allocates by itself, or refuses).
MC_MUST_USE mc_status mc_message_tree(const mc_message *message, uint32_t node, struct json_t *MC_NULLABLE *MC_NONNULL out,
                                      mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
