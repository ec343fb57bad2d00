public import Foundation
public import MobileStore

/// The getters of generated classes that `Row` itself does not have. A value that the attribute cannot have reads as the type's
/// zero, as with SQLite's own typed getters, because the row was checked when it was written.
extension Row {
    /// Returns a `boolean` attribute.
    @_spi(GeneratedCode) @inlinable public func boolean(_ column: Int) -> Bool { integer(column) != 0 }

    /// Returns a `decimal` attribute of up to 18 digits, stored as an integer times 10 to the `scale`.
    @_spi(GeneratedCode) public func decimal(_ column: Int, scale: Int) -> Decimal { DecimalText.decimal(integer(column), scale: scale) }

    /// Returns a `decimal` attribute of more than 18 digits, stored as text.
    @_spi(GeneratedCode) public func decimalText(_ column: Int) -> Decimal {
        string(column).flatMap { Decimal(string: $0, locale: nil) } ?? Decimal()
    }

    /// Returns a `date` attribute; nil where the column is NULL or not a date.
    @_spi(GeneratedCode) public func date(_ column: Int) -> LocalDate? { withText(column) { ISO8601Text.date($0, 0, isWhole: true) } }

    /// Returns a `time` attribute; nil where the column is NULL or not a time.
    @_spi(GeneratedCode) public func time(_ column: Int) -> LocalTime? { withText(column) { ISO8601Text.time($0, 0, isWhole: true) } }

    /// Returns a `dateTime` attribute; nil where the column is NULL or not such a text.
    @_spi(GeneratedCode) public func dateTime(_ column: Int) -> Date? { withText(column) { ISO8601Text.dateTime($0) } }

    /// Reads a text in place.
    private func withText<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        withBytes(column) { bytes in bytes.withUnsafeBytes { $0.withMemoryRebound(to: UInt8.self, body) } }
    }

    /// Returns a structure or list, stored as JSON; nil where the column is NULL or not of that type.
    @_spi(GeneratedCode) public func decoded<T: Decodable>(_ column: Int, as type: T.Type = T.self) -> T? {
        string(column).flatMap { try? StructureJSON.value($0, as: type) }
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
