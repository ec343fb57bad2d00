/// mc_exact.h: stored values as numbers, exactly or not at all, in SQL.
///
/// SQLite's CAST makes 0 of a text that is not a number, and an integer of a number with a fraction. A column of a file of another origin
/// may have any value. Every connection of a pool has these functions, without a call:
///
///     mc_exact_integer(value)                  an integer: of a number without a fraction, and of a text that is one
///     mc_exact_real(value)                     a real: of a number, and of a text that is one
///     mc_exact_decimal(value, whole, scale)    a decimal of at most `whole` digits before the point and `scale` after it: `value * 10 ^ scale`
///                                              as an integer if both together are at most 18, otherwise a text without superfluous zeros
///
/// NULL stays NULL. A value that cannot be converted so comes back in a form that the result never has: the text of another number as a
/// real, and by mc_exact_decimal also an integer; all other values are unchanged. A real counts as the shortest decimal that reads back as
/// the same double; as a decimal that has more digits after the point, it counts as its first 15 digits, if it has no more before the point.
/// Only statements of the program may call them, no view and no trigger.
///
///     mc_plain_integer(value)                  an integer: of a text that is one in the notation in which SQLite writes it
///
/// All other values are unchanged, so no two texts become one value, and `CAST(mc_plain_integer(text) AS TEXT)` is the text again. A column
/// of type BLOB, or without a type, keeps the values so: first the integers, by number, then the texts. Columns of other types convert them.
#ifndef MC_EXACT_H
#define MC_EXACT_H

#define MC_EXACT_INTEGER "mc_exact_integer"
#define MC_EXACT_REAL "mc_exact_real"
#define MC_EXACT_DECIMAL "mc_exact_decimal"
#define MC_PLAIN_INTEGER "mc_plain_integer"

#endif
