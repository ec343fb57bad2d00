import MobileExecution
import MobileStore
import TestSupport
import Testing

/// A setting out of its range, and the beginning of its message.
struct BadSetting: Sendable, CustomTestStringConvertible {
    let change: @Sendable (inout ConnectionProfile) -> Void
    let text: String
    var testDescription: String { text }

    init(_ change: @escaping @Sendable (inout ConnectionProfile) -> Void, _ text: String) {
        self.change = change
        self.text = text
    }
}

@Suite struct SettingsTests {
    @Test("DBP-02 DBP-03 DBP-04 DBP-05: the defaults are in force, and read back", .enabled(if: TestDefaults.areUsual))
    func defaults() throws {
        let directory = try TemporaryDirectory()
        let settings = try Database(directory.profile()).settings
        #expect(settings.pageSize == 4096)
        #expect(settings.cacheSize == .bytes(10_000_000 / 4096 * 4096))
        #expect(settings.maxConnections == 2)
        #expect(settings.memoryMapSize == 0)
        #expect(settings.synchronous == .normal)
        #expect(settings.checkpointPages == 1000)
        #expect(settings.logLimit == .megabytes(1000))
        #expect(settings.journalSizeLimit == .megabytes(64))
        #expect(settings.coalescesLogWrites)
        #expect(settings.statementCacheSize == 64)
        #expect(settings.journalMode == "wal")
        #expect(!settings.foreignKeys)
        #expect(!settings.isReadOnly)
    }

    @Test("DBP-01 DBP-04: a changed profile takes effect when the database is opened next")
    func changedProfile() throws {
        let directory = try TemporaryDirectory()
        var profile = directory.profile { $0.cacheSize = .megabytes(10) }
        let database = try Database(profile), pageSize = database.settings.pageSize
        profile.cacheSize = .megabytes(1)
        #expect(database.settings.cacheSize > .megabytes(9))
        try database.close()
        #expect(try Database(profile).settings.cacheSize == .bytes(1_000_000 / pageSize * pageSize))
    }

    @Test(
        "a setting out of its range is refused with its name",
        arguments: [
            BadSetting({ $0.pageSize = 3000 }, "page size 3000"),
            BadSetting({ $0.cacheSize = .bytes(100) }, "cache size 100 bytes"),
            BadSetting({ $0.maxConnections = 0 }, "maximum connections 0"),
            BadSetting({ $0.maxConnections = 1 << 40 }, "maximum connections 1099511627776"),
            BadSetting({ $0.memoryMapSize = .bytes(-1) }, "memory map size -1"),
            BadSetting({ $0.cacheSize = .megabytes(.max) }, "cache size"),
            BadSetting({ $0.checkpointPages = -1 }, "checkpoint pages -1"),
            BadSetting({ $0.logLimit = .bytes(-1) }, "log limit -1"),
            BadSetting({ $0.journalSizeLimit = .bytes(-5) }, "journal size limit -"),
            BadSetting({ $0.statementCacheSize = 20_000 }, "statement cache size 20000"),
            BadSetting({ $0.path = "" }, "database path \"\""),
        ])
    func outOfRange(setting: BadSetting) throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: StoreError.self) { _ = try Database(directory.profile(setting.change)) }
        #expect(error?.code == .misuse)
        #expect(error?.message.hasPrefix(setting.text) == true)
    }

    @Test("DBP-10: the trace has each statement, with values only when asked", arguments: [false, true])
    func trace(withValues: Bool) throws {
        let directory = try TemporaryDirectory()
        let log = Log()
        let database = try Database(
            directory.profile {
                $0.trace = { log.add($0) }
                $0.tracesValues = withValues
            })
        try database.write { try $0.execute("CREATE TABLE t(a)") }
        try database.write { try $0.execute("INSERT INTO t VALUES (?)", ["secret"]) }
        let insert = withValues ? "INSERT INTO t VALUES ('secret')" : "INSERT INTO t VALUES (?)"
        #expect(log.lines == ["BEGIN IMMEDIATE", "CREATE TABLE t(a)", "COMMIT", "BEGIN IMMEDIATE", insert, "COMMIT"])
    }

    @Test func `the trace is switched while the database is open`() throws {
        let directory = try TemporaryDirectory()
        let log = Log()
        let database = try Database(directory.profile())
        func traced() throws -> [String] {
            let before = log.lines.count
            _ = try database.write { try $0.first("SELECT ?", ["a"]) }
            return Array(log.lines.dropFirst(before))
        }
        #expect(try traced().isEmpty)
        database.setTrace({ log.add($0) }, withValues: true)
        #expect(try traced() == ["BEGIN IMMEDIATE", "SELECT 'a'", "COMMIT"])
        database.setTrace { log.add($0) }
        #expect(try traced() == ["BEGIN IMMEDIATE", "SELECT ?", "COMMIT"])
        database.setTrace(nil)
        #expect(try traced().isEmpty)
    }

    @Test func `amounts are decimal, and never overflow`() {
        #expect(ByteCount.megabytes(2).bytes == 2_000_000)
        #expect(ByteCount.kilobytes(2) == .bytes(2000))
        #expect(ByteCount.megabytes(.max).bytes == .max)
        #expect("\(ByteCount.megabytes(10)), \(ByteCount.bytes(4096))" == "10 MB, 4096 bytes")
    }

    @Test func `the space of tables and indices is told`() throws {
        let directory = try TemporaryDirectory()
        let database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute("CREATE TABLE t(a); CREATE INDEX i ON t(a)")
            let insert = try connection.statement("INSERT INTO t VALUES (?)")
            for i in 0..<500 { try insert.run([.text(String(repeating: "x", count: i))]) }
        }
        let space = try database.tableSpace()
        let table = try #require(space.first { $0.name == "t" }), index = try #require(space.first { $0.name == "i" })
        #expect(!table.isIndex && index.isIndex && index.table == "t")
        #expect(table.bytes == Int64(table.pages) * Int64(database.settings.pageSize))
        #expect(table.payload > 500 * 499 / 2)
        let file = try database.fileSpace()
        #expect(file.pages == space.reduce(0) { $0 + $1.pages } + file.freePages)
    }

    private final class Log: Sendable {
        private let store = SystemLock<[String]>([])
        func add(_ line: String) { store.withLock { $0.append(line) } }
        var lines: [String] { store.withLock { $0 } }
    }
}
