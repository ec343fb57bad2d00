import Foundation
import MobileCore
import MobileExecution
import MobileSQLite
import Testing

/// The permitted operations of the transaction around an open import, and the notification of observers.
@Suite struct ImportTransactionTests {
    private static let columns = [("id", MC_COLUMN_INTEGER), ("name", MC_COLUMN_ANY)]
    /// A table with indexes, and pending rows at its end.
    private static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE t_os(id INTEGER PRIMARY KEY, name TEXT);
        CREATE INDEX by_name ON t(name); CREATE INDEX by_length ON t(length(name));
        INSERT INTO t VALUES (100000, 'mine'), (100001, 'mine too');
        INSERT INTO t_os(id) VALUES (100000), (100001)
        """
    private static let indexes = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 't'"
    private static let pending = "SELECT count(*) FROM t WHERE id >= 100000"
    private static let refusal = "an import is open: finish or free it first"

    /// Returns rows; with enough of them, indexes are dropped.
    private static func rows(_ numbers: ClosedRange<Int>) -> String { numbers.map { "[\($0),\"name \($0)\"]" }.joined(separator: ",") }

    /// Opens an import, and pushes enough rows to drop the table's indexes.
    private func openImport(_ connection: OpaquePointer, _ change: (inout mc_import_options) -> Void = { _ in }) throws -> CoreImport {
        let rows = try "t_os".withCString { table in
            try withUnsafePointer(to: mc_import_pending(table: table, keys: nil, assignments: nil, assignment_count: 0)) { pending in
                try CoreImport(connection, into: "t", Self.columns) { options, table in
                    table.pending = pending
                    change(&options)
                }
            }
        }
        try rows.push("[" + Self.rows(1...9000) + ",")
        return rows
    }

    private func failure(_ body: () throws -> Void) -> CoreError? { #expect(throws: CoreError.self, performing: body) }

    @Test("a commit while an import is open is refused, and the import goes on", arguments: ["COMMIT", "RELEASE", "pool", "END twice"])
    func refused(way: String) throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema)
            if way == "RELEASE" {
                try exec(connection, "SAVEPOINT outermost")
            } else {
                try CoreError.check { mc_connection_begin(connection, $0) }
            }
            let rows = try openImport(connection)
            #expect(try integer(connection, Self.indexes) == 0 && integer(connection, Self.pending) == 2)
            let error = failure {
                switch way {
                case "pool": try CoreError.check { mc_connection_commit(connection, $0) }
                case "RELEASE": try exec(connection, "RELEASE outermost")
                case "COMMIT": try exec(connection, "COMMIT")
                default:
                    #expect(throws: CoreError.self) { try exec(connection, "END") }
                    try withStatement(connection, "END") { statement in try CoreError.check { mc_statement_run(statement, nil, $0) } }
                }
            }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message.hasSuffix(Self.refusal) == true, "\(error as Any)")
            try rows.push(Self.rows(9001...9500) + "]")
            #expect(try rows.finish().inserted == 9500)
            if way == "RELEASE" {
                try exec(connection, "RELEASE outermost")
            } else {
                try CoreError.check { mc_connection_commit(connection, $0) }
            }
        }
        #expect(try core.integer(Self.indexes) == 2 && core.integer(Self.pending) == 2)
        #expect(try core.integer("SELECT count(*) FROM t INDEXED BY by_name WHERE name > ''") == 9502)
    }

    @Test func `after a commit that was refused, an import that never ends leaves everything as it was`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema)
            try CoreError.check { mc_connection_begin(connection, $0) }
            let rows = try openImport(connection)
            #expect(throws: CoreError.self) { try exec(connection, "COMMIT") }
            #expect(throws: CoreError.self) { try CoreError.check { mc_connection_commit(connection, $0) } }
            withExtendedLifetime(rows) {}
        }
        #expect(try core.integer(Self.indexes) == 2 && core.integer(Self.pending) == 2)
        #expect(try core.integer("SELECT count(*) FROM t") == 2)
    }

    @Test func `a program of SQLite's own interface is refused its commit as well`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, Self.schema) }
        var opened: OpaquePointer?
        #expect(sqlite3_open(core.directory + "/core.db", &opened) == SQLITE_OK)
        let db = try #require(opened)
        var open: OpaquePointer?
        let text = "[" + Self.rows(1...9000) + "]"
        #expect(sqlite3_exec(db, "BEGIN", nil, nil, nil) == SQLITE_OK)
        try "t".withCString { table in
            try "id".withCString { id in
                try "name".withCString { label in
                    let number = mc_column(name: id, type: MC_COLUMN_INTEGER, precision: 0, scale: 0, required: true)
                    let name = mc_column(name: label, type: MC_COLUMN_TEXT, precision: 0, scale: 0, required: false)
                    try [number, name].withUnsafeBufferPointer { columns in
                        let one = mc_import_table(
                            table: table, member: nil, columns: columns.baseAddress!, column_count: 2, mode: MC_IMPORT_UPSERT, keys: nil,
                            key_count: 0, on_insert: nil, on_insert_count: 0, pending: nil, large: nil, large_count: 0)
                        try withUnsafePointer(to: one) { tables in
                            var options = mc_import_options(
                                tables: tables, table_count: 1, is_object: false, depth: 0, row_bytes: 0, inflated_bytes: 0, inflate_ratio: 0,
                                commit_rows: 0, commit_bytes: 0, progress: nil, observer: nil, context: nil, threads: MC_IMPORT_THREADS_OFF,
                                thread_begins: nil, thread_context: nil, connection: nil)
                            try CoreError.check { mc_import_open(db, &options, &open, $0) }
                        }
                    }
                }
            }
        }
        try CoreError.check { mc_import_push(open!, text, text.utf8.count, $0) }
        #expect(sqlite3_exec(db, "COMMIT", nil, nil, nil) == SQLITE_BUSY)
        #expect(String(cString: sqlite3_errmsg(db)) == Self.refusal)
        mc_import_free(open!)
        #expect(sqlite3_exec(db, "COMMIT", nil, nil, nil) == SQLITE_OK)
        #expect(sqlite3_close(db) == SQLITE_OK)
        #expect(try core.integer(Self.indexes) == 2 && core.integer("SELECT count(*) FROM t") == 2)
    }

    @Test func `who rolls back and begins anew has ended the import, and keeps the new transaction`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema)
            try exec(connection, "BEGIN")
            let rows = try openImport(connection)
            try exec(connection, "ROLLBACK; BEGIN; INSERT INTO t VALUES (1, 'new')")
            let error = failure { try rows.push(Self.rows(9001...12_000)) }
            #expect(error?.sqliteCode == SQLITE_ABORT | 2 << 8, "\(error as Any)")
            #expect(throws: CoreError.self) { _ = try rows.finish() }
            try exec(connection, "COMMIT")
        }
        #expect(try core.integer(Self.indexes) == 2 && core.integer("SELECT count(*) FROM t") == 3)
    }

    @Test("a rollback between two texts ends the import: no row and no index of it comes into the next transaction", arguments: ["push", "end", "finish"])
    func rolledBackBetweenTexts(next: String) throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema)
            try exec(connection, "BEGIN")
            let rows = try openImport(connection)
            try rows.push(Self.rows(9001...9100) + "]")
            try rows.endText()
            #expect(try integer(connection, Self.indexes) == 0 && integer(connection, Self.pending) == 2)
            #expect(throws: CoreError.self) { try exec(connection, "COMMIT") }
            try exec(connection, "ROLLBACK; BEGIN; INSERT INTO t VALUES (1, 'new')")
            let error = failure {
                switch next {
                case "push": try rows.push("[[2,\"late\"]]")
                case "end": try rows.endText()
                default: _ = try rows.finish()
                }
            }
            #expect(error?.sqliteCode == SQLITE_ABORT | 2 << 8, "\(error as Any)")
            #expect(failure { _ = try rows.finish() }?.code == MC_ERROR_MISUSE)
            try exec(connection, "COMMIT")
        }
        #expect(try core.integer(Self.indexes) == 2 && core.integer("SELECT count(*) FROM t") == 3 && core.integer(Self.pending) == 2)
    }

    /// Observes all tables in `body`, which gets the number of keys that each commit has changed in its first table.
    private func withObserver(of core: CorePool, _ body: (SystemLock<[Int]>) throws -> Void) throws {
        final class Heard: Sendable {
            let counts = SystemLock<[Int]>([])
        }
        let heard = Heard()
        var observer: OpaquePointer?
        var observation = mc_observation(
            tables: nil, table_count: 0,
            changed: { context, changes in
                let heard = Unmanaged<Heard>.fromOpaque(context!).takeUnretainedValue()
                heard.counts.withLock { $0.append(changes.pointee.tables!.pointee.key_count) }
            }, context: Unmanaged.passUnretained(heard).toOpaque())
        try CoreError.check { mc_pool_observe(core.pool, &observation, &observer, $0) }
        defer { mc_pool_unobserve(core.pool, observer) }
        try body(heard.counts)
    }

    @Test("after a rollback the next call of the import fails, whatever it brings", arguments: ["ROLLBACK", "pool"])
    func pushedAfterRollback(way: String) throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema)
            try CoreError.check { mc_connection_begin(connection, $0) }
            let rows = try CoreImport(connection, into: "t", Self.columns)
            try rows.push("[" + Self.rows(1...3))
            if way == "pool" { mc_connection_rollback(connection) } else { try exec(connection, "ROLLBACK") }
            let error = failure { try rows.push(",[4,null]]") }
            #expect(
                error?.sqliteCode == SQLITE_ABORT | 2 << 8 && error?.message.contains("its transaction was rolled back after 0 rows") == true,
                "\(error as Any)")
            #expect(failure { _ = try rows.finish() }?.code == MC_ERROR_MISUSE)
            mc_connection_rollback(connection)
            #expect(failure { try CoreError.check { mc_connection_commit(connection, $0) } }?.message == "commit: there is no transaction")
        }
        #expect(try core.integer("SELECT count(*) FROM t") == 2)
    }

    @Test func `an import that is a transaction of its own is reported at its end, not with what follows`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, Self.schema) }
        try withObserver(of: core) { heard in
            try core.with(writer: true) { connection in
                func importOne(_ number: Int) throws {
                    let rows = try CoreImport(connection, into: "t", Self.columns)
                    try rows.push("[\(Self.rows(number...number))]")
                    _ = try rows.finish()
                }
                try importOne(1)
                #expect(heard.withLock { $0 } == [1])
                try CoreError.check { mc_connection_begin(connection, $0) }
                try exec(connection, "DELETE FROM t WHERE id = 1")
                mc_connection_rollback(connection)
                try importOne(2)
                #expect(throws: CoreError.self) { try exec(connection, "INSERT INTO t VALUES (9, 'a'), (9, 'b')") }
                try CoreError.check { mc_connection_begin(connection, $0) }
                try importOne(3)
                #expect(heard.withLock { $0 } == [1, 1])
                try CoreError.check { mc_connection_commit(connection, $0) }
            }
            #expect(heard.withLock { $0 } == [1, 1, 1])
        }
    }

    @Test func `an import within another one cannot commit what that one has begun`() throws {
        let core = try CorePool()
        try core.with(writer: true) { connection in
            try exec(connection, Self.schema + "; CREATE TABLE u(id INTEGER PRIMARY KEY, name)")
            let outer = try openImport(connection)
            let error = failure { _ = try CoreImport(connection, into: "u", Self.columns) { options, _ in options.commit_rows = 1 } }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message.hasSuffix(Self.refusal) == true, "\(error as Any)")
            let inner = try CoreImport(connection, into: "u", Self.columns)
            try inner.push(#"[[1,"a"]]"#)
            #expect(try inner.finish().inserted == 1)
            try outer.push("[9001,null]]")
            #expect(try outer.finish().inserted == 9001)
        }
        #expect(try core.integer(Self.indexes) == 2 && core.integer("SELECT count(*) FROM t") == 9003 && core.integer("SELECT count(*) FROM u") == 1)
    }

    @Test("observers hear of the commits of an import that knows the database alone", arguments: [false, true])
    func told(isInTransaction: Bool) throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, Self.schema) }
        try withObserver(of: core) { heard in
            try core.with(writer: true) { connection in
                if isInTransaction { try CoreError.check { mc_connection_begin(connection, $0) } }
                let rows = try openImport(connection) { options in
                    options.commit_rows = 2000
                    options.connection = nil
                }
                let before = heard.withLock { $0 }
                #expect(before.count >= 4 && before.reduce(0, +) >= 8000, "\(before)")
                try rows.push("[9001,null]]")
                _ = try rows.finish()
                if isInTransaction { try CoreError.check { mc_connection_commit(connection, $0) } }
            }
            #expect(heard.withLock { $0.reduce(0, +) } == 9001)
        }
    }
}
