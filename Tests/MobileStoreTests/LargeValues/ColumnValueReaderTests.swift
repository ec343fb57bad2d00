import Foundation
import MobileStore
import TestSupport
import Testing

/// Values in the rows of ordinary tables, read piece by piece.
@Suite struct ColumnValueReaderTests {
    private func withTable<R>(_ body: (Connection) throws -> R) throws -> R {
        let directory = try TemporaryDirectory()
        let database = try Database(ConnectionProfile(path: directory.file("values.db")))
        defer { try? database.close() }
        return try database.write { connection in
            try connection.execute("CREATE TABLE \"the values\" (id INTEGER PRIMARY KEY, \"a value\")")
            let bytes: [UInt8] = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            for (id, value) in [(1, Value.blob(bytes)), (2, .text("Grüße")), (3, .null), (4, .integer(5)), (5, .blob([]))] {
                try connection.execute("INSERT INTO \"the values\" VALUES (?1, ?2)", [.integer(Int64(id)), value])
            }
            return try body(connection)
        }
    }

    @Test(arguments: [1, 4096, 65_536, 1 << 20]) func `pieces of any size add up to the value`(size: Int) throws {
        try withTable { (connection) throws in
            let reader = try connection.valueReader(table: "the values", column: "a value", row: 1)
            #expect(reader.byteCount == 200_000)
            var read: [UInt8] = []
            if size == 1 {
                read = try reader.nextChunk(maximum: 1) ?? []
                #expect(read == [0] && reader.position == 1)
                return
            }
            while let piece = try reader.nextChunk(maximum: size) { read += piece }
            #expect(try connection.first("SELECT \"a value\" FROM \"the values\" WHERE id = 1") == [.blob(read)])
        }
    }

    @Test func `a reader moves from row to row, texts come as UTF-8`() throws {
        try withTable { (connection) throws in
            let reader = try connection.valueReader(table: "the values", column: "a value", row: 1)
            _ = try reader.nextChunk()
            try reader.move(toRow: 2)
            #expect(try reader.nextChunk() == Array("Grüße".utf8))
            try reader.move(toRow: 5)
            #expect(try reader.nextChunk() == nil)
        }
    }

    @Test func `what cannot be opened is an error with its reason`() throws {
        try withTable { (connection) throws in
            func code(_ row: Int64, table: String = "the values", column: String = "a value") -> StoreError.Code? {
                do throws(StoreError) {
                    _ = try connection.valueReader(table: table, column: column, row: row)
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(code(9) == .notFound)
            #expect(code(3) == .sqlite && code(4) == .sqlite)
            #expect(code(1, table: "nothing") == .sqlite && code(1, column: "nothing") == .sqlite)
        }
    }

    @Test func `a value for which there is room is written by pieces of any size`() throws {
        try withTable { (connection) throws in
            try connection.execute("INSERT INTO \"the values\" VALUES (9, zeroblob(200000))")
            let writer = try connection.valueWriter(table: "the values", column: "a value", row: 9)
            let bytes: [UInt8] = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var start = 0
            for size in [0, 1, 65_536, 70_000, 64_463] {
                try writer.append(Array(bytes[start..<start + size]))
                start += size
            }
            #expect(writer.position == 200_000)
            #expect(
                try connection.first("SELECT a.\"a value\" = b.\"a value\" FROM \"the values\" a, \"the values\" b WHERE a.id = 1 AND b.id = 9") == [
                    1
                ])
            let error = #expect(throws: StoreError.self) { try writer.append([1]) }
            #expect(error?.code == .misuse)
        }
    }

    @Test func `a writer of a value ends with the closure of its connection`() throws {
        let writer = try withTable { (connection) throws in
            let writer = try connection.valueWriter(table: "the values", column: "a value", row: 1)
            try writer.append([9])
            return writer
        }
        let error = #expect(throws: StoreError.self) { try writer.append([9]) }
        #expect(error?.code == .misuse)
    }
}
