public import Foundation

/// Values of results, read as what they are: one getter for each type of the model, and one that takes null; all throw what ``read(as:)``
/// throws. SMP 2.3: the class methods of `SUPDataValue`, such as `getNullableString:`.
extension AttributeValue {
    /// The value as a type of attributes; an optional type takes null: `try value.read(as: String?.self)`.
    /// - Throws: ``ObjectError/Code/wrongDataType`` where it is of another type, ``ObjectError/Code/invalidDataType`` where it is null or out of
    ///   the type's range.
    public func read<T: AttributeConvertible>(as type: T.Type = T.self) throws -> T {
        if let value = T(attributeValue: self) { return value }
        if isNull { throw ObjectError(.invalidDataType, "a value of a query's result is null, and was read as \(type); read it as \(type)?") }
        guard case .integer = self, type is any FixedWidthInteger.Type else {
            throw ObjectError(.wrongDataType, "a value of a query's result is \(kind), and was read as \(type)")
        }
        throw ObjectError(.invalidDataType, "a value of a query's result is \(self), which is no \(type)")
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

    /// A `string` or `char`.
    public func string() throws -> String { try read() }
    /// A `string` or `char`, or nil for null.
    public func nullableString() throws -> String? { try read() }
    /// A `char`.
    public func char() throws -> Character { try Self.character(read()) }
    /// A `char`, or nil for null.
    public func nullableChar() throws -> Character? { try read(as: String?.self).map(Self.character) }
    /// A `boolean`.
    public func boolean() throws -> Bool { try read() }
    /// A `boolean`, or nil for null.
    public func nullableBoolean() throws -> Bool? { try read() }
    /// A `byte`.
    public func byte() throws -> Int8 { try read() }
    /// A `byte`, or nil for null.
    public func nullableByte() throws -> Int8? { try read() }
    /// A `short`.
    public func short() throws -> Int16 { try read() }
    /// A `short`, or nil for null.
    public func nullableShort() throws -> Int16? { try read() }
    /// An `int`.
    public func int() throws -> Int32 { try read() }
    /// An `int`, or nil for null.
    public func nullableInt() throws -> Int32? { try read() }
    /// A `long`.
    public func long() throws -> Int64 { try read() }
    /// A `long`, or nil for null.
    public func nullableLong() throws -> Int64? { try read() }
    /// An `integer`.
    public func integer() throws -> Int64 { try read() }
    /// An `integer`, or nil for null.
    public func nullableInteger() throws -> Int64? { try read() }
    /// A `decimal`.
    public func decimal() throws -> Decimal { try read() }
    /// A `decimal`, or nil for null.
    public func nullableDecimal() throws -> Decimal? { try read() }
    /// A `float`.
    public func float() throws -> Float { try read() }
    /// A `float`, or nil for null.
    public func nullableFloat() throws -> Float? { try read() }
    /// A `double`.
    public func double() throws -> Double { try read() }
    /// A `double`, or nil for null.
    public func nullableDouble() throws -> Double? { try read() }
    /// A `binary`.
    public func binary() throws -> [UInt8] { try read() }
    /// A `binary`, or nil for null.
    public func nullableBinary() throws -> [UInt8]? { try read() }
    /// A `date`.
    public func date() throws -> LocalDate { try read() }
    /// A `date`, or nil for null.
    public func nullableDate() throws -> LocalDate? { try read() }
    /// A `time`.
    public func time() throws -> LocalTime { try read() }
    /// A `time`, or nil for null.
    public func nullableTime() throws -> LocalTime? { try read() }
    /// A `dateTime`.
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
