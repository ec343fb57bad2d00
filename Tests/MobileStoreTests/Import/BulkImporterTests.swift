import MobileStore
import TestSupport
import Testing

@Suite struct BulkImporterTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT, rc INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE customer_os(id INTEGER PRIMARY KEY, name TEXT, city TEXT, sv INTEGER, im INTEGER)
                """)
        }
    }

    func rows(_ table: String = "customer") throws -> [[Value]] {
        try database.read { try $0.rows("SELECT * FROM \(table) ORDER BY id") }
    }

    @discardableResult
    func importing(_ json: String, _ mode: ImportMode = .upsert, _ options: ImportOptions = ImportOptions()) throws -> ImportResult {
        try database.write { connection in
            let columns = mode == .delete ? ["id"] : ["id", "name", "city"]
            let importer = try connection.importer(into: "customer", columns: columns, mode: mode, options: options)
            try importer.push(Array(json.utf8))
            return try importer.finish()
        }
    }

    @Test func `rows are inserted or updated, and constants only come with new ones`() throws {
        var options = ImportOptions()
        options.onInsert = [("rc", 7)]
        let first = try importing(#"[[1,"Harbour Foods",null],[2,"Mill","Cork"]]"#, .upsert, options)
        #expect((first.rows, first.inserted, first.updated) == (2, 2, 0))
        options.onInsert = [("rc", 8)]
        let second = try importing(#"[[2,"Mill & Sons","Cork"],{"city":"Galway","id":3}]"#, .upsert, options)
        #expect((second.rows, second.inserted, second.updated) == (2, 1, 1))
        #expect(
            try rows() == [
                [1, "Harbour Foods", .null, 7], [2, "Mill & Sons", "Cork", 7], [3, .null, "Galway", 8],
            ])
    }

    @Test func `a key that comes twice in one input gets the later values`() throws {
        let result = try importing(#"[[1,"a","b"],[1,"c","d"]]"#)
        #expect((result.inserted, result.updated) == (1, 1))
        #expect(try rows() == [[1, "c", "d", 0]])
    }

    @Test func `keys are deleted, and those that do not exist are ignored`() throws {
        try importing(#"[[1,"a","b"],[2,"c","d"],[3,"e","f"]]"#)
        let result = try importing("[[1],{\"id\":3},[9]]", .delete)
        #expect((result.rows, result.deleted) == (3, 2))
        #expect(try rows() == [[2, "c", "d", 0]])
    }

    @Test func `versions of pending rows go to the table of original states`() throws {
        try importing(#"[[1,"a","b"],[2,"mine","d"]]"#)
        try database.write { try $0.execute("INSERT INTO customer_os(id) VALUES (2), (0)") }
        var options = ImportOptions()
        options.pending = PendingProtection(originalTable: "customer_os", keyColumn: "id", assignments: [("sv", 1), ("im", 1)])
        let result = try importing(#"[[0,"zero",null],[1,"a2","b"],[2,"theirs","e"]]"#, .upsert, options)
        #expect((result.rows, result.inserted, result.updated, result.diverted) == (3, 0, 1, 2))
        #expect(try rows() == [[1, "a2", "b", 0], [2, "mine", "d", 0]])
        #expect(try rows("customer_os") == [[0, "zero", .null, 1, 1], [2, "theirs", "e", 1, 1]])

        options.pending?.assignments = [("sv", 2), ("im", 1)]
        let deleted = try importing("[[1],[2]]", .delete, options)
        #expect((deleted.rows, deleted.deleted, deleted.diverted) == (2, 1, 1))
        #expect(try rows() == [[2, "mine", "d", 0]])
        #expect(try rows("customer_os") == [[0, "zero", .null, 1, 1], [2, "theirs", "e", 2, 1]])
    }

    @Test func `an error names row, column and byte, and leaves the table as it was`() throws {
        try importing(#"[[1,"a","b"]]"#)
        var options = ImportOptions()
        options.columnRules["city"] = JSONColumnRule(.text, isNullable: false)
        let error = #expect(throws: StoreError.self) { try importing(#"[[1,"x","y"],[2,"z",17]]"#, .upsert, options) }
        #expect(error?.code == .type)
        #expect(error?.row == 2)
        #expect(error?.byteOffset == 20)
        #expect(error?.message == #"import of "customer", row 2, column "city", byte 20: expected a string, found a number"#)
        #expect(try rows() == [[1, "a", "b", 0]])
    }

    @Test func `a constraint's refusal names the row`() throws {
        try importing(#"[[2,"a","b"]]"#)
        let error = #expect(throws: StoreError.self) { try importing(#"[[1,"x","y"],[2,"z","q"]]"#, .insert) }
        #expect(error?.code == .constraint)
        #expect(error?.row == 2)
        #expect(error?.sqliteCode == 1555)
        #expect(try rows() == [[2, "a", "b", 0]])
    }

    @Test func `an import that is not finished leaves nothing, even when it outlives its transaction`() throws {
        var kept: BulkImporter?
        try database.write { connection in
            try connection.execute("INSERT INTO customer(id) VALUES (9)")
            kept = try connection.importer(into: "customer", columns: ["id", "name", "city"])
            let many = (1...2000).map { "[\($0),\"name\",\"city\"]" }.joined(separator: ",")
            try kept?.push(Array("[\(many),".utf8))
        }
        #expect(try rows() == [[9, .null, .null, 0]])
        let error = #expect(throws: StoreError.self) { try kept?.finish() }
        #expect(error?.code == .misuse)
    }

    @Test func `progress is told, and cancels by throwing`() throws {
        struct Enough: Error {}
        var seen: [Int] = []
        var options = ImportOptions()
        options.progress = { progress in
            seen.append(progress.rows)
            if progress.rows > 3000 { throw Enough() }
        }
        let many = (1...5000).map { "[\($0),\"a name\",\"a city\"]" }.joined(separator: ",")
        let error = #expect(throws: StoreError.self) { try importing("[\(many)]", .upsert, options) }
        #expect(error?.code == .interrupted)
        #expect(error?.cause is Enough)
        #expect(seen.count > 1 && seen == seen.sorted())
        #expect(try rows().isEmpty)
    }

    @Test func `what cannot be opened says why`() throws {
        func opening(_ table: String, _ columns: [String], _ mode: ImportMode = .upsert, _ change: (inout ImportOptions) -> Void = { _ in })
            -> StoreError?
        {
            var options = ImportOptions()
            change(&options)
            return #expect(throws: StoreError.self) {
                try database.write { _ = try $0.importer(into: table, columns: columns, mode: mode, options: options) }
            }
        }
        #expect(opening("nobody", ["id"])?.message == #"import of "nobody": no such table: nobody"#)
        #expect(opening("customer", ["id", "nothing"])?.message.contains("has no column named nothing") == true)
        #expect(opening("customer", ["nothing"], .delete)?.message.contains("no such column") == true)
        #expect(opening("customer", ["name", "id"])?.message.contains("ON CONFLICT clause does not match") == true)
        #expect(opening("customer", ["id", "id"])?.code == .misuse)
        #expect(opening("customer", [])?.code == .misuse)
        #expect(opening("customer", ["id", "name"], .delete) { $0.keyColumns = ["id"] }?.code == .misuse)
        #expect(opening("customer", ["name"]) { $0.keyColumns = ["id"] }?.code == .misuse)
        #expect(opening("customer", ["id"]) { $0.columnRules = ["x": .init(.text)] }?.code == .misuse)
        #expect(opening("customer", ["id"]) { $0.columnRules = ["id": .init(.decimal(precision: 0, scale: 0))] }?.code == .misuse)
        #expect(opening("cust\0omer", ["id"])?.code == .misuse)
        #expect(opening("customer", ["id"]) { $0.maximumDepth = 0 }?.code == .misuse)
        #expect(
            opening("customer", ["id"]) { $0.pending = PendingProtection(originalTable: "customer_os", keyColumn: "nothing") }?.code != nil)
    }
}
