/// mc_message_tree.h: JSON messages as trees of jansson (https://jansson.readthedocs.io), for programs that use those.
///
/// The reader is that of mc_message.h, so that the rules are the same everywhere. They are those of jansson's own loader, except:
///
///     integers        of 64 bits are JSON_INTEGER, exactly; larger ones are JSON_REAL (jansson refuses them), so is -0 (there it is 0)
///     other numbers   JSON_REAL, the nearest double, ties to even, independent of the process's locale. Numbers too small for one are
///                     0.0; beyond the largest double is MC_ERROR_LIMIT. To read 12.34 exactly, use the message's nodes
///     equal keys      depend on the options: refused (the default), or the last value stays, in the place of the first key
///     U+0000          may be in strings: use json_string_length. In a key it is MC_ERROR_TYPE, as jansson refuses it: json_equal and
///                     json_object_get read keys up to it, so that two different keys would be equal
///     members         keep the order of the text
///     depth           is limited by the options, to 64 by default; jansson's 2048 does not count
///     positions       of errors are offsets of bytes; jansson counts lines and characters
///
/// This is a library of its own, libMobileCoreTrees: the core itself needs no jansson. A program asks pkg-config for MobileCoreTrees, which
/// brings the core and jansson, 2.14 or later. This header does not include that of jansson: a program that reads a tree includes
/// <jansson.h>.
///
/// Ownership: a tree belongs to the caller, who gives it to `json_decref`. It depends neither on the message nor on its bytes.
/// Threads:   as jansson requires: a tree is used by one thread at a time.
/// Memory:    allocated by jansson, some 60 to 150 bytes per value. A message takes 32 bytes per value; prefer it where it is enough.
#ifndef MC_MESSAGE_TREE_H
#define MC_MESSAGE_TREE_H

#include "mc_message.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

struct json_t;

/// Reads a message as a tree. `options` may be NULL. `*out` is NULL on failure.
/// Fails as `mc_message_read` and `mc_message_tree` do; `byte_offset` is the position.
MC_MUST_USE mc_status mc_message_read_tree(const void *bytes, size_t length, const mc_message_options *MC_NULLABLE options,
                                           struct json_t *MC_NULLABLE *MC_NONNULL out, mc_error *MC_NULLABLE error);

/// Makes a tree of one value of a message that was read, with all its contents. Of several members with one key the last one stays.
/// `*out` is NULL on failure.
/// Fails with MC_ERROR_LIMIT (a number beyond the largest double) and MC_ERROR_TYPE (a key with U+0000; `byte_offset` is the position),
/// MC_ERROR_MISUSE (no such node), MC_ERROR_NO_MEMORY (jansson allocates by itself, or refuses).
MC_MUST_USE mc_status mc_message_tree(const mc_message *message, uint32_t node, struct json_t *MC_NULLABLE *MC_NONNULL out,
                                      mc_error *MC_NULLABLE error);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
