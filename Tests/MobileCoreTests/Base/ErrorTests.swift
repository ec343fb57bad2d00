import FaultInjection
import Foundation
import MobileCore
import MobileSQLite
import Testing

/// The errors that callers get after a failure.
@Suite struct ErrorTests {
    @Test func `every status has a name, another number has none`() {
        let names = (0...20).map { String(cString: mc_status_name(mc_status(rawValue: $0))) }
        #expect(names.first == "ok" && names[Int(MC_ERROR_OVER_LENGTH.rawValue)] == "over length" && names.last == "unknown")
        #expect(Set(names).count == 21)
    }

    @Test("a message that is too long is cut between characters", arguments: ["x", "é", "€", "😀"])
    func cut(character: String) throws {
        // Every position of the cut within a character.
        for prefix in 0..<character.utf8.count {
            let path = String(repeating: "a", count: prefix) + String(repeating: character, count: 600 / character.utf8.count)
            var error = mc_error()
            var options = mc_pool_default_options(), pool: OpaquePointer?
            options.creates_file = false
            #expect(mc_pool_open(path, &options, &pool, &error) != MC_OK)
            let bytes = withUnsafeBytes(of: &error.message) { Array($0.prefix { $0 != 0 }) }
            #expect(String(validating: bytes, as: UTF8.self)?.hasPrefix("open \"" + path.prefix(100)) == true)
            #expect(bytes.count > 500)
        }
    }

    @Test func `a message of what is no text is cut all the same`() {
        let path = [CChar](repeating: CChar(bitPattern: 0x80), count: 600) + [0]
        var error = mc_error(), options = mc_pool_default_options(), pool: OpaquePointer?
        options.creates_file = false
        #expect(mc_pool_open(path, &options, &pool, &error) != MC_OK)
        #expect(withUnsafeBytes(of: &error.message) { $0.prefix { $0 != 0 }.count } > 500)
    }

    @Test func `who wants no details gets the status alone`() throws {
        let text = Array("[1,]".utf8)
        var message: OpaquePointer?
        #expect(mc_message_read(text, text.count, nil, &message, nil) == MC_ERROR_JSON)
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        var checkout = mc_checkout(writer: false, is_long: false, loose: true, timeout_ns: Int64(MC_WAIT_NEVER), label: nil, ticket: nil),
            connection: OpaquePointer?
        #expect(mc_pool_checkout(core.pool, &checkout, &connection, nil) == MC_ERROR_TIMEOUT)
        checkout.timeout_ns = 1_000_000
        #expect(mc_pool_checkout(core.pool, &checkout, &connection, nil) == MC_ERROR_TIMEOUT)
        core.giveBack(reader)
    }

    @Test(
        "what the storage fails with becomes a status",
        arguments: [
            (SQLITE_IOERR | 12 << 8, MC_ERROR_NO_MEMORY), (SQLITE_NOMEM, MC_ERROR_NO_MEMORY), (SQLITE_IOERR | 1 << 8, MC_ERROR_IO),
            (SQLITE_CORRUPT, MC_ERROR_CORRUPT), (SQLITE_FULL, MC_ERROR_FULL), (SQLITE_LOCKED, MC_ERROR_TIMEOUT), (SQLITE_PERM, MC_ERROR_SQLITE),
        ])
    func storage(code: Int32, status: mc_status) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let core = try CorePool {
            $0.vfs = fault_storage_name(storage)
            $0.page_size = 1024
            $0.cache_bytes = 10_240
        }
        defer { core.close() }
        try core.with(writer: true) {
            try exec(
                $0,
                "CREATE TABLE t (x); INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90) SELECT zeroblob(900) FROM n"
            )
        }
        try core.with { (connection) throws in
            #expect(try integer(connection, "SELECT count(*) FROM t") == 90)
            fault_storage_fail_after(storage, 5, code, false)
            let error = #expect(throws: CoreError.self) { try integer(connection, "SELECT sum(length(x)) FROM t") }
            fault_storage_fail_after(storage, -1, 0, false)
            let told = code == SQLITE_IOERR | 12 << 8 ? SQLITE_NOMEM : code  // SQLite reports it as out of memory
            #expect(error?.code == status && error?.sqliteCode == told, "\(error?.message ?? "")")
            #expect(try integer(connection, "SELECT count(*) FROM t") == 90)
        }
    }
}
