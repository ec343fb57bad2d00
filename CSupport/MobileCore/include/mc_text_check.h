/// mc_text_check.h: whether values are well-formed texts, in C and in SQL.
///
/// SQLite stores any bytes as a text, and a file of another origin may have them. Every connection of a pool has this function, without a
/// call:
///
///     mc_text_check(value, ...)      1, where each argument is NULL, a number, or a text in UTF-8
///
/// Any other argument is an error of the statement, whose message says what was found. So a statement that copies rows copies all of them
/// or none: `INSERT INTO item SELECT * FROM other.item WHERE mc_text_check(name, price)`. Only statements of the program may call it, no
/// view and no trigger.
#ifndef MC_TEXT_CHECK_H
#define MC_TEXT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "mc_error.h"

#ifdef __cplusplus
extern "C" {
#endif
MC_NONNULL_BEGIN

#define MC_TEXT_CHECK "mc_text_check"

/// Whether `length` bytes are a text in UTF-8 (Unicode 15, table 3-7).
bool mc_text_is_utf8(const char *text, size_t length);

MC_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
