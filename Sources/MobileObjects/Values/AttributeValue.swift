public import Foundation
import MobileStore

/// The value of an attribute or parameter of any type: metadata-driven code reads and writes objects through it.
/// Integers of all widths and `char` lists have one case each. The range of the attribute is checked when the value is set.
///
/// Two values are equal when the database finds them equal: texts by their bytes, so that "é" as one scalar and as two are different values, and 0.0 is equal
/// to -0.0. NaN, which no attribute can have, is equal to NaN.
@frozen public enum AttributeValue: Sendable, Hashable {
    case null
    /// byte, short, int, long and integer.
    case integer(Int64)
    /// float and double.
    case real(Double)
    case decimal(Decimal)
    case boolean(Bool)
    /// string and char.
    case string(String)
    case binary([UInt8])
    case date(LocalDate)
    case time(LocalTime)
    case dateTime(Date)
    /// Structures and lists, as JSON text.
    case json(String)
    /// A large attribute, by the id of its value in the store. The value is read and written as a stream.
    case large(Int64)

    /// Whether this is ``null``.
    public var isNull: Bool {
        guard case .null = self else { return false }
        return true
    }

    public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)), (.large(let left), .large(let right)): left == right
        case (.real(let left), .real(let right)): left.isSameValue(as: right)
        case (.decimal(let left), .decimal(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        case (.string(let left), .string(let right)), (.json(let left), .json(let right)): left.hasSameBytes(as: right)
        case (.binary(let left), .binary(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.time(let left), .time(let right)): left == right
        case (.dateTime(let left), .dateTime(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kindNumber)
        switch self {
        case .null: break
        case .integer(let value), .large(let value): hasher.combine(value)
        case .real(let value): value.hashValue(into: &hasher)
        case .decimal(let value): hasher.combine(value)
        case .boolean(let value): hasher.combine(value)
        case .string(let value), .json(let value): value.hashBytes(into: &hasher)
        case .binary(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .time(let value): hasher.combine(value)
        case .dateTime(let value): hasher.combine(value)
        }
    }

    private var kindNumber: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .decimal: 3
        case .boolean: 4
        case .string: 5
        case .binary: 6
        case .date: 7
        case .time: 8
        case .dateTime: 9
        case .json: 10
        case .large: 11
        }
    }
}

extension AttributeValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral
{
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension AttributeValue: CustomStringConvertible {
    /// Text for people: strings as they are, empty for ``null``, binaries and large values by their size or id.
    public var description: String {
        switch self {
        case .null: ""
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .decimal(let value): value.description
        case .boolean(let value): String(value)
        case .string(let value), .json(let value): value
        case .binary(let bytes): "\(bytes.count) bytes"
        case .date(let value): value.description
        case .time(let value): value.description
        case .dateTime(let value): ISO8601Text.text(value)
        case .large(let id): "large value \(id)"
        }
    }
}

/// A Swift type of attributes and parameters. Generated code converts through it; applications rarely need it.
public protocol AttributeConvertible {
    /// The value as stored.
    var attributeValue: AttributeValue { get }
    /// Fails when the value is of another kind or out of the type's range.
    init?(attributeValue: AttributeValue)
}

extension AttributeValue: AttributeConvertible {
    /// The value itself.
    public var attributeValue: AttributeValue { self }
    /// Creates the same value.
    public init(attributeValue: AttributeValue) { self = attributeValue }
}

extension FixedWidthInteger where Self: AttributeConvertible {
    @inlinable public var attributeValue: AttributeValue { .integer(Int64(self)) }
    public init?(attributeValue: AttributeValue) {
        guard case .integer(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
}

extension Int64: AttributeConvertible {}
extension Int32: AttributeConvertible {}
extension Int16: AttributeConvertible {}
extension Int8: AttributeConvertible {}
extension Int: AttributeConvertible {}

extension Double: AttributeConvertible {
    public var attributeValue: AttributeValue { .real(self) }
    /// Accepts integers as well: `attributes["discount"] = 3` means 3.0.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .real(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
}

extension Float: AttributeConvertible {
    public var attributeValue: AttributeValue { .real(Double(self)) }
    /// Accepts integers as well, and rounds to the nearest float; rejects numbers beyond its range.
    public init?(attributeValue: AttributeValue) {
        guard let value = Double(attributeValue: attributeValue) else { return nil }
        self.init(nearest: value)
    }
}

extension Decimal: AttributeConvertible {
    public var attributeValue: AttributeValue { .decimal(self) }
    /// Accepts integers as well; rejects doubles, because they are not exact.
    public init?(attributeValue: AttributeValue) {
        switch attributeValue {
        case .decimal(let value): self = value
        case .integer(let value): self = Decimal(value)
        default: return nil
        }
    }
}

extension Bool: AttributeConvertible {
    public var attributeValue: AttributeValue { .boolean(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .boolean(let value) = attributeValue else { return nil }
        self = value
    }
}

extension String: AttributeConvertible {
    public var attributeValue: AttributeValue { .string(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
}

extension Array: AttributeConvertible where Element == UInt8 {
    public var attributeValue: AttributeValue { .binary(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .binary(let value) = attributeValue else { return nil }
        self = value
    }
}

extension LocalDate: AttributeConvertible {
    public var attributeValue: AttributeValue { .date(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .date(let value) = attributeValue else { return nil }
        self = value
    }
}

extension LocalTime: AttributeConvertible {
    public var attributeValue: AttributeValue { .time(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .time(let value) = attributeValue else { return nil }
        self = value
    }
}

extension Date: AttributeConvertible {
    public var attributeValue: AttributeValue { .dateTime(self) }
    public init?(attributeValue: AttributeValue) {
        guard case .dateTime(let value) = attributeValue, value.timeIntervalSince1970.isFinite else { return nil }
        self = value
    }
}

extension Optional: AttributeConvertible where Wrapped: AttributeConvertible {
    public var attributeValue: AttributeValue { self?.attributeValue ?? .null }
    public init?(attributeValue: AttributeValue) {
        if attributeValue.isNull {
            self = .none
        } else if let value = Wrapped(attributeValue: attributeValue) {
            self = .some(value)
        } else {
            return nil
        }
    }
}
