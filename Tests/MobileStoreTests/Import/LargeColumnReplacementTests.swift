import MobileStore
import Testing

/// The values that rows release in an import: dropped with its commit, but kept for their readers and for protected rows.
@Suite struct LargeColumnReplacementTests {
    let store: LargeColumns
    static let long = String(repeating: "long text ", count: 20_000)

    init() throws { store = try LargeColumns() }

    @Test(arguments: ["new", long])
    func `an upsert replaces a value; who reads the old one goes on`(text: String) throws {
        try store.importing(#"[[1,"a","\#(Self.long)","QUJD",1],[2,"b","stays",null,1]]"#)
        let old = try store.ids(1), other = try store.ids(2)
        do {
            let reader = try LargeValueReader(old.body!, in: store.database)
            #expect(try reader.text(upTo: 4) == "long")
            let result = try store.importing(#"[[1,"a","\#(text)",null,2],[3,"c","third",null,1]]"#)
            #expect(result.updated == 1 && result.inserted == 1)
            #expect(try store.text(store.ids(1).body) == text)
            #expect(try store.ids(1).picture == nil)
            try reader.seek(to: 0)
            var read = ""
            while case let piece = try reader.text(upTo: 50_000), !piece.isEmpty { read += piece }
            #expect(read == Self.long)
        }
        for id in [old.body, old.picture] {
            #expect(#expect(throws: StoreError.self) { try LargeValueReader(id!, in: store.database) }?.code == .notFound)
        }
        try store.database.freeRemovedValues()
        #expect(
            try store.database.read {
                try $0.first("SELECT count(*) FROM _mc_chunk WHERE id >> 24 IN (?, ?)", [.integer(old.body!), .integer(old.picture!)])
            } == [0])
        #expect(try store.text(other.body) == "stays")
        #expect(try store.values() == 3)
    }

    @Test func `of rows with one key only the last one's values stay`() throws {
        try store.importing(#"[[1,"a","first","QUJD",1],[1,"a","second",null,1],[1,"a","\#(Self.long)","QUI=",1],[1,"a","last","QQ==",1]]"#)
        #expect(try store.text(store.ids(1).body) == "last" && store.bytes(store.ids(1).picture) == [65])
        #expect(try store.values() == 2)
    }

    @Test func `an upsert that fails later keeps the old values`() throws {
        try store.importing(#"[[1,"a","old","QUJD",1]]"#)
        let before = try store.content()
        #expect(throws: StoreError.self) { try store.importing(#"[[1,"a","new",null,1],[2,"forbidden","\#(Self.long)",null,1]]"#) }
        #expect(try store.content() == before)
        #expect(try store.text(store.ids(1).body) == "old")
    }

    @Test func `deleted rows take their values along`() throws {
        try store.importing(#"[[1,"a","one","QUJD",1],[2,"b","two",null,1],[3,"c",null,null,1]]"#)
        let gone = try store.ids(1)
        let result = try store.deleting("[[1],[3],[9]]")
        #expect(result.deleted == 2)
        #expect(try store.values() == 1)
        #expect(try store.text(store.ids(2).body) == "two")
        #expect(#expect(throws: StoreError.self) { try LargeValueReader(gone.body!, in: store.database) }?.code == .notFound)
    }

    @Test(arguments: ["short", long])
    func `the server's version of a pending row keeps its value in the original state`(text: String) throws {
        try store.importing(#"[[1,"a","one","QUJD",1],[2,"b","two","QUI=",1],[3,"c","three",null,1]]"#)
        let shared = try store.ids(1)
        // Row 1 is pending and still has the server's value, row 2 has its own value, row 3 was deleted here.
        try store.database.write { connection in
            try connection.execute(
                """
                INSERT INTO doc_os SELECT id, title, body, picture, pages, 0 FROM doc;
                UPDATE doc SET body = NULL WHERE id = 2; DELETE FROM doc WHERE id = 3
                """)
        }
        let os = try (1...3).map { try store.ids($0, in: "doc_os") }
        let result = try store.importing(
            #"[[1,"t","\#(text)",null,2],[2,"t","\#(text)","QQ==",2],[3,"t","\#(text)",null,2],[4,"new","\#(text)",null,2]]"#)
        #expect(result.diverted == 3 && result.inserted == 1)
        #expect(try store.ids(1) == shared)
        #expect(try store.text(shared.body) == "one" && store.bytes(shared.picture) == [65, 66, 67])
        for key in 1...3 as ClosedRange<Int64> { #expect(try store.text(store.ids(key, in: "doc_os").body) == text) }
        #expect(try store.bytes(store.ids(2, in: "doc_os").picture) == [65])
        #expect(try store.text(store.ids(4).body) == text)
        // Values without a row are gone: the old texts of rows 2 and 3. Row 2 itself still has its picture.
        for id in [os[1].body, os[2].body] {
            #expect(#expect(throws: StoreError.self) { try LargeValueReader(id!, in: store.database) }?.code == .notFound)
        }
        #expect(try store.bytes(store.ids(2).picture) == [65, 66])
        // A second version replaces the first one in the table of original states.
        try store.importing(#"[[3,"t","again",null,3]]"#)
        #expect(try store.text(store.ids(3, in: "doc_os").body) == "again")
        #expect(try store.values() == 8)
        // A deletion on the server is recorded: the original state keeps its values.
        let deletion = try store.deleting("[[1],[4]]") {
            $0.pending = PendingProtection(originalTable: "doc_os", keyColumn: "id", assignments: [("im", 2)])
        }
        #expect(deletion.diverted == 1 && deletion.deleted == 1)
        #expect(try store.text(store.ids(1).body) == "one" && store.text(store.ids(1, in: "doc_os").body) == text)
        #expect(try store.values() == 7)
    }

    @Test func `batch commits commit values with their rows, and an error takes back what came since`() throws {
        let rows = (1...30).map { #"[\#($0),"x","\#($0 % 3 == 0 ? Self.long : "short")",null,1]"# }.joined(separator: ",")
        var committed = 0
        #expect(throws: StoreError.self) {
            try store.importing("[" + rows + #",[31,"forbidden","\#(Self.long)",null,1]]"#, size: 10_000) {
                $0.commits = .rows(5)
                $0.threads = .off
                $0.progress = { committed = $0.committed }
            }
        }
        let left = try store.database.read { try $0.first("SELECT count(*), count(body), (SELECT count(*) FROM _mc_value) FROM doc") }
        #expect(committed >= 5 && left?[0].integer ?? 0 >= Int64(committed))
        #expect(left?[0] == left?[1] && left?[0] == left?[2])
        for key in 1...(left?[0].integer ?? 0) { #expect(try store.text(store.ids(key).body) == (key % 3 == 0 ? Self.long : "short")) }
    }

    @Test func `plain inserts, triggers and row callbacks see ids`() throws {
        try store.database.write { connection in
            try connection.execute(
                "CREATE TABLE seen(id, body, old); CREATE TRIGGER tr AFTER UPDATE ON doc BEGIN INSERT INTO seen VALUES (new.id, new.body, old.body); END"
            )
        }
        var changes: [ImportChange] = []
        try store.importing(Array(#"[[1,"a","one",null,1],[2,"a","\#(Self.long)",null,1]]"#.utf8), mode: .insert) { $0.pending = nil }
        let old = try store.ids(1)
        try store.importing(#"[[1,"a","two",null,1]]"#) { $0.changes = { changes.append($0) } }
        #expect(changes == [ImportChange(table: 0, row: 1, kind: .updated, key: [1])])
        #expect(
            try store.database.read { try $0.rows("SELECT * FROM seen") } == [[1, .integer(try #require(store.ids(1).body)), .integer(old.body!)]])
        #expect(try store.values() == 2)
    }
}
