import Foundation
import MobileModel
import MobileObjects
import MobileStore

/// Tries changes on the copy of a back end in transactions that are rolled back: a refused change reveals a constraint, without guessing.
struct BackEndTrials {
    private let database: Database

    init(path: String) throws {
        var profile = ConnectionProfile(path: path, foreignKeys: true, createsFile: false)
        profile.journal = .unchanged
        database = try Database(profile)
    }

    func close() throws { try database.close() }

    /// A change of one attribute that the back end refuses, and the device does not.
    struct Refusal {
        let attribute: AttributeMetadata
        let value: AttributeValue
        /// The object whose value it is; nil where no object has it.
        let other: GenericEntity?
        /// The message of SQLite.
        let reason: String
    }

    /// Finds a value that the back end refuses in `object`, among likely ones: negative numbers, unknown references, an unknown code, a missing
    /// value, and a value that another object has.
    func refusedUpdate(of object: GenericEntity, another: GenericEntity?) throws -> Refusal? {
        // An attribute that a relationship fills follows the object at the other end, regardless of its own value.
        let filled = Set(object.metadata.relationships.filter { !$0.isMany }.flatMap { $0.mapping.map(\.source) })
        for attribute in object.metadata.attributes
        where !attribute.isKey && !attribute.isLarge && !attribute.isGenerated && !filled.contains(attribute.index) {
            for value in Self.suspects(for: attribute) where attribute.refusal(of: value) == nil {
                if case .refused(let reason) = try outcome(ofUpdate: object, attribute, value) {
                    return Refusal(attribute: attribute, value: value, other: nil, reason: reason)
                }
            }
            if let value = another?.value(ofAttribute: attribute.index), !value.isNull, attribute.refusal(of: value) == nil,
                case .refused(let reason) = try outcome(ofUpdate: object, attribute, value)
            {
                return Refusal(attribute: attribute, value: value, other: another, reason: reason)
            }
        }
        return nil
    }

    /// Values that a back end, or a rule of the model, is likely to refuse.
    static func suspects(for attribute: AttributeMetadata) -> [AttributeValue] {
        let nothing: [AttributeValue] = attribute.isNullable ? [.null] : []
        switch attribute.type {
        case .byte: return [.integer(255), .integer(0)] + nothing
        case .short, .int, .long, .integer: return [.integer(-1), .integer(9_999)] + nothing
        case .decimal: return [.decimal(-1)] + nothing
        case .float, .double: return [.real(-1)] + nothing
        case .string: return [.string("?"), .string("")] + nothing
        case .char: return [.string("?")] + nothing
        default: return nothing
        }
    }

    /// Whether the back end accepts `value` for an attribute.
    func accepts(_ object: GenericEntity, _ attribute: AttributeMetadata, _ value: AttributeValue) throws -> Bool {
        try outcome(ofUpdate: object, attribute, value) == .done
    }

    /// Whether the back end accepts the deletion of the row: no other row refers to it, and no trigger keeps it.
    func acceptsDelete(of object: GenericEntity) throws -> Bool {
        let (test, values) = key(of: object)
        return try outcome(of: ("DELETE FROM \(Self.table(object.metadata)) WHERE \(test)", values), of: object.metadata, rowsMore: -1) == .done
    }

    /// Whether the back end accepts a new row with the object's values, and makes no other one of its own.
    func acceptsCreate(of object: GenericEntity) throws -> Bool {
        let attributes = object.metadata.attributes.filter { !$0.isGenerated && !$0.isLarge }
        let columns = attributes.map { Self.column($0, of: object.metadata) }.joined(separator: ", ")
        let places = attributes.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let values = attributes.map { Self.value(object.value(ofAttribute: $0.index)) }
        let content = attributes.isEmpty ? "DEFAULT VALUES" : "(\(columns)) VALUES (\(places))"
        return try outcome(of: ("INSERT INTO \(Self.table(object.metadata)) \(content)", values), of: object.metadata, rowsMore: 1) == .done
    }

    /// The number of rows in an object's table.
    func count(_ entity: EntityMetadata) throws -> Int {
        try database.read { Int(try $0.number("SELECT count(*) FROM \(Self.table(entity))")) }
    }

    /// One more than the greatest number in an attribute's column; nil after the greatest number that there is.
    func nextNumber(_ attribute: AttributeMetadata, of entity: EntityMetadata) throws -> Int64? {
        let sql = "SELECT max(\(Self.column(attribute, of: entity))) FROM \(Self.table(entity))"
        let (next, isBeyond) = (try database.read { try $0.optionalNumber(sql) } ?? 0).addingReportingOverflow(1)
        return isBeyond ? nil : next
    }

    // MARK: SQL

    private enum Outcome: Equatable {
        /// The back end did what the statement says.
        case done
        /// The back end did nothing, or something else: a trigger left the statement out or kept the row, or a conflict was ignored or removed another row.
        case other
        case refused(String)
    }

    private struct RolledBack: Error {
        let isDone: Bool
    }

    /// Runs a statement for one row and rolls it back. Any error of the statement is a refusal: a foreign key to a table that does not exist fails like a
    /// constraint.
    /// - Parameter rowsMore: the number of rows that the table then has more.
    private func outcome(of statement: (sql: String, values: [Value]), of entity: EntityMetadata, rowsMore: Int64) throws -> Outcome {
        let count = "SELECT count(*) FROM \(Self.table(entity))"
        do {
            try database.write { connection in
                let before = try connection.number(count)
                // The server's statements return the row as well, and SQLite looks at more foreign keys for that.
                let changed = try connection.rows(statement.sql + " RETURNING 1", statement.values).count
                throw RolledBack(isDone: try changed == 1 && connection.number(count) == before + rowsMore)
            }
        } catch let end as RolledBack {
            return end.isDone ? .done : .other
        } catch let error as StoreError {
            return .refused(error.message)
        }
        return .other
    }

    private func outcome(ofUpdate object: GenericEntity, _ attribute: AttributeMetadata, _ value: AttributeValue) throws -> Outcome {
        try outcome(of: update(object, attribute, value), of: object.metadata, rowsMore: 0)
    }

    private func update(_ object: GenericEntity, _ attribute: AttributeMetadata, _ value: AttributeValue) -> (String, [Value]) {
        let (test, values) = key(of: object)
        let column = Self.column(attribute, of: object.metadata)
        return ("UPDATE \(Self.table(object.metadata)) SET \(column) = ?\(values.count + 1) WHERE \(test)", values + [Self.value(value)])
    }

    private func key(of object: GenericEntity) -> (test: String, values: [Value]) {
        let attributes = object.metadata.primaryKey.map { object.metadata.attributes[$0] }
        let test = attributes.enumerated().map { "\(Self.column($0.element, of: object.metadata)) = ?\($0.offset + 1)" }
        return (test.joined(separator: " AND "), attributes.map { Self.value(object.value(ofAttribute: $0.index)) })
    }

    private static func table(_ entity: EntityMetadata) -> String { quoted(entity.model.binding?.table ?? entity.name) }

    private static func column(_ attribute: AttributeMetadata, of entity: EntityMetadata) -> String {
        quoted(entity.model.binding?.column(of: attribute.name) ?? attribute.name)
    }

    private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// The value for a back end's column; the column's affinity converts it further.
    private static func value(_ value: AttributeValue) -> Value {
        switch value {
        case .null, .large: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .boolean(let flag): .integer(flag ? 1 : 0)
        case .binary(let bytes): .blob(bytes)
        default: .text(value.description)
        }
    }
}
