/// What a column takes from the JSON text, and what becomes of it in SQLite.
public enum JSONColumnType: Sendable, Hashable {
    /// Everything: integers of 64 bits, larger ones as their digits in text, other numbers as the nearest double, true and false
    /// as 1 and 0, strings as text, arrays and objects as their JSON text. A number beyond the largest double is kept as it is written, in
    /// text; where the table's column makes numbers of texts (its declared type is neither of text, nor BLOB, nor missing) it is an error.
    case any
    /// Numbers without fraction and exponent, of 64 bits.
    case integer
    /// Numbers, exactly: `precision` digits (1...1000), `scale` of them behind the point (0...`precision`). Up to a precision of
    /// 18 an integer scaled by 10^`scale`, beyond as text in plain notation without superfluous zeros.
    case decimal(precision: Int, scale: Int)
    /// Numbers, as the nearest double, ties to even.
    case real
    /// true and false, as 1 and 0.
    case boolean
    /// Strings.
    case text
    /// Strings in base64 (RFC 4648, padded), as bytes.
    case blob
    /// Strings such as `2026-05-17`, as text.
    case date
    /// Strings such as `10:00:00`, as text.
    case time
    /// Strings such as `2026-05-17T10:00:00.000Z`, as text in just this form, so that text order is time order. Always UTC, whether
    /// the Z stands there or not; the fraction may be missing, and is cut to milliseconds.
    case dateTime
    /// Strings of any length. The text becomes a large value, stored in chunks while it is read, and the row gets its
    /// id. The tables of large values exist (``Connection/prepareLargeValues()``).
    case bigString
    /// Strings of any length in base64 (RFC 4648, padded). The bytes become a large value as for ``bigString``.
    case bigBinary
}

/// The rule of one column.
public struct JSONColumnRule: Sendable, Hashable {
    /// What its values are.
    public var type: JSONColumnType
    /// Whether null is taken, and a member left out of a row object with it; default true. The key never is null, except in a
    /// plain insert.
    public var isNullable: Bool

    /// The rule of a column of this type.
    public init(_ type: JSONColumnType, isNullable: Bool = true) {
        self.type = type
        self.isNullable = isNullable
    }
}
