/// A JSON value as a tree of plain Swift values.
///
/// It is meant for messages, metadata and other documents that fit into memory; rows go through ``BulkImporter`` and ``BulkExporter``.
/// Parsing and writing lose nothing: integers are exact to 64 bits, every other number keeps its decimal text, and the
/// members of an object keep their order.
///
/// Two values are equal when their texts are, byte by byte: "é" as one scalar and as two are different strings, as for the database and the server. The
/// order of an object's members does not count. A number with another text, such as 1.0 and 1.00, is another value.
///
/// `nil` is not a literal of this type, write ``null``: of a literal, `isKnown ? value : nil` would be null where an optional is meant.
public enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number, as JSON text: `12.50`, `1e300`, or an integer beyond 64 bits. ``double`` converts it.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value):
            hasher.combine(1)
            hasher.combine(value)
        case .integer(let value):
            hasher.combine(2)
            hasher.combine(value)
        case .number(let text):
            hasher.combine(3)
            text.hashBytes(into: &hasher)
        case .string(let text):
            hasher.combine(4)
            text.hashBytes(into: &hasher)
        case .array(let elements):
            hasher.combine(5)
            hasher.combine(elements)
        case .object(let object):
            hasher.combine(6)
            hasher.combine(object)
        }
    }

    /// Makes a number with the shortest text that reads back as the same double.
    /// - Returns: nil for infinities and NaN, which JSON does not have.
    public init?(_ double: Double) {
        guard let text = JSONText.number(double) else { return nil }
        self = .number(text)
    }

    /// The value of a string; nil for everything else.
    public var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// The value of an integer that fits into 64 bits; nil for everything else.
    public var integer: Int64? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// The nearest double of any number; nil for everything else, and for a number beyond the largest double.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let text): JSONText.double(text)
        default: nil
        }
    }

    /// The JSON text of any number, for types that are wider than ``double``; nil for everything else.
    public var decimalText: String? {
        switch self {
        case .integer(let value): String(value)
        case .number(let text): text
        default: nil
        }
    }

    /// The value of true or false; nil for everything else.
    public var boolean: Bool? {
        guard case .boolean(let value) = self else { return nil }
        return value
    }

    /// The elements of an array; nil for everything else.
    public var array: [JSONValue]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    /// The members of an object; nil for everything else.
    public var object: JSONObject? {
        guard case .object(let value) = self else { return nil }
        return value
    }

    /// Whether the value is null.
    public var isNull: Bool { self == .null }

    /// The member of an object; nil when it does not exist, and for all other values.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// The element of an array; nil outside of its bounds, and for all other values.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByStringInterpolation
{
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object from a literal.
    /// - Precondition: no key occurs twice.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(uniqueKeys: elements)) }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
