/// The JSON values that a column accepts, and their form in SQLite.
public enum JSONColumnType: Sendable, Hashable {
    /// Any value: integers of 64 bits, larger ones as text with their digits, other numbers as the nearest double, true and false
    /// as 1 and 0, strings as text, arrays and objects as their JSON text. A number beyond the largest double is kept as text, in its JSON
    /// notation. In a column that converts texts to numbers (its declared type is neither text nor BLOB nor missing), such a number is an error.
    case any
    /// Numbers of 64 bits without fraction and exponent.
    case integer
    /// Exact numbers: `precision` digits (1...1000), `scale` of them after the point (0...`precision`). With a precision up to 18
    /// they are stored as integers scaled by 10^`scale`, with a larger one as text in plain notation without superfluous zeros.
    case decimal(precision: Int, scale: Int)
    /// Numbers, stored as the nearest double, ties to even.
    case real
    /// true and false, stored as 1 and 0.
    case boolean
    /// Strings.
    case text
    /// Strings in base64 (RFC 4648, padded), stored as bytes.
    case blob
    /// Strings such as `2026-05-17`, stored as text.
    case date
    /// Strings such as `10:00:00`, stored as text.
    case time
    /// Strings such as `2026-05-17T10:00:00.000Z`, stored as text in exactly this form, so that text order is time order. The time is UTC, with
    /// or without the Z. The fraction may be missing, and is cut to milliseconds.
    case dateTime
    /// Strings of any length. The text becomes a large value, stored in chunks while it is read, and the row gets its
    /// id. The tables of large values must exist (``Connection/prepareLargeValues()``).
    case bigString
    /// Strings of any length in base64 (RFC 4648, padded). The bytes become a large value as for ``bigString``.
    case bigBinary
}

/// The rule of one column.
public struct JSONColumnRule: Sendable, Hashable {
    /// The type of its values.
    public var type: JSONColumnType
    /// Whether the column accepts null, and with it a member missing from a row object; default true. The key is never null, except in
    /// a plain insert.
    public var isNullable: Bool

    /// Makes the rule of a column of this type.
    public init(_ type: JSONColumnType, isNullable: Bool = true) {
        self.type = type
        self.isNullable = isNullable
    }
}
