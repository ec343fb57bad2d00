/// One value as SQLite stores it.
///
/// Two values are equal when SQLite's are: texts and blobs by their bytes, so that "é" as one scalar and as two are different texts; 0.0 and -0.0 are equal.
/// NaN, which SQLite stores as NULL, is equal to NaN. An integer and a real are different values, also 1 and 1.0.
///
/// `nil` is not a literal of this type, write ``null``: of a literal, `isKnown ? value : nil` would be NULL where an optional is meant.
public enum Value: Sendable, Hashable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A 64-bit floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// Bytes.
    case blob([UInt8])
}

extension Value {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.isSameValue(as: right)
        case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value):
            hasher.combine(1)
            hasher.combine(value)
        case .real(let value):
            hasher.combine(2)
            value.hashValue(into: &hasher)
        case .text(let value):
            hasher.combine(3)
            value.hashBytes(into: &hasher)
        case .blob(let value):
            hasher.combine(4)
            hasher.combine(value)
        }
    }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation
{
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A real.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// 1 or 0.
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension Value {
    /// An integer, or NULL for `nil`.
    public init(_ value: (some BinaryInteger)?) { self = value.map { .integer(Int64($0)) } ?? .null }
    /// A real, or NULL for `nil`.
    public init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    /// A text, or NULL for `nil`.
    public init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    /// Bytes, or NULL for `nil`.
    public init(_ value: [UInt8]?) { self = value.map { .blob($0) } ?? .null }
    /// 1, 0, or NULL for `nil`.
    public init(_ value: Bool?) { self = value.map { .integer($0 ? 1 : 0) } ?? .null }

    /// Whether it is NULL.
    public var isNull: Bool { self == .null }
    /// The integer; `nil` for anything else.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The real, or the integer as one; `nil` for anything else.
    public var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
    /// The text; `nil` for anything else.
    public var text: String? { if case .text(let value) = self { value } else { nil } }
    /// The bytes; `nil` for anything else.
    public var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
}
