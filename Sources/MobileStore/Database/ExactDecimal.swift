internal import MobileCore

/// The names of SQL functions and a collation for decimals stored as text, such as `-12.5`. Every connection has them. They order and sum
/// decimals exactly, with any number of digits. Any other text follows all decimals in the order, and is an error in a sum.
///
///     SELECT mc_decimal_sum(amount) FROM invoice WHERE amount > '99.95' COLLATE mc_decimal ORDER BY amount COLLATE mc_decimal
public enum ExactDecimal {
    /// The collation that orders such texts as numbers: `amount COLLATE mc_decimal`, also inside of `min` and `max`.
    public static let collation = MC_DECIMAL_COLLATION
    /// The aggregate for their sum; NULL without any.
    public static let sum = MC_DECIMAL_SUM
    /// The aggregate for their sum; 0 without any.
    public static let total = MC_DECIMAL_TOTAL
    /// The aggregate for their mean, rounded half to even to 38 digits where it has more; NULL without any.
    public static let average = MC_DECIMAL_AVERAGE
}
