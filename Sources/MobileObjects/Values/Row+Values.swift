public import Foundation
public import MobileStore

/// The readers of generated classes. Each returns nil for NULL alone. Where a column holds what the type cannot hold, such as a number above its range
/// or a text that is not a date, it throws ``UnreadableColumn``, and the runtime makes the error with the names of object and attribute: no value is cut.
extension Row {
    /// Returns a `string` or `char` attribute.
    @_spi(GeneratedCode) @inlinable public func readString(_ column: Int) throws -> String? {
        switch type(column) {
        case .text: return string(column)
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    /// Returns a `binary` attribute.
    @_spi(GeneratedCode) @inlinable public func readBinary(_ column: Int) throws -> [UInt8]? {
        switch type(column) {
        case .blob: return blob(column)
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    /// Returns a `byte`, `short`, `int`, `long` or `integer` attribute.
    @_spi(GeneratedCode) @inlinable public func readInteger<T: FixedWidthInteger>(_ column: Int, as type: T.Type = T.self) throws -> T? {
        switch self.type(column) {
        case .integer:
            guard let value = T(exactly: integer(column)) else { throw unreadable(column) }
            return value
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    /// Returns a `boolean` attribute, stored as 0 or 1.
    @_spi(GeneratedCode) @inlinable public func readBoolean(_ column: Int) throws -> Bool? {
        guard let value = try readInteger(column, as: Int64.self) else { return nil }
        guard value == 0 || value == 1 else { throw unreadable(column) }
        return value == 1
    }

    /// Returns a `double` attribute.
    @_spi(GeneratedCode) @inlinable public func readReal(_ column: Int) throws -> Double? {
        switch type(column) {
        case .real, .integer: return real(column)
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    /// Returns a `float` attribute, rounded to the nearest one.
    @_spi(GeneratedCode) @inlinable public func readFloat(_ column: Int) throws -> Float? {
        guard let value = try readReal(column) else { return nil }
        guard let float = Float(nearest: value) else { throw unreadable(column) }
        return float
    }

    /// Returns a `decimal` attribute of up to 18 digits, stored as an integer times 10 to the `scale`.
    @_spi(GeneratedCode) public func readDecimal(_ column: Int, scale: Int) throws -> Decimal? {
        try readInteger(column, as: Int64.self).map { DecimalText.decimal($0, scale: scale) }
    }

    /// Returns a `decimal` attribute of more than 18 digits, stored as text.
    @_spi(GeneratedCode) public func readDecimalText(_ column: Int) throws -> Decimal? {
        switch type(column) {
        case .text: return try held(column, string(column).flatMap(DecimalText.held))
        case .integer: return Decimal(integer(column))
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    /// Returns a `date` attribute.
    @_spi(GeneratedCode) public func readDate(_ column: Int) throws -> LocalDate? {
        try withText(column) { try held(column, ISO8601Text.date($0, 0, isWhole: true)) }
    }

    /// Returns a `time` attribute.
    @_spi(GeneratedCode) public func readTime(_ column: Int) throws -> LocalTime? {
        try withText(column) { try held(column, ISO8601Text.time($0, 0, isWhole: true)) }
    }

    /// Returns a `dateTime` attribute.
    @_spi(GeneratedCode) public func readDateTime(_ column: Int) throws -> Date? {
        try withText(column) { try held(column, ISO8601Text.dateTime($0)) }
    }

    /// Returns a structure or list, stored as JSON.
    @_spi(GeneratedCode) public func readDecoded<T: Decodable>(_ column: Int, as type: T.Type = T.self) throws -> T? {
        guard let text = try readString(column) else { return nil }
        do { return try StructureJSON.value(text, as: type) } catch { throw UnreadableColumn(column: column, cause: error) }
    }

    /// Reads a text in place; returns nil for NULL.
    private func withText<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) throws -> R? {
        switch type(column) {
        case .text: return try withBytes(column) { bytes in try bytes.withUnsafeBytes { try $0.withMemoryRebound(to: UInt8.self, body) } }
        case .null: return nil
        default: throw unreadable(column)
        }
    }

    private func held<T>(_ column: Int, _ value: T?) throws -> T {
        guard let value else { throw unreadable(column) }
        return value
    }

    /// Returns the error for a column. It is not inlined, because readers are, at every attribute of every class.
    @usableFromInline @inline(never) func unreadable(_ column: Int) -> any Error { UnreadableColumn(column: column, cause: nil) }
}

/// A column that holds what the type of its attribute cannot hold. It does not leave the module: `EntityContext` makes an error with names of it.
struct UnreadableColumn: Error {
    let column: Int
    /// The reason, where the value is a structure or list.
    let cause: (any Error)?
}

extension Float {
    /// Creates the nearest float; fails for finite numbers beyond its range.
    @usableFromInline init?(nearest value: Double) {
        let float = Float(value)
        guard float.isFinite || !value.isFinite else { return nil }
        self = float
    }
}

extension AttributeValue {
    /// Returns a structure or list as a value.
    /// - Throws: ``ObjectError/Code/invalidValue`` when it cannot be encoded as JSON.
    public static func encoded(_ value: some Encodable) throws -> AttributeValue {
        do { return .json(try StructureJSON.text(value)) } catch {
            throw ObjectError(.invalidValue, "a value of type \(type(of: value)) cannot be encoded as JSON", cause: error)
        }
    }

    /// Returns the structure or list in the value; nil where it is null, of another kind, or JSON of another type.
    public func decoded<T: Decodable>(as type: T.Type = T.self) -> T? {
        guard case .json(let text) = self else { return nil }
        return try? StructureJSON.value(text, as: type)
    }
}
