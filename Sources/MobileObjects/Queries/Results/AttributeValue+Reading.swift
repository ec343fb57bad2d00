public import Foundation

/// Typed getters for the values of results: one for each type of the model, and one that accepts null. All throw the errors of ``read(as:)``. SMP
/// 2.3: the class methods of `SUPDataValue`, such as `getNullableString:`.
extension AttributeValue {
    /// Reads the value as a type of attributes; an optional type accepts null: `try value.read(as: String?.self)`.
    /// - Throws: ``ObjectError/Code/wrongDataType`` where it is of another type, ``ObjectError/Code/invalidDataType`` where it is null or out of
    ///   the type's range.
    public func read<T: AttributeConvertible>(as type: T.Type = T.self) throws -> T {
        if let value = T(attributeValue: self) { return value }
        if isNull { throw ObjectError(.invalidDataType, "a value of a query's result is null, and was read as \(type); read it as \(type)?") }
        guard case .integer = self, type is any FixedWidthInteger.Type else {
            throw ObjectError(.wrongDataType, "a value of a query's result is \(kind), and was read as \(type)")
        }
        throw ObjectError(.invalidDataType, "a value of a query's result is \(self), which is not of type \(type)")
    }

    private var kind: String {
        switch self {
        case .null: "null"
        case .integer: "an integer"
        case .real: "a double"
        case .decimal: "a decimal"
        case .boolean: "a boolean"
        case .string: "a string"
        case .binary: "a binary"
        case .date: "a date"
        case .time: "a time"
        case .dateTime: "a dateTime"
        case .json: "a structure or list"
        case .large: "a large value"
        }
    }

    /// Returns a `string` or `char`.
    public func string() throws -> String { try read() }
    /// Returns a `string` or `char`, or nil for null.
    public func nullableString() throws -> String? { try read() }
    /// Returns a `char`.
    public func char() throws -> Character { try Self.character(read()) }
    /// A `char`, or nil for null.
    public func nullableChar() throws -> Character? { try read(as: String?.self).map(Self.character) }
    /// Returns a `boolean`.
    public func boolean() throws -> Bool { try read() }
    /// A `boolean`, or nil for null.
    public func nullableBoolean() throws -> Bool? { try read() }
    /// Returns a `byte`.
    public func byte() throws -> Int8 { try read() }
    /// A `byte`, or nil for null.
    public func nullableByte() throws -> Int8? { try read() }
    /// Returns a `short`.
    public func short() throws -> Int16 { try read() }
    /// A `short`, or nil for null.
    public func nullableShort() throws -> Int16? { try read() }
    /// Returns an `int`.
    public func int() throws -> Int32 { try read() }
    /// An `int`, or nil for null.
    public func nullableInt() throws -> Int32? { try read() }
    /// Returns a `long`.
    public func long() throws -> Int64 { try read() }
    /// A `long`, or nil for null.
    public func nullableLong() throws -> Int64? { try read() }
    /// Returns an `integer`.
    public func integer() throws -> Int64 { try read() }
    /// An `integer`, or nil for null.
    public func nullableInteger() throws -> Int64? { try read() }
    /// Returns a `decimal`.
    public func decimal() throws -> Decimal { try read() }
    /// A `decimal`, or nil for null.
    public func nullableDecimal() throws -> Decimal? { try read() }
    /// Returns a `float`.
    public func float() throws -> Float { try read() }
    /// A `float`, or nil for null.
    public func nullableFloat() throws -> Float? { try read() }
    /// Returns a `double`.
    public func double() throws -> Double { try read() }
    /// A `double`, or nil for null.
    public func nullableDouble() throws -> Double? { try read() }
    /// Returns a `binary`.
    public func binary() throws -> [UInt8] { try read() }
    /// A `binary`, or nil for null.
    public func nullableBinary() throws -> [UInt8]? { try read() }
    /// Returns a `date`.
    public func date() throws -> LocalDate { try read() }
    /// A `date`, or nil for null.
    public func nullableDate() throws -> LocalDate? { try read() }
    /// Returns a `time`.
    public func time() throws -> LocalTime { try read() }
    /// A `time`, or nil for null.
    public func nullableTime() throws -> LocalTime? { try read() }
    /// Returns a `dateTime`.
    public func dateTime() throws -> Date { try read() }
    /// A `dateTime`, or nil for null.
    public func nullableDateTime() throws -> Date? { try read() }

    private static func character(_ text: String) throws -> Character {
        guard text.count == 1, let character = text.first else {
            throw ObjectError(.invalidDataType, "a value of a query's result has \(text.count) characters, and was read as one")
        }
        return character
    }
}
