import Foundation
import MobileExecution
import MobileStore
import TestSupport
import Testing

/// The additions of the profile to each connection that opens.
@Suite struct PreparedConnectionTests {
    private let directory: TemporaryDirectory
    private let opened = SystemLock<[Bool]>([])

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ prepare: @escaping @Sendable (OpeningConnection) throws -> Void) throws -> Database {
        try Database(
            directory.profile { profile in
                profile.prepareConnection = { [opened] connection in
                    opened.withLock { $0.append(connection.isWriter) }
                    try prepare(connection)
                }
            })
    }

    @Test func `a function and another database, as the article shows them`() throws {
        let path = directory.file("shop.db"), archive = directory.file("archive.db")
        try Database(ConnectionProfile(path: archive)).close()
        var profile = ConnectionProfile(path: path)
        profile.prepareConnection = { connection in
            try connection.addFunction("initials", argumentCount: 1) { values in
                .text((values[0].text ?? "").split(separator: " ").compactMap(\.first).map(String.init).joined())
            }
            try connection.attach(archive, as: "archive")
        }
        let database = try Database(profile)
        #expect(try database.read { try $0.first("SELECT initials('Ada Lovelace'), count(*) FROM archive.sqlite_schema") } == ["AL", 0])
        try database.close()
    }

    @Test func `functions have all values, on the writer and on every reader`() throws {
        let database = try open { connection in
            try connection.addFunction("same", argumentCount: 1) { $0[0] }
            try connection.addFunction("kinds", argumentCount: nil) { values in
                .text(values.map { $0.isNull ? "n" : $0.integer != nil ? "i" : $0.text != nil ? "t" : $0.blob != nil ? "b" : "r" }.joined())
            }
            try connection.addFunction("refuse", argumentCount: 1) { throw StoreError(.misuse, "not \($0[0].text ?? "this")") }
        }
        let values: [Value] = [.null, 7, 2.5, "", "añ€😀", .blob([]), .blob([0, 255]), .integer(.min), "with\u{0}zero"]
        try database.write { connection in
            try connection.execute("CREATE TABLE t(a)")
            for value in values { try connection.execute("INSERT INTO t VALUES (same(?))", [value]) }
        }
        #expect(try database.read { try $0.rows("SELECT same(a) FROM t ORDER BY rowid") }.map { $0[0] } == values)
        #expect(try database.read { try $0.first("SELECT kinds(NULL, 1, 'x', x'00', 1.5) || kinds()") } == ["nitbr"])
        let error = #expect(throws: StoreError.self) { _ = try database.read { try $0.first("SELECT refuse('that')") } }
        #expect(error?.code == .sqlite && error?.message.hasSuffix("not that") == true)
        #expect(opened.withLock { $0 } == [true, false])
    }

    @Test func `collations order texts, also in an index, and attached databases are on every connection`() throws {
        let archive = directory.file("archive 'of' 2025.db")
        let old = try Database(ConnectionProfile(path: archive))
        try old.write {
            try $0.execute("CREATE TABLE old(name TEXT)"); try $0.execute("INSERT INTO old VALUES ('Cork'), ('Galway')")
        }
        try old.close()
        let database = try open { connection in
            try connection.addCollation("by_length") { $0.utf8.count - $1.utf8.count }
            try connection.attach(archive, as: "archive")
            try connection.execute("CREATE TEMP TABLE mine(a)")
        }
        try database.write { connection in
            try connection.execute("CREATE TABLE city(name TEXT COLLATE by_length UNIQUE)")
            try connection.execute("INSERT INTO city VALUES ('Dublin'), ('Cork'), ('Ennis')")
        }
        for _ in 0..<2 {
            let names = try database.read { try $0.rows("SELECT name FROM city ORDER BY name").map { $0[0].text } }
            #expect(names == ["Cork", "Ennis", "Dublin"])
            let join = "SELECT count(*) FROM archive.old JOIN city ON old.name = city.name COLLATE by_length"
            let joined = try database.read { try $0.first(join)?[0].integer }
            #expect(joined == 2)
        }
        let double = #expect(throws: StoreError.self) { try database.write { try $0.execute("INSERT INTO city VALUES ('Tuam')") } }
        #expect(double?.code == .constraint)
    }

    @Test func `what it throws is thrown by the opening, and by a read that needs another reader`() throws {
        struct NoKey: Error, CustomStringConvertible { let description = "the keychain is locked" }
        let fails = SystemLock(true)
        let prepare: @Sendable (OpeningConnection) throws -> Void = { connection in
            if fails.withLock({ $0 }) { throw NoKey() }
            try connection.execute("CREATE TEMP TABLE mine(a)")
        }
        let other = #expect(throws: StoreError.self) { _ = try open(prepare) }
        #expect(other?.code == .sqlite && other?.message == "open a connection: the keychain is locked")
        let own = #expect(throws: StoreError.self) { _ = try open { _ in throw StoreError(.notClosed, "later") } }
        #expect(own?.code == .sqlite && own?.message == "later")
        fails.withLock { $0 = false }
        let database = try open(prepare)
        fails.withLock { $0 = true }
        let read = #expect(throws: StoreError.self) { _ = try database.read { try $0.first("SELECT 1") } }
        #expect(read?.message == "open a connection: the keychain is locked")
        fails.withLock { $0 = false }
        #expect(try database.read { try $0.first("SELECT count(*) FROM mine") } == [0])
    }

    @Test func `what SQLite refuses is named, and a connection is not kept`() throws {
        struct Refusal: Sendable {
            let prepare: @Sendable (OpeningConnection) throws -> Void
            let message: String
        }
        for refusal in [
            Refusal(prepare: { try $0.execute("SELEC 1") }, message: "open a connection: SELEC 1: near \"SELEC\": syntax error"),
            Refusal(
                prepare: { try $0.attach("/no/such.db", as: "x") },
                message: "open a connection: attach \"/no/such.db\": unable to open database: /no/such.db"),
            Refusal(prepare: { try $0.attach("a\u{0}b", as: "x") }, message: "attach \"a\u{0}b\": it has a zero byte"),
            Refusal(prepare: { try $0.addFunction("f", argumentCount: 1 << 40) { _ in .null } }, message: "function f: too many arguments"),
        ] {
            let error = #expect(throws: StoreError.self) { _ = try open(refusal.prepare) }
            // The core's messages end at a zero byte.
            #expect(error?.message.split(separator: "\u{0}").first == refusal.message.split(separator: "\u{0}").first, "\(error?.message ?? "")")
        }
        final class Keeper: @unchecked Sendable { var connection: OpeningConnection? }  // on one thread
        let keeper = Keeper()
        _ = try open { keeper.connection = $0 }
        for call in [{ try keeper.connection?.execute("SELECT 1") }, { try keeper.connection?.addCollation("c") { _, _ in 0 } }] {
            let error = #expect(throws: StoreError.self) { try call() }
            #expect(error?.code == .misuse)
        }
    }
}
