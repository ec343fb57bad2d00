/// mc_decimal.h: decimals of any length in SQL, exactly.
///
/// SQLite has no decimals: as numbers they lose digits, as text they sort wrongly. A decimal here is a text in decimal notation without
/// exponent: `-12.5`, `0`, `1000`. Every connection of a pool knows, without a call:
///
///     amount COLLATE mc_decimal < '12.5'             the order of the numbers, in comparisons, ORDER BY, indexes, MIN and MAX
///     mc_decimal_sum(amount)                         the exact sum; NULL where there are no values
///     mc_decimal_total(amount)                       the same, but 0 where there are none
///     mc_decimal_avg(amount)                         the mean, rounded half to even to 38 digits where it has more; NULL where there are
///     none
///
/// NULL is left out of the aggregates. Their results are canonical: no sign before 0, no zeros that say nothing. What is no decimal is an
/// error of an aggregate; the collation puts it behind all decimals, in the order of its bytes. Zeros at either end do not count: `1.50`
/// and `01.5` are equal, so the collation never says of two texts of one number that one is less.
#ifndef MC_DECIMAL_H
#define MC_DECIMAL_H

#define MC_DECIMAL_COLLATION "mc_decimal"
#define MC_DECIMAL_SUM "mc_decimal_sum"
#define MC_DECIMAL_TOTAL "mc_decimal_total"
#define MC_DECIMAL_AVERAGE "mc_decimal_avg"

/// Digits of a mean that has no end.
#define MC_DECIMAL_AVERAGE_DIGITS 38

#endif
