internal import Foundation
internal import Worlds

/// The rows of a database, read and changed with the engine's library alone.
struct DatabaseTruth {
    let world: DatabaseWorld
    let database: any EnterpriseDatabase

    /// The rows of each table at one moment, by their keys; rows of a table without a key by all their values.
    typealias Rows = [[[StoredValue]: [StoredValue]]]

    /// The result of a change in the database itself.
    enum Twin {
        /// The rows after the change.
        case accepted(Rows)
        /// The engine's message.
        case refused(String)
    }

    func rows() throws -> Rows { try world.tables.indices.map { try rows(of: $0) } }

    private func rows(of index: Int) throws -> [[StoredValue]: [StoredValue]] {
        let table = world.tables[index]
        guard !table.columns.isEmpty else { return [:] }
        let found = try database.rows("SELECT \(expressions(table, Array(table.columns.indices))) FROM \(world.name(index))").map {
            $0.map { StoredValue($0) }
        }
        return Dictionary(found.map { (key(of: $0, table), $0) }, uniquingKeysWith: { first, _ in first })
    }

    func key(of row: [StoredValue], _ table: DatabaseTable) -> [StoredValue] { table.key.isEmpty ? row : table.key.map { row[$0] } }

    private func expressions(_ table: DatabaseTable, _ columns: [Int]) -> String {
        columns.map { StoredValue.expression(NamePool.quoted(table.columns[$0].name), world.engine, isBytes: table.columns[$0].type == .blobs) }
            .joined(separator: ", ")
    }

    // MARK: Changes

    /// Makes the tables.
    func makeTables() throws {
        for statement in world.schema { try database.run(statement) }
        for index in world.tables.indices { for row in world.tables[index].rows { try insert(row, index) } }
        guard world.engine == .postgreSQL else { return }
        for (index, table) in world.tables.enumerated() {
            for column in table.columns where [.serial, .identityAlways, .identityByDefault].contains(column.made) {
                let name = NamePool.literal(world.name(index)), place = NamePool.literal(column.name)
                try database.run("SELECT setval(pg_get_serial_sequence(\(name), \(place)), 100)")
            }
        }
    }

    /// Inserts a row, unless the database refuses it: the drawn values may contradict each other.
    func insert(_ row: [String], _ index: Int) throws {
        do { try database.run(world.insert(row, into: index)) } catch let error as EnterpriseFailure {
            // The tables themselves are wrong where a statement is not understood.
            if error.description.contains("syntax error") { throw error }
        }
    }

    /// The key of a row, by the world's own values; nil if the row is not there.
    func key(ofRow row: [String], _ index: Int) throws -> [StoredValue]? {
        let table = world.tables[index]
        let sql = "SELECT \(expressions(table, table.key)) FROM \(world.name(index)) WHERE \(world.condition(row, of: index))"
        return try database.rows(sql).first.map { $0.map { StoredValue($0) } }
    }

    /// Does a change in a transaction that is rolled back.
    func twin(_ statement: String) throws -> Twin {
        try database.run("BEGIN")
        do {
            try database.run(statement)
            if world.engine == .postgreSQL { try database.run("SET CONSTRAINTS ALL IMMEDIATE") }
        } catch let error as EnterpriseFailure {
            try database.run("ROLLBACK")
            return .refused(error.description)
        }
        defer { try? database.run("ROLLBACK") }
        return .accepted(try rows())
    }

    /// The value that a column without constraints makes of an expression; nil if its type has no such value.
    func value(_ expression: String, _ column: DatabaseColumn) throws -> StoredValue? {
        let type = ColumnType.of(column.type, world.engine).sql
        try database.run("BEGIN")
        defer { try? database.run("ROLLBACK") }
        let read = StoredValue.expression("c", world.engine, isBytes: column.type == .blobs)
        if world.engine == .sqlite {
            // In a STRICT table, as ANY is a number elsewhere.
            let end = column.type == .anyValues ? " STRICT" : ""
            try database.run("CREATE TEMP TABLE scratch (c \(type))\(end)")
            try database.run("INSERT INTO scratch VALUES (\(expression))")
            return try database.rows("SELECT \(read) FROM scratch").first.map { StoredValue($0[0]) }
        }
        do {
            try database.run("SAVEPOINT before; CREATE TEMP TABLE scratch (c \(type)); INSERT INTO scratch VALUES (\(expression))")
            return try database.rows("SELECT \(read) FROM scratch").first.map { StoredValue($0[0]) }
        } catch {
            try database.run("ROLLBACK TO before")
            return (try? database.rows("SELECT 't' || encode(convert_to(CAST(\(expression) AS text), 'UTF8'), 'hex')"))?.first.map {
                StoredValue($0[0])
            }
        }
    }
}

/// A comparison of rows after a change with those that the same change leaves by itself.
struct ChangedRows {
    let world: DatabaseWorld
    let before: DatabaseTruth.Rows, expected: DatabaseTruth.Rows
    /// The table of the change, and the columns that the device has set, with the attribute of each.
    let table: Int
    let set: [Int: (StoredValue, StoredValue) -> Bool]
    /// Columns of a new row whose values differ each time.
    let volatile: Set<Int>

    /// The first difference; nil if there is none.
    func difference(_ actual: DatabaseTruth.Rows) -> String? {
        for index in world.tables.indices {
            let known = Set(before[index].keys)
            for key in known {
                guard let text = difference(index, expected[index][key], actual[index][key], []) else { continue }
                return "\(world.name(index)), row \(key): \(text)"
            }
            let new = expected[index].filter { !known.contains($0.key) }, made = actual[index].filter { !known.contains($0.key) }
            guard new.count == made.count else { return "\(world.name(index)): \(made.count) new rows in place of \(new.count)" }
            for (one, other) in zip(new.values, made.values) where new.count == 1 {
                guard let text = difference(index, one, other, index == table ? volatile : []) else { continue }
                return "\(world.name(index)), new row: \(text)"
            }
        }
        return nil
    }

    private func difference(_ index: Int, _ expected: [StoredValue]?, _ actual: [StoredValue]?, _ volatile: Set<Int>) -> String? {
        guard let expected, let actual else {
            return expected == nil && actual == nil ? nil : actual == nil ? "it is gone" : "it is still there"
        }
        // The server writes booleans and times of SQLite in its own form, and columns that are computed of them follow.
        let isOtherForm = index == table && set.contains { expected[$0.key] != actual[$0.key] && $0.value(expected[$0.key], actual[$0.key]) }
        for place in expected.indices where expected[place] != actual[place] {
            if isOtherForm, world.tables[index].columns[place].isComputed { continue }
            if volatile.contains(place), (expected[place] == .null) == (actual[place] == .null) { continue }
            if index == table, let isSame = set[place], isSame(expected[place], actual[place]) { continue }
            // A default that the device writes may have another number of zeros at its end.
            if world.tables[index].columns[place].type == .numerics, isSameNumber(expected[place], actual[place]) { continue }
            return "\(world.tables[index].columns[place].name) is \(actual[place]), expected \(expected[place])"
        }
        return nil
    }

    private func isSameNumber(_ one: StoredValue, _ other: StoredValue) -> Bool {
        guard case .text(let one) = one, case .text(let other) = other, let number = Decimal(string: one) else { return false }
        return number == Decimal(string: other)
    }
}
