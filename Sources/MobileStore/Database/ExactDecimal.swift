internal import MobileCore

/// What the SQL of every connection has for decimals that are kept as text in decimal notation, such as `-12.5`: their order and their sums,
/// exactly, with any number of digits. What is no decimal comes behind all decimals in the order, and is an error in a sum.
///
///     SELECT mc_decimal_sum(amount) FROM invoice WHERE amount > '99.95' COLLATE mc_decimal ORDER BY amount COLLATE mc_decimal
public enum ExactDecimal {
    /// The collation that orders such texts as numbers: `amount COLLATE mc_decimal`, also inside of `min` and `max`.
    public static let collation = MC_DECIMAL_COLLATION
    /// The aggregate that adds them up; NULL where there are none.
    public static let sum = MC_DECIMAL_SUM
    /// The same with 0 where there are none.
    public static let total = MC_DECIMAL_TOTAL
    /// The aggregate for their mean, rounded half to even to 38 digits where it has more; NULL where there are none.
    public static let average = MC_DECIMAL_AVERAGE
}
