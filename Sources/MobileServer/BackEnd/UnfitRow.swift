internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// A row of a back end that its attributes cannot hold. It is held back, alone: see ``Quarantine``.
struct UnfitRow: Sendable, Equatable {
    /// The row's key; nil if its attributes cannot hold the key itself.
    let key: KeyText?
    /// The key as people write it, cut to one line.
    let shownKey: String
    /// The name of the row in the quarantine.
    let name: String
    /// The table that the object is bound to.
    let table: String
    /// The column with the value: several with commas between them for a key of several parts.
    let column: String
    let attribute: String
    /// The value as people write it, cut to one line.
    var value: String
    /// Phrase for the values that the attribute can hold.
    let expected: String

    /// The longest value or key in a record, in characters.
    static let longestText = 60

    init(
        _ object: ObjectPlan, key: KeyText?, shownKey: Value, attributes: [AttributeModel], form: AttributeModel?, value: Value,
        expected: String? = nil
    ) {
        self.key = key
        self.shownKey = Self.text(ofKey: shownKey, of: object)
        name = key.map { Self.name(of: $0) } ?? Self.name(ofUnfitKey: shownKey)
        table = object.binding.table
        column = attributes.map { object.binding.column(of: $0.name) }.joined(separator: ", ")
        attribute = attributes.map(\.name).joined(separator: ", ")
        self.value = Self.text(value)
        let words = (form ?? attributes.first)?.formWords ?? "another value"
        self.expected = expected ?? words + (key == nil || form != nil ? Self.exactness(of: form ?? attributes.first) : "")
    }

    /// Phrase for the digits that a time may have as a part of a key.
    private static func exactness(of attribute: AttributeModel?) -> String {
        switch attribute?.type {
        case .dateTime?: ", exact to the millisecond"
        case .time?: ", exact to the second"
        default: ""
        }
    }

    /// Short enough for the index of any engine, in bytes.
    private static let longestName = 400

    /// No key in JSON begins so.
    private static func name(ofUnfitKey key: Value) -> String { "?" + text(key) }

    /// The names that a row with this key may have.
    static func names(of key: RowKey) -> [String] { [name(of: KeyText(key.value)), name(ofUnfitKey: key.value)] }

    private static func name(of key: KeyText) -> String {
        let bytes = Array(key.text.utf8)
        guard bytes.count > longestName else { return key.text }
        let digest = (try? SHA256.digest(of: bytes))?.hexadecimal ?? ""
        return String(decoding: bytes.prefix(longestName - 100), as: UTF8.self) + " ... " + digest
    }

    /// The parts of a key in the form of their attributes, as far as these can hold them.
    private static func text(ofKey key: Value, of object: ObjectPlan) -> String {
        if case .blob = key { return text(key) }
        guard key != .null, let parts = RowKey(key, of: object)?.parts else { return text(key) }
        return zip(parts, object.keyAttributes).map { part, attribute in
            switch part {
            case .integer: WireConversion.json(cached: part, of: attribute).description
            // Not as JSON: it may be NaN, which JSON does not have.
            case .text(let number) where attribute.type == .decimal: String(number.prefix(longestText))
            default: text(part)
            }
        }.joined(separator: ", ")
    }

    /// The sentence for the log.
    func sentence(_ object: ObjectPlan) -> String {
        """
        load of "\(object.name)" from back end "\(object.binding.backEnd)": table "\(table)", row with the key \(shownKey), column "\(column)": \
        expected \(expected) for the attribute "\(attribute)", found \(value)
        """
    }

    /// A value as people write it, cut to one line.
    static func text(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "\"" + text.prefix(longestText).replacing(/\s/, with: " ") + (text.count > longestText ? "..." : "") + "\""
        case .blob(let bytes):
            SQLiteExpressions.text(ofInexact: bytes).map { Self.text(.text($0)) } ?? "\(bytes.count) bytes"
        }
    }
}

/// The rows of one load that are held back: the first ones, and the number of the others.
struct UnfitRows: Sendable {
    private(set) var first: [UnfitRow] = []
    private(set) var others = 0

    /// The number of rows of one object that are recorded.
    static let limit = 1000

    var isEmpty: Bool { first.isEmpty }

    mutating func add(_ row: UnfitRow) {
        if first.count < Self.limit { first.append(row) } else { others += 1 }
    }
}

extension AttributeModel {
    /// Whether each row has a value of the attribute. New rows get generated ones from the back end.
    func isRequired(in object: ObjectModel) -> Bool { !isNullable && !isGenerated || object.primaryKey.contains(name) }

    /// The integers that the attribute can hold.
    var integers: ClosedRange<Int64> {
        switch type {
        case .byte: Int64(Int8.min)...Int64(Int8.max)
        case .short: Int64(Int16.min)...Int64(Int16.max)
        case .int: Int64(Int32.min)...Int64(Int32.max)
        default: .min ... .max
        }
    }

    /// The lengths that the attribute can hold: of texts in characters, of bytes.
    var lengths: ClosedRange<Int> { type == .char ? 1...1 : 0...(length ?? .max) }

    /// Phrase for the values that the attribute can hold, for messages.
    var formWords: String {
        let atMost = length.map { " of at most \($0)" }
        return switch type {
        case .byte, .short, .int: "an integer from \(integers.lowerBound) to \(integers.upperBound)"
        case .long, .integer: "an integer"
        case .boolean: "true or false"
        case .float: "a finite number of 32 bits"
        case .double: "a finite number"
        case .decimal: decimalWords
        case .date: "a date of the years 1 to 9999"
        case .time: "a time of day before 24:00"
        case .dateTime: "a moment of the years 1 to 9999"
        case .char: "one character"
        case .string, .bigString, .structure, .list, .nullableList: "text in UTF-8" + (atMost.map { $0 + " characters" } ?? "")
        case .binary, .bigBinary: atMost.map { "bytes," + $0.replacing(" of", with: "") } ?? "bytes"
        }
    }
}
