import MobileModel
import MobileSQLite
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// A load converts values by the core, with SQL only for those that need it: each value becomes what its attribute's SQL would make of it in the query.
@Suite(.runsOnce) struct LoadConversionTests {
    private static let attributes = """
        {"name": "byte", "type": "byte"}, {"name": "long", "type": "long"}, {"name": "boolean", "type": "boolean"}, {"name": "string", "type": "string"},
        {"name": "binary", "type": "binary"}, {"name": "double", "type": "double"}, {"name": "price", "type": "decimal", "precision": 12, "scale": 2},
        {"name": "share", "type": "decimal", "precision": 18, "scale": 18}, {"name": "wide", "type": "decimal", "precision": 38, "scale": 4},
        {"name": "day", "type": "date"}, {"name": "clock", "type": "time"}, {"name": "moment", "type": "dateTime"}
        """

    private static let model = Result {
        var model = try PackageModel(
            json: """
                {
                  "format": 1, "name": "Forms", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                  "objects": [{
                    "name": "T", "attributes": [{"name": "id", "type": "long"}, \(attributes)], "primaryKey": ["id"],
                    "binding": {"backEnd": "enterprise", "table": "t"}}]
                }
                """)
        for index in model.objects[0].attributes.indices.dropFirst() { model.objects[0].attributes[index].isNullable = true }
        return model
    }

    private static let values = [
        "NULL", "0", "1", "-7", "12", "99999999999", "1700000000", "1700000000000", "9223372036854775807", "0.0", "-0.0", "0.5", "12.345", "-0.005",
        "2460000.5", "1e15", "1e19", "9e999", "''", "'7'", "' 12.50 '", "'1e3'", "'YES'", "'off'", "'perhaps'", "'now'", "'2026-05-17'",
        "'2026-05-17T10:11'", "'2026-05-17 10:11:12.5Z'", "'2026-02-30'", "'2026-05-17T10:11:12+02:00'", "'10:11'", "'10:11:12.999'", "x''",
        "x'3132'", "x'FF'", "'\u{e4}b'", "'a' || char(0) || 'b'", "CAST(x'C3' AS TEXT)",
    ]

    @Test(
        "columns of each affinity and collation",
        arguments: ["", "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "TEXT COLLATE NOCASE", "VARCHAR(10) COLLATE RTRIM", "BOOLEAN", "DATETIME"])
    func conversions(declaration: String) throws {
        let folder = try TemporaryDirectory(), database = try Database(ConnectionProfile(path: folder.file("any.db"), journal: .unchanged))
        let object = try #require(try Self.model.get().object(named: "T"))
        try database.write { connection in
            _ = try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, c \(declaration))")
            for (index, value) in Self.values.enumerated() { _ = try connection.execute("INSERT INTO t VALUES (\(index), \(value))") }
        }
        /// Returns the texts of one row, or the code of the error.
        func row(_ connection: Connection, _ column: String, _ export: ExportColumn, _ number: Int) throws -> String {
            var text: [UInt8] = [], ends: [Int] = []
            do throws(StoreError) {
                let rows = try connection.exporter("SELECT \(column) FROM t WHERE id = \(number)", [], columns: [export])
                _ = try rows.appendRow(leadingValues: 0, to: &text, ends: &ends)
            } catch {
                return "\(error.code)"
            }
            return String(decoding: text, as: UTF8.self)
        }
        try database.read { connection in
            #expect(try connection.isUTF8)
            for attribute in object.attributes.dropFirst() {
                var found = Set<String>()
                for number in Self.values.indices {
                    let converted = try row(connection, "c", ColumnExpression.export(of: attribute, in: object), number)
                    let expression = ColumnExpression.value(of: attribute, column: "c")
                    #expect(
                        try converted == row(connection, expression, ColumnExpression.export(of: attribute, in: object, isConverted: true), number),
                        "\(attribute.name): \(Self.values[number])")
                    found.insert(converted)
                }
                #expect(found.count > 3)
            }
        }
        try database.close()
    }

    /// Loads the only row of a table whose columns have no types, together with its sums and by itself. Of a row that is held back, the column is returned.
    private func load(_ values: String, encoding: String) throws -> (summed: String, single: String) {
        let folder = try TemporaryDirectory(), path = folder.file("any.db"), model = try Self.model.get()
        var db: OpaquePointer?
        try #require(sqlite3_open(path, &db) == SQLITE_OK)
        defer { sqlite3_close(db) }
        let names = model.objects[0].attributes.dropFirst().map(\.name).joined(separator: ", ")
        try #require(
            sqlite3_exec(
                db, "PRAGMA encoding = '\(encoding)'; CREATE TABLE t (id INTEGER PRIMARY KEY, \(names)); INSERT INTO t VALUES (7, \(values))", nil,
                nil,
                nil) == SQLITE_OK)
        let backEnd = try SQLBackEnd.enterprise(path, for: model)
        defer { try? backEnd.close() }
        return try backEnd.read { snapshot in
            var rows = PackedRows(references: 0), single = ""
            let packed = try #require(snapshot as? any PackedBackEndSnapshot)
            var unfit: String?
            _ = try packed.pack(model.objects[0], parameters: [:], into: &rows, unfit: { unfit = $0.column }) { _ in }
            try snapshot.load(model.objects[0], parameters: [:], keys: nil) { row in
                switch row.content {
                case .loaded(let row): single = row.attributes
                case .unfit(let row): single = row.column
                case .values: Issue.record("rows of SQL have another form")
                }
            }
            return (unfit ?? rows[0].attributes, single)
        }
    }

    /// Bytes of such a file are those of its encoding, and a text of it is never replaced.
    @Test("a file in another encoding", arguments: [("UTF-16le", "YQBiAGMA", "MQAyAA=="), ("UTF-16be", "AGEAYgBj", "ADEAMg==")])
    func encodings(encoding: String, bytes: String, number: String) throws {
        let blob = encoding == "UTF-16le" ? "x'32003000'" : "x'00320030'"
        let first = try load(
            "1, '2', 'yes', \(blob), 'abc', '0.5', '12.340', 0.25, '7', '2026-05-18 10:11', '10:11', '2026-05-17'", encoding: encoding)
        #expect(
            first.summed
                == "7,1,2,true,\"20\",\"\(bytes)\",0.5,12.34,0.25,7,\"2026-05-18\",\"10:11:00\",\"2026-05-17T00:00:00.000Z\""
                && first.single == first.summed, "\(first)")
        let second = try load("1, 2, 0, 3, 12, 1, 12, 0, 7, NULL, NULL, NULL", encoding: encoding)
        #expect(second.summed.contains("\"\(number)\"") && second.single == second.summed, "\(second)")
        let damaged = encoding == "UTF-16le" ? "x'610000D8'" : "x'0061D800'"
        for (column, value) in [("string", "CAST(\(damaged) AS TEXT)"), ("day", "'20.5.2020'")] {
            let texts = column == "string" ? "\(value), 12, 1, 12, 0, 7, NULL" : "3, 12, 1, 12, 0, 7, \(value)"
            let held = try load("1, 2, 0, \(texts), NULL, NULL", encoding: encoding)
            #expect(held == (column, column))
        }
    }

    @Test func `an object with as many attributes as a table has columns is loaded`() throws {
        let sheet = try WideSheet(columns: 1990), folder = try TemporaryDirectory(), path = folder.file("wide.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { connection in
            _ = try connection.execute(
                "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(sheet.columns.joined(separator: ", "))); INSERT INTO wide (id, c1990) VALUES (1, 5)")
        }
        try database.close()
        let backEnd = try SQLBackEnd.enterprise(path, for: sheet.model)
        defer { try? backEnd.close() }
        try backEnd.read { snapshot in
            var rows = PackedRows(references: 0)
            _ = try #require(snapshot as? any PackedBackEndSnapshot).pack(sheet.model.objects[0], parameters: [:], into: &rows, unfit: { _ in }) {
                _ in
            }
            #expect(rows.count == 1 && rows[0].attributes.hasSuffix(",null,5"))
        }
    }
}
