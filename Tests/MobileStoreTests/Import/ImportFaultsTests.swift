import FaultInjection
import MobileStore
import TestSupport
import Testing

/// Every allocation and every file operation of an import fails once. After each failure, the import has either succeeded or changed nothing.
@Suite struct ImportFaultsTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    static let schema = """
        CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price INTEGER);
        CREATE INDEX by_name ON item(name);
        CREATE TABLE item_os(code TEXT, id INTEGER, name TEXT, price INTEGER, im INTEGER, PRIMARY KEY(id, code));
        CREATE TABLE line(code TEXT, id INTEGER, name TEXT, PRIMARY KEY(id, code));
        CREATE TABLE line_os(code TEXT, id INTEGER, name TEXT, im INTEGER, PRIMARY KEY(id, code));
        INSERT INTO item VALUES (2, 'mine', 5), (3, 'mine', 6);
        INSERT INTO item_os(id, code) VALUES (2, ''), (3, '');
        INSERT INTO line VALUES ('a', 1, 'x'), ('b', 1, 'y');
        INSERT INTO line_os(code, id) VALUES ('a', 1)
        """

    static let json = #"""
        {"item":[[1,"one \u00e9",1.25],{"id":2,"name":"theirs"},[4,"four",7]],"gone":[["b",1],["a",1],["z",9]],
         "line":[["a",1,"theirs"],["\#(String(repeating: "c", count: 300))",2,"new"]],"\u0069tem":[[1,"again",2]]}
        """#

    static var tables: [ImportTable] {
        var item = ImportTable("item", columns: ["id", "name", "price"])
        item.columnRules["price"] = JSONColumnRule(.decimal(precision: 12, scale: 2))
        item.pending = PendingProtection(originalTable: "item_os", assignments: [("im", "set")])
        item.onInsert = []
        var line = ImportTable("line", columns: ["code", "id", "name"])
        line.keyColumns = ["id", "code"]
        line.pending = PendingProtection(originalTable: "line_os", assignments: [("im", 1)])
        var gone = ImportTable("line", member: "gone", columns: ["code", "id"], mode: .delete)
        gone.pending = PendingProtection(originalTable: "line_os", assignments: [("im", 2)])
        return [item, line, gone]
    }

    static func content(_ connection: Connection) throws -> [[Value]] {
        try connection.rows(
            """
            SELECT 'item', id, name, price, 0 FROM item UNION ALL SELECT 'os', id, name, price, im FROM item_os
            UNION ALL SELECT 'line', id, code, name, 0 FROM line UNION ALL SELECT 'line_os', id, code, name, im FROM line_os
            """)
    }

    /// - Parameter texts: how often the input is imported, as texts of one import.
    static func importing(_ input: [UInt8], texts: Int = 1, _ connection: Connection) throws {
        var options = ImportOptions()
        options.threads = .off
        options.changes = { _ in }
        let importer = try connection.importer(into: tables, options: options)
        for text in 1...texts {
            for start in stride(from: 0, to: input.count, by: 100) { try importer.push(Array(input[start..<min(start + 100, input.count)])) }
            if text < texts { try importer.endText() }
        }
        try importer.finish()
    }

    struct Undo: Error {}

    @Test(arguments: [false, true], 1...2)
    func `without memory for any one allocation an import says so and leaves everything as it was`(isDeflated: Bool, texts: Int) throws {
        try Database(directory.profile()).close()  // allocates the memory that all databases share
        let held = fault_memory_held()
        try failEachAllocation(isDeflated: isDeflated, texts: texts)
        #expect(fault_memory_held() == held, "all memory is given back")
    }

    private func failEachAllocation(isDeflated: Bool, texts: Int) throws {
        let database = try Database(directory.profile())
        try database.write { _ = try $0.execute(Self.schema) }
        let input = isDeflated ? deflated(Array(Self.json.utf8)) : Array(Self.json.utf8)
        let before = try database.read { try Self.content($0) }
        let failures = try ImportFaults.failEachAllocation(in: database) {
            try Self.importing(input, texts: texts, $0)
        } judge: { (outcome, connection) throws in
            guard let error = outcome.error else { return }
            #expect((error as? StoreError)?.code == .noMemory, "\(outcome)")
            #expect(try Self.content(connection) == before, "\(outcome)")
        }
        #expect(failures > 100)
        #expect(try database.read { try Self.content($0) } == before)
    }

    /// Imports into an empty table with indexes. `afterBatch` gets the number of rows so far.
    static func filling(_ input: [UInt8], _ connection: Connection, afterBatch: @escaping (Int) -> Void) throws {
        var options = ImportOptions()
        options.threads = .off
        options.progress = { afterBatch($0.rows) }
        var filled = ImportTable("filled", columns: ["id", "name"])
        filled.pending = PendingProtection(originalTable: "filled_os")
        let importer = try connection.importer(
            into: [filled, ImportTable("filled", member: "gone", columns: ["id"], mode: .delete)], options: options)
        try importer.push(input)
        try importer.finish()
    }

    /// SQLite prepares a running statement again when the schema has changed. Without memory at that moment it rolls the whole
    /// transaction back, and repeats the statement after it.
    @Test func `without memory where the indexes of a filled table are dropped, no row of the import stays`() throws {
        let database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE filled(id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX names ON filled(name); CREATE INDEX both ON filled(name, id);
                CREATE TABLE filled_os(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO filled_os VALUES (-1, 'mine')
                """)
        }
        let rows = (1...6000).map { "[\($0),\"\($0)\"]" }.joined(separator: ",")
        let input = Array("{\"filled\":[\(rows),[-1,\"theirs\"]],\"gone\":[[1],[2]]}".utf8)
        let schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
        let before = try database.read { try $0.rows(schema) }
        var last = 0
        do {
            try database.write { connection in
                try Self.filling(input, connection) { if $0 < 4096 { last = $0 } }
                #expect(try connection.rows("SELECT (SELECT count(*) FROM filled), (SELECT name FROM filled_os)") == [[5998, "theirs"]])
                throw Undo()
            }
        } catch is Undo {}
        #expect(last > 0)
        var failures = 0
        for allocation: Int64 in 0... {
            var hasFailed = false, thrown: (any Error)?
            do {
                try database.write { connection in
                    var batches = 0
                    defer {
                        hasFailed = hasFailed || fault_memory_has_failed()
                        fault_memory_fail_after(-1, false)
                    }
                    try Self.filling(input, connection) { rows in
                        if rows == last { fault_memory_fail_after(allocation, false) }
                        if rows > last { batches += 1 }
                        if batches == 2 {
                            hasFailed = hasFailed || fault_memory_has_failed()
                            fault_memory_fail_after(-1, false)
                        }
                    }
                    throw Undo()
                }
            } catch { thrown = error is Undo ? nil : error }
            if thrown != nil { failures += 1 }
            #expect(
                try database.read { try $0.rows("SELECT (SELECT count(*) FROM filled), (SELECT name FROM filled_os)") } == [[0, "mine"]],
                "\(allocation): \(String(describing: thrown))")
            #expect(try database.read { try $0.rows(schema) } == before, "\(allocation)")
            if !hasFailed { break }
        }
        #expect(failures > 50)
    }

    @Test(arguments: [false, true])
    func `when any one file operation fails the table has all of the import or nothing`(isDeflated: Bool) throws {
        let input = isDeflated ? deflated(Array(Self.json.utf8)) : Array(Self.json.utf8)
        let failures = try ImportFaults.failEachOperation(in: directory) {
            try $0.write { _ = try $0.execute(Self.schema) }
        } of: {
            try Self.importing(input, $0)
        } judge: { outcome, hasFailed, database in
            let rows = try database.read { try Self.content($0) }
            #expect(rows.contains([.text("item"), 1, "again", 200, 0]) == (outcome.error == nil), "\(outcome)")
            #expect(rows.count == (outcome.error == nil ? 9 : 7), "\(outcome)")
            #expect(try database.read { try $0.rows("PRAGMA integrity_check") } == [["ok"]])
            #expect(outcome.error == nil || hasFailed)
        }
        #expect(failures > 1)
    }

    @Test func `an import of no rows writes nothing and reads few pages`() throws {
        let storage = fault_storage_create(nil)!
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var profile = directory.profile()
        profile.storageLayers = [StorageLayer("counts") { _ in name }]
        do {
            let database = try Database(profile)
            try database.write { _ = try $0.execute(Self.schema) }
            try database.close()
        }
        let database = try Database(profile)
        fault_storage_clear_counts(storage)
        try database.write { try Self.importing(Array("{}".utf8), $0) }
        let counts = fault_storage_counts(storage)
        #expect(counts.writes == 0)
        #expect(counts.syncs == 0)
        // The schema, and the two tables of original states with their indexes.
        #expect(counts.reads <= 12)
        try database.close()
    }
}
