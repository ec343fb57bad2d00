/// The types of values, with SQLite's numbers.
@frozen public enum ColumnType: UInt32, Sendable {
    /// A 64-bit integer.
    case integer = 1
    /// A 64-bit floating-point number.
    case real = 2
    /// UTF-8 text.
    case text = 3
    /// Bytes.
    case blob = 4
    /// NULL.
    case null = 5
}
