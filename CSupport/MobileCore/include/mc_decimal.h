/// mc_decimal.h: decimals of any length in SQL, exactly.
///
/// SQLite has no decimals: as numbers they lose digits, as text they sort wrongly. A decimal here is a text in decimal notation without
/// exponent: `-12.5`, `0`, `1000`. Every connection of a pool has these, without a call:
///
///     amount COLLATE mc_decimal < '12.5'             the order of the numbers, in comparisons, ORDER BY, indexes, MIN and MAX
///     mc_decimal_sum(amount)                         the exact sum; NULL without values
///     mc_decimal_total(amount)                       the same, but 0 without values
///     mc_decimal_avg(amount)                         the mean, rounded half to even to 38 digits where it has more; NULL without values
///
/// The aggregates ignore NULL. Their results are canonical: no sign before 0, no superfluous zeros. A value that is not a decimal is an
/// error of an aggregate; the collation sorts it after all decimals, in the order of its bytes. Zeros at either end do not count: `1.50`
/// and `01.5` are equal, so the collation never reports one of two texts of the same number as less.
#ifndef MC_DECIMAL_H
#define MC_DECIMAL_H

#define MC_DECIMAL_COLLATION "mc_decimal"
#define MC_DECIMAL_SUM "mc_decimal_sum"
#define MC_DECIMAL_TOTAL "mc_decimal_total"
#define MC_DECIMAL_AVERAGE "mc_decimal_avg"

/// The digits of a mean without a finite notation.
#define MC_DECIMAL_AVERAGE_DIGITS 38

#endif
