import Foundation
import MobileModel
import MobileStore

/// Converts the values that SQL alone cannot: strings and binaries that leave their rows or come into them, decimals that become texts. It converts
/// one value at a time; a value that leaves a row is streamed.
struct ValueUpgrade {
    private let entity: EntityUpgrade
    private let connection: Connection
    private let store: Database

    init(_ entity: EntityUpgrade, _ connection: Connection, _ store: Database) {
        (self.entity, self.connection, self.store) = (entity, connection, store)
    }

    func run() throws {
        for attribute in entity.keptAttributes {
            switch attribute.conversion {
            case .none, .rescaled: break
            case .outOfRow: try moveOutOfRows(attribute.old, attribute.new)
            case .intoRow, .decimalText:
                for pair in entity.tables {
                    try forEach(pair, attribute.old, attribute.new) { _, value in
                        try ConvertedValue(attribute.conversion, attribute.new, store).stored(value)
                    }
                }
            }
        }
    }

    /// Converts the original states first: a row that has the server's value refers to the server's, so that nothing looks changed.
    private func moveOutOfRows(_ old: AttributeMetadata, _ new: AttributeMetadata) throws {
        let unit: LargeValueUnit = new.type == .bigString ? .scalars : .bytes
        let column = entity.old.sql.attributeColumns[old.index], newColumn = entity.new.sql.attributeColumns[new.index]
        for (position, pair) in entity.tables.enumerated().reversed() {
            try forEach(pair, old, new) { key, _ in
                if position == 0, entity.tables.count == 2 {
                    let original = EntitySQL.quote(entity.tables[1].aside)
                    let same = try connection.first(
                        """
                        SELECT n.\(newColumn) FROM \(EntitySQL.quote(pair.aside)) AS r JOIN \(original) AS o ON o."_sk" = r."_sk"
                        JOIN \(entity.new.sql.originalTable) AS n ON n."_sk" = r."_sk" WHERE r."_sk" = ?1 AND r.\(column) = o.\(column)
                        """, [.integer(key)])
                    if let same { return same[0] }
                }
                let writer = try LargeValueWriter(in: store, unit: unit)
                let reader = try connection.valueReader(table: pair.aside, column: old.name, row: key)
                while let chunk = try reader.nextChunk() { try writer.write(chunk) }
                return .integer(try writer.finish().id)
            }
        }
    }

    /// Writes a value for each row that had one. The former value is read into memory only where it is short, or where it is an id.
    private func forEach(
        _ pair: (aside: String, table: String), _ old: AttributeMetadata, _ new: AttributeMetadata, _ convert: (Int64, Value) throws -> Value
    ) throws {
        let column = entity.old.sql.attributeColumns[old.index]
        let value = old.storage == .text || old.storage == .binary ? "NULL" : column
        let select = """
            SELECT "_sk", \(value) FROM \(EntitySQL.quote(pair.aside)) WHERE "_sk" > ?1 AND \(column) IS NOT NULL ORDER BY "_sk" LIMIT 500
            """
        let update = "UPDATE \(EntitySQL.quote(pair.table)) SET \(entity.new.sql.attributeColumns[new.index]) = ?2 WHERE \"_sk\" = ?1"
        var last = Int64.min
        while true {
            let rows = try connection.rows(select, [.integer(last)])
            for row in rows {
                let key = try StoredRow([StateColumn.key], row, of: pair.aside).integer(.key)
                try connection.execute(update, [row[0], try convert(key, row[1])])
                last = key
            }
            if rows.count < 500 { return }
        }
    }
}

/// A stored value, or one in a message, in the form of the new attribute.
struct ConvertedValue {
    private let conversion: ValueConversion
    private let attribute: AttributeMetadata
    private let store: Database

    init(_ conversion: ValueConversion, _ attribute: AttributeMetadata, _ store: Database) {
        (self.conversion, self.attribute, self.store) = (conversion, attribute, store)
    }

    /// - Returns: the value as the new model stores it; a value that leaves its row stays as it is, because the caller moves it.
    /// - Throws: ``ObjectError/Code/corrupt`` where the value is not valid for the old attribute; `StoreError` where a large value is missing.
    func stored(_ value: Value) throws -> Value {
        switch (conversion, value) {
        case (_, .null), (.none, _), (.outOfRow, _): return value
        case (.rescaled(let digits), .integer(let value)):
            let (scaled, overflow) = (0..<digits).reduce((value, false)) { result, _ in
                let (next, overflow) = result.0.multipliedReportingOverflow(by: 10)
                return (next, result.1 || overflow)
            }
            guard !overflow else { throw damaged }
            return .integer(scaled)
        case (.decimalText(let scale), .integer(let value)):
            guard let text = attribute.storage.stored(.decimal(DecimalText.decimal(value, scale: scale))) else { throw damaged }
            return text
        case (.intoRow, .integer(let id)):
            let reader = try LargeValueReader(id, in: store)
            // Values in rows are read whole wherever rows are read.
            let bytes = try reader.bytes(upTo: Int(reader.byteCount))
            return attribute.storage == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .blob(bytes)
        default: throw damaged
        }
    }

    /// Returns the same for a value in a message, where only the digits of decimals differ.
    func json(_ value: JSONValue) throws -> JSONValue {
        switch conversion {
        case .rescaled, .decimalText:
            guard let value = attribute.storage.attributeValue(value), let stored = attribute.storage.stored(value) else { throw damaged }
            return attribute.storage.json(stored)
        case .none, .outOfRow, .intoRow: return value
        }
    }

    private var damaged: ObjectError { ObjectError(.corrupt, "upgrade of \"\(attribute.name)\": a stored value is not what its attribute says") }
}
