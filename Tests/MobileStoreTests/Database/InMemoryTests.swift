import Foundation
import MobileStore
import TestSupport
import Testing

/// Databases in memory, and URIs.
@Suite struct InMemoryTests {
    private let picture: [UInt8] = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }

    /// Imports rows and writes a large value.
    private func fill(_ database: Database) throws {
        try database.write { connection in
            try connection.prepareLargeValues()
            try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, picture INTEGER)")
            let rows = try connection.importer(into: "t", columns: ["a"])
            try rows.push(Array(("[" + (1...5000).map { "[\($0)]" }.joined(separator: ",") + "]").utf8))
            _ = try rows.finish()
        }
        let writer = try LargeValueWriter(in: database)
        try writer.write(picture)
        let value = try writer.finish()
        #expect(try LargeValueReader(value.id, in: database).bytes(upTo: 1 << 20) == picture)
    }

    /// Reads pages, and deletes a row after each.
    private func readAndDelete(_ database: Database) throws -> Int {
        var pages = try database.pages("SELECT a FROM t ORDER BY a", size: 100), read = 0
        while let page = try pages.next() {
            read += page.count
            try database.write { try $0.execute("DELETE FROM t WHERE a = ?", [.integer(Int64(read))]) }
        }
        return read
    }

    @Test func `a database in memory works as a file does`() async throws {
        let database = try Database(.inMemory())
        #expect(database.settings.isInMemory && database.settings.journalMode == "wal" && !database.settings.coalescesLogWrites)
        try fill(database)
        #expect(try readAndDelete(database) == 5000)
        #expect(try await database.read { try $0.first("SELECT count(*) FROM t") } == [4950])
        try await database.vacuum()
        try await database.close()
    }

    @Test func `a name is one database for the process, and gone with its last user`() throws {
        let name = "shared-\(UUID().uuidString)"
        let first = try Database(.inMemory(named: name)), second = try Database(.inMemory(named: name)), other = try Database(.inMemory())
        try first.write {
            try $0.execute("CREATE TABLE t(a)"); try $0.execute("INSERT INTO t VALUES (1)")
        }
        #expect(try second.read { try $0.first("SELECT a FROM t") } == [1])
        #expect(throws: StoreError.self) { try other.read { try $0.first("SELECT a FROM t") } }
        try first.close()
        try second.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try second.read { try $0.first("SELECT sum(a) FROM t") } == [3])
        try second.close()
        var profile = ConnectionProfile.inMemory(named: name)
        profile.isReadOnly = true
        #expect(#expect(throws: StoreError.self) { try Database(profile) }?.code == .notFound)
    }

    @Test func `a URI says how its file is opened`() throws {
        let directory = try TemporaryDirectory(), path = directory.file("a b.db")
        let made = try Database(ConnectionProfile(path: path))
        try made.write {
            try $0.execute("CREATE TABLE t(a)"); try $0.execute("INSERT INTO t VALUES (5)")
        }
        try made.close()
        var profile = ConnectionProfile(path: "file:\(directory.path)/a%20b.db?mode=ro&immutable=1")
        profile.isURI = true
        let database = try Database(profile)
        #expect(database.settings.isReadOnly && database.path == profile.path)
        #expect(try database.read { try $0.first("SELECT a FROM t") } == [5])
        profile.path += "&nolock=2"
        let error = #expect(throws: StoreError.self) { try Database(profile) }
        #expect(error?.code == .misuse && error?.message.hasSuffix("nolock=2 is not a switch: use 1 or 0") == true)
        var memory = ConnectionProfile(path: "file:x?mode=memory")
        memory.isURI = true
        #expect(try Database(memory).settings.isInMemory)
    }
}
