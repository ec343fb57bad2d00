internal import MobileCore

/// The names of SQL functions that read the numbers of a file of another origin, exactly or not at all. Every connection has them, for statements of the
/// program only.
///
///     SELECT mc_exact_integer(stock), mc_exact_decimal(price, 8, 2) FROM article
///
/// A value that cannot be converted comes back in a form that the result never has, see `mc_exact.h`.
package enum ExactNumber {
    /// An integer: of a number without a fraction, and of a text that is one.
    package static let integer = MC_EXACT_INTEGER
    /// A real: of a number, and of a text that is one.
    package static let real = MC_EXACT_REAL
    /// A decimal by its largest numbers of digits before and after the point: a scaled integer if both together are at most 18, otherwise a text.
    package static let decimal = MC_EXACT_DECIMAL
    /// An integer: of a text in the notation in which SQLite writes it. All other values are unchanged.
    package static let plainInteger = MC_PLAIN_INTEGER
}
