public import Foundation
public import MobileStore

/// What generated classes read from rows, beside what `Row` itself offers. A value that the attribute cannot have reads as the type's
/// zero, as SQLite's own typed getters do: the row came through checks when it was written.
extension Row {
    /// A `boolean` attribute.
    @inlinable public func boolean(_ column: Int) -> Bool { integer(column) != 0 }

    /// A `decimal` attribute of up to 18 digits, stored as an integer times 10 to the `scale`.
    public func decimal(_ column: Int, scale: Int) -> Decimal { DecimalText.decimal(integer(column), scale: scale) }

    /// A `decimal` attribute of more than 18 digits, stored as text.
    public func decimalText(_ column: Int) -> Decimal {
        string(column).flatMap { Decimal(string: $0, locale: nil) } ?? Decimal()
    }

    /// A `date` attribute; nil where the column is NULL or no date.
    public func date(_ column: Int) -> LocalDate? { withText(column) { ISO8601Text.date($0, 0, isWhole: true) } }

    /// A `time` attribute; nil where the column is NULL or no time.
    public func time(_ column: Int) -> LocalTime? { withText(column) { ISO8601Text.time($0, 0, isWhole: true) } }

    /// A `dateTime` attribute; nil where the column is NULL or no such text.
    public func dateTime(_ column: Int) -> Date? { withText(column) { ISO8601Text.dateTime($0) } }

    /// Reads a text where it lies.
    private func withText<R>(_ column: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        withBytes(column) { bytes in bytes.withUnsafeBytes { $0.withMemoryRebound(to: UInt8.self, body) } }
    }

    /// A structure or list, kept as JSON; nil where the column is NULL or not of that type.
    public func decoded<T: Decodable>(_ column: Int, as type: T.Type = T.self) -> T? {
        string(column).flatMap { try? StructureJSON.value($0, as: type) }
    }
}

extension AttributeValue {
    /// A structure or list as a value.
    /// - Throws: ``ObjectError/Code/invalidValue`` when it cannot be encoded as JSON.
    public static func encoded(_ value: some Encodable) throws -> AttributeValue {
        do { return .json(try StructureJSON.text(value)) } catch {
            throw ObjectError(.invalidValue, "a value of type \(type(of: value)) cannot be encoded as JSON", cause: error)
        }
    }

    /// The structure or list that the value is; nil where it is null, of another kind, or JSON of another type.
    public func decoded<T: Decodable>(as type: T.Type = T.self) -> T? {
        guard case .json(let text) = self else { return nil }
        return try? StructureJSON.value(text, as: type)
    }
}
