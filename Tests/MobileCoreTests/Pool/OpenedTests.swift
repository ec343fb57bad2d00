import MobileCore
import MobileSQLite
import Testing

/// The callback for connections that open.
@Suite struct OpenedTests {
    /// The calls, and what to do in them.
    private final class Opening: @unchecked Sendable {  // written by one thread at a time in these tests
        var calls: [Bool] = []
        var cacheMisses: [Int32] = []
        var sql = "ATTACH ':memory:' AS extra; CREATE TABLE extra.e(a); CREATE TEMP TABLE mine(a)"
        var status = MC_OK
        var message = ""

        static let callback: mc_connection_opened = { context, handle, isWriter, error in
            let opening = Unmanaged<Opening>.fromOpaque(context!).takeUnretainedValue()
            var misses: Int32 = 0, high: Int32 = 0
            sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &misses, &high, 0)
            opening.calls.append(isWriter)
            opening.cacheMisses.append(misses)
            let twice: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, values in
                sqlite3_result_int64(context, 2 * sqlite3_value_int64(values![0]))
            }
            sqlite3_create_function_v2(handle, "twice", 1, SQLITE_UTF8, nil, twice, nil, nil, nil)
            guard sqlite3_exec(handle, opening.sql, nil, nil, nil) == SQLITE_OK else { return MC_ERROR_SQLITE }
            if opening.status != MC_OK, !opening.message.isEmpty {
                withUnsafeMutableBytes(of: &error.pointee.message) { $0.copyBytes(from: opening.message.utf8) }
            }
            return opening.status
        }

        func apply(to options: inout mc_pool_options) {
            options.opened = Self.callback
            options.opened_context = Unmanaged.passUnretained(self).toOpaque()
        }
    }

    private let opening = Opening()

    @Test func `what is added to a connection is there on the writer and on readers that open later`() throws {
        let core = try CorePool(opening.apply)
        #expect(opening.calls == [true])
        try core.with(writer: true) { (writer) throws in
            try exec(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (twice(21)); INSERT INTO mine VALUES (1); INSERT INTO extra.e VALUES (1)")
        }
        let first = try core.checkOut(loose: true), second = try core.checkOut(loose: true)
        #expect(opening.calls == [true, false, false])
        for reader in [first, second] {
            #expect(try integer(reader, "SELECT twice(a) FROM t") == 84)
            #expect(try integer(reader, "SELECT count(*) FROM mine") == 0, "each connection has temporary tables of its own")
            core.giveBack(reader)
        }
        #expect(try core.integer("SELECT twice(1)") == 2 && opening.calls.count == 3, "a connection that is open is not prepared again")
    }

    @Test func `it runs before anything of the file is read, and the settings of the pool come afterwards`() throws {
        opening.sql = "ATTACH ':memory:' AS extra"
        let core = try CorePool {
            opening.apply(to: &$0)
            $0.page_size = 8192
            $0.cache_bytes = 1 << 20
            $0.foreign_keys = true
        }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        for writer in [true, false] {
            try core.with(writer: writer) { (connection) throws in
                #expect(try integer(connection, "PRAGMA page_size") == 8192)
                #expect(try integer(connection, "PRAGMA foreign_keys") == 1)
                #expect(try integer(connection, "PRAGMA query_only") == (writer ? 0 : 1))
            }
        }
        #expect(opening.cacheMisses == [0, 0])
        // A key must reach the connection before the file is read: a later reader would fail as well.
        let other = try CorePool(existing: core.directory + "/core.db", opening.apply)
        #expect(opening.cacheMisses == [0, 0, 0])
        other.close()
    }

    @Test func `a failure is that of the opening, with its message, and leaves nothing behind`() throws {
        (opening.status, opening.message) = (MC_ERROR_NOT_FOUND, "there is no key for this database")
        let failed = #expect(throws: CoreError.self) { _ = try CorePool(opening.apply) }
        #expect(failed?.code == MC_ERROR_NOT_FOUND && failed?.message == "there is no key for this database")
        opening.message = ""
        let silent = #expect(throws: CoreError.self) { _ = try CorePool(opening.apply) }
        #expect(silent?.code == MC_ERROR_NOT_FOUND && silent?.message.hasSuffix("the callback for connections has failed without a reason") == true)
        opening.sql = "SELECT missing"
        let wrong = #expect(throws: CoreError.self) { _ = try CorePool(opening.apply) }
        #expect(wrong?.code == MC_ERROR_SQLITE && wrong?.message.hasSuffix("the callback for connections: no such column: missing") == true)
        (opening.status, opening.sql) = (MC_OK, "BEGIN")
        let open = #expect(throws: CoreError.self) { _ = try CorePool(opening.apply) }
        #expect(open?.code == MC_ERROR_MISUSE && open?.message.hasSuffix("the callback for connections has left a transaction open; end it") == true)
    }

    @Test func `a reader that cannot be prepared fails its check-out, and the next one may succeed`() throws {
        let core = try CorePool(opening.apply)
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (5)") }
        (opening.status, opening.message) = (MC_ERROR_IO, "the key is not at hand")
        let failed = #expect(throws: CoreError.self) { _ = try core.integer("SELECT a FROM t") }
        #expect(failed?.code == MC_ERROR_IO && failed?.message == "the key is not at hand")
        opening.status = MC_OK
        #expect(try core.integer("SELECT a FROM t") == 5)
        #expect(opening.calls == [true, false, false])
    }

    @Test func `a program that was compiled before the callback existed works, and has none`() throws {
        let core = try CorePool {
            opening.apply(to: &$0)
            $0.uri = true
            // Its options end here: the fields after this place are not read.
            $0.size = MemoryLayout<mc_pool_options>.offset(of: \.opened)!
        }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
        #expect(opening.calls.isEmpty)
    }
}
