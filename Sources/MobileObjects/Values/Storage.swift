import Foundation
import MobileModel
import MobileStore

/// The stored form of an attribute's values. It is the same everywhere: an import writes the same form as `save`.
enum Storage: Sendable, Equatable {
    case integer(ClosedRange<Int64>)
    case boolean
    /// An integer, the value times 10 to the scale.
    case scaledDecimal(precision: Int, scale: Int)
    /// Canonical text, for more digits than an integer holds.
    case textDecimal(precision: Int, scale: Int)
    case real
    case text
    case binary
    case date
    case time
    case dateTime
    case json
    case large

    init(_ attribute: AttributeModel) {
        self.init(attribute.type, precision: attribute.precision, scale: attribute.scale)
    }

    init(_ type: AttributeType, precision: Int? = nil, scale: Int? = nil) {
        switch type {
        case .string, .char: self = .text
        case .binary: self = .binary
        case .boolean: self = .boolean
        case .byte: self = .integer(Int64(Int8.min)...Int64(Int8.max))
        case .short: self = .integer(Int64(Int16.min)...Int64(Int16.max))
        case .int: self = .integer(Int64(Int32.min)...Int64(Int32.max))
        case .long, .integer: self = .integer(Int64.min...Int64.max)
        case .decimal:
            let precision = precision ?? 18, scale = scale ?? 2
            self = precision <= 18 ? .scaledDecimal(precision: precision, scale: scale) : .textDecimal(precision: precision, scale: scale)
        case .float, .double: self = .real
        case .date: self = .date
        case .time: self = .time
        case .dateTime: self = .dateTime
        case .bigString, .bigBinary: self = .large
        case .structure, .list, .nullableList: self = .json
        }
    }

    /// A decimal with the maximum digits of a value in memory, on either side of the point.
    static let exactDecimal = Storage.textDecimal(precision: 76, scale: 38)

    /// Returns the value as bound to a statement; nil when it is of another kind or does not fit.
    func stored(_ value: AttributeValue) -> Value? {
        switch (self, value) {
        case (_, .null): .null
        case (.integer(let range), .integer(let value)): range.contains(value) ? .integer(value) : nil
        case (.boolean, .boolean(let value)): .integer(value ? 1 : 0)
        case (.scaledDecimal(let precision, let scale), .decimal(let value)):
            DecimalText.scaled(DecimalText.meant(value, scale: scale), precision: precision, scale: scale).map { .integer($0) }
        case (.textDecimal(let precision, let scale), .decimal(let value)):
            DecimalText.canonical(DecimalText.meant(value, scale: scale), precision: precision, scale: scale).map { .text($0) }
        case (.scaledDecimal, .integer(let value)), (.textDecimal, .integer(let value)): stored(.decimal(Decimal(value)))
        case (.real, .real(let value)): value.isFinite ? .real(value) : nil
        case (.real, .integer(let value)): .real(Double(value))
        case (.text, .string(let value)): .text(value)
        case (.binary, .binary(let value)): .blob(value)
        case (.date, .date(let value)): .text(value.description)
        case (.time, .time(let value)): .text(value.description)
        case (.dateTime, .dateTime(let value)): value.timeIntervalSince1970.isFinite ? .text(ISO8601Text.text(value)) : nil
        case (.json, .json(let value)): .text(value)
        case (.large, .large(let value)): .integer(value)
        default: nil
        }
    }

    /// Returns a decimal as the value that the attribute keeps of it, see ``DecimalText/meant(_:scale:)``; other values as they are.
    func meant(_ value: AttributeValue) -> AttributeValue {
        switch (self, value) {
        case (.scaledDecimal(_, let scale), .decimal(let decimal)), (.textDecimal(_, let scale), .decimal(let decimal)):
            .decimal(DecimalText.meant(decimal, scale: scale))
        default: value
        }
    }

    /// Reverses ``stored(_:)``; returns nil when the attribute cannot have the value from the database.
    func attributeValue(_ value: Value) -> AttributeValue? {
        switch (self, value) {
        case (_, .null): .null
        case (.integer(let range), .integer(let value)): range.contains(value) ? .integer(value) : nil
        case (.boolean, .integer(let value)): value == 0 || value == 1 ? .boolean(value == 1) : nil
        case (.scaledDecimal(_, let scale), .integer(let value)): .decimal(DecimalText.decimal(value, scale: scale))
        case (.textDecimal, .text(let value)): DecimalText.held(in: value).map { .decimal($0) }
        case (.textDecimal, .integer(let value)): .decimal(Decimal(value))
        case (.real, .real(let value)): .real(value)
        case (.real, .integer(let value)): .real(Double(value))
        case (.text, .text(let value)): .string(value)
        case (.binary, .blob(let value)): .binary(value)
        case (.date, .text(let value)): LocalDate(value).map { .date($0) }
        case (.time, .text(let value)): LocalTime(value).map { .time($0) }
        case (.dateTime, .text(let value)): ISO8601Text.dateTime(value).map { .dateTime($0) }
        case (.json, .text(let value)): .json(value)
        case (.large, .integer(let value)): .large(value)
        default: nil
        }
    }

    /// Returns whether the attribute can have the value of a column: whether ``attributeValue(_:)`` returns one. No text is made.
    func fits(_ row: borrowing Row, _ column: Int) -> Bool {
        switch (self, row.type(column)) {
        case (_, .null): true
        case (.integer(let range), .integer): range.contains(row.integer(column))
        case (.boolean, .integer): row.integer(column) == 0 || row.integer(column) == 1
        case (.scaledDecimal, .integer), (.textDecimal, .integer), (.real, .integer), (.large, .integer), (.real, .real): true
        case (.text, .text), (.json, .text), (.binary, .blob): true
        case (.textDecimal, .text): row.string(column).flatMap(DecimalText.held) != nil
        case (.date, .text): (try? row.readDate(column)) != nil
        case (.time, .text): (try? row.readTime(column)) != nil
        case (.dateTime, .text): (try? row.readDateTime(column)) != nil
        default: false
        }
    }

    /// The declared type of the column. `ANY` columns keep every value as given; the affinity of the others changes none of our values.
    var columnType: String {
        switch self {
        case .integer, .boolean, .scaledDecimal, .large: "INTEGER"
        case .real: "REAL"
        case .binary: "BLOB"
        case .textDecimal, .text, .date, .time, .dateTime, .json: "TEXT"
        }
    }
}
