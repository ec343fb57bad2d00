import MobileStore
import TestSupport
import Testing

/// For any input, an import either succeeds completely or changes nothing, and its error has the reason and the position.
@Suite struct HostileInputTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL, price INTEGER CHECK (price >= 0), note TEXT);
                CREATE TABLE item_os(id INTEGER PRIMARY KEY, name TEXT, price INTEGER, note TEXT, im INTEGER);
                INSERT INTO item VALUES (1, 'one', 100, NULL), (2, 'two', 200, 'mine');
                INSERT INTO item_os(id) VALUES (2)
                """)
        }
    }

    static let columns = ["id", "name", "price", "note"]

    static var options: ImportOptions {
        var options = ImportOptions()
        options.columnRules = [
            "id": JSONColumnRule(.integer), "name": JSONColumnRule(.text), "price": JSONColumnRule(.decimal(precision: 12, scale: 2)),
        ]
        options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id", assignments: [("im", 1)])
        return options
    }

    /// Reads both tables.
    func content() throws -> [[Value]] {
        try database.read { try $0.rows("SELECT * FROM item UNION ALL SELECT id, name, price, im FROM item_os") }
    }

    /// Imports in chunks of `size` bytes.
    @discardableResult
    func importing(_ bytes: [UInt8], size: Int = .max, options: ImportOptions = options) throws -> ImportResult {
        try database.write { connection in
            let importer = try connection.importer(into: "item", columns: Self.columns, options: options)
            for start in stride(from: 0, to: bytes.count, by: min(size, bytes.count + 1)) {
                try importer.push(Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))]))
            }
            return try importer.finish()
        }
    }

    /// The first rows of each input: they change both tables, so that a rollback has an effect.
    static let good = #"[[1,"first",1.5,null],[2,"theirs",2,"x"],[3,"third",3,null]"#

    @Test(
        "an error anywhere takes everything back, and is the same for chunks of every size",
        arguments: [
            (",", .truncated, 1, "the input ends in the middle"), (",[4", .truncated, 3, "the input ends in the middle"),
            ("", .truncated, 0, "ends in the middle"),
            ("}", .json, 0, "expected ',' or ']', found '}'"), (",]", .json, 1, "expected a row, found ']'"),
            ("] x", .json, 2, "expected nothing after the rows"),
            (",[4,\"\u{7}\",1,null]]", .json, 5, "found byte 0x07"), (#",[4,"\ud800",1,null]]"#, .json, 11, "the low surrogate of the pair"),
            (#",[4,7,1,null]]"#, .type, 4, #"column "name", byte 63: expected a string, found a number"#),
            (#",[4,"x",1.001,null]]"#, .type, 8, "within the column's precision and scale"), (#",[4,"x",1]]"#, .type, 9, "a value for each column"),
            (#",[null,"x",1,null]]"#, .type, 2, "expected an integer, found null"),
            (#",{"id":4,"nome":"x"}]"#, .type, 9, #"expected the name of a column, found "nome""#),
            (#",{"id":4,"id":5}]"#, .json, 9, #"found "id" twice"#), (#",{"name":"x"}]"#, .type, 12, #"column "id""#),
            (#",[4,null,1,null]]"#, .constraint, 1, "NOT NULL constraint failed: item.name"),
            (#",[4,"x",-1,null]]"#, .constraint, 1, "CHECK constraint failed"),
            (",[4,\"x\",1," + String(repeating: "[", count: 50), .limit, 42, "expected less nesting"),
        ] as [(String, StoreError.Code, Int64, String)])
    func refused(tail: String, code: StoreError.Code, offsetInTail: Int64, message: String) throws {
        let offset = Int64(Self.good.utf8.count) + offsetInTail
        let before = try content()
        let bytes = Array((Self.good + tail).utf8)
        for size in 1...bytes.count {
            let error = #expect(throws: StoreError.self) { try importing(bytes, size: size) }
            #expect(error?.code == code)
            #expect(error?.byteOffset == offset)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
            #expect(error?.message.hasPrefix("import of \"item\"") == true)
            #expect(try content() == before)
        }
        // The deflated input gives the same error, with the same offset in the text.
        let error = #expect(throws: StoreError.self) { try importing(deflated(bytes), size: 5) }
        #expect(error?.code == code)
        #expect(error?.byteOffset == offset)
        #expect(try content() == before)
    }

    @Test("what was done before in the transaction stays when an import in it fails")
    func outerChanges() throws {
        try database.write { connection in
            try connection.execute("INSERT INTO item VALUES (8, 'eight', 1, NULL)")
            #expect(throws: StoreError.self) {
                try connection.importer(into: "item", columns: Self.columns, options: Self.options).push(
                    Array(Self.good.utf8) + [0x7D] + Array(repeating: 0x20, count: 20000))
            }
            try connection.execute("INSERT INTO item VALUES (9, 'nine', 1, NULL)")
        }
        #expect(try database.read { try $0.rows("SELECT id FROM item") } == [[1], [2], [8], [9]])
    }

    @Test func `the good rows alone are imported, plain, zlib or gzip, in chunks of every size`() throws {
        let bytes = Array((Self.good + "]").utf8)
        for input in [bytes, deflated(bytes), deflated(bytes, gzip: true)] {
            for size in [1, 2, 3, 7, 1000] {
                let result = try importing(input, size: size)
                #expect((result.rows, result.diverted, result.bytes, result.inflatedBytes) == (3, 1, Int64(input.count), Int64(bytes.count)))
                #expect(
                    try database.read { try $0.rows("SELECT * FROM item") } == [
                        [1, "first", 150, .null], [2, "two", 200, "mine"], [3, "third", 300, .null],
                    ])
                #expect(try database.read { try $0.rows("SELECT * FROM item_os") } == [[2, "theirs", 200, "x", 1]])
            }
        }
    }

    @Test func `members of a gzip stream follow each other, and nothing else follows a stream`() throws {
        let bytes = Array((Self.good + "]").utf8)
        let members = deflated(Array(bytes[..<30]), gzip: true) + deflated(Array(bytes[30...]), gzip: true)
        for size in [1, 9, 1000] { #expect(try importing(members, size: size).rows == 3) }
        let before = try content()
        for input in [deflated(bytes) + [0], deflated(bytes) + deflated(bytes), deflated(bytes, gzip: true) + [0x5B]] {
            let error = #expect(throws: StoreError.self) { try importing(input, size: 7) }
            #expect(error?.code == .compression)
            #expect(error?.message.contains("expected nothing after its end") == true)
            #expect(try content() == before)
        }
    }

    @Test("a text that begins like a zlib stream is called a text", arguments: [1, 2, 100])
    func text(size: Int) throws {
        let error = #expect(throws: StoreError.self) { try importing(Array("HTTP/1.1 500 Internal Server Error".utf8), size: size) }
        #expect(error?.code == .compression)
        #expect(error?.message == "the input begins with \"HT\": it is neither JSON nor a zlib or gzip stream, but looks like another text")
    }

    @Test func `a deflated stream that is cut or has one wrong byte anywhere changes nothing`() throws {
        let before = try content()
        let input = deflated(Array((Self.good + "]").utf8))
        for length in 1..<input.count {
            let error = #expect(throws: StoreError.self) { try importing(Array(input[..<length])) }
            #expect(error?.code == .truncated, "\(length)")
        }
        for index in input.indices {
            var damaged = input
            damaged[index] ^= 0x10
            // Neither the chunks nor a second thread affect which of several errors is reported.
            let codes = try [1, 30, damaged.count].flatMap { size in
                try [ImportThreads.off, .on].map { threads in
                    var options = Self.options
                    options.threads = threads
                    let error = #expect(throws: StoreError.self, "byte \(index)") { try importing(damaged, size: size, options: options) }
                    return try #require(error).code
                }
            }
            #expect(Set(codes).count == 1, "byte \(index): \(codes)")
        }
        #expect(try content() == before)
    }

    @Test func `a small stream that grows without end is refused`() throws {
        let before = try content()
        let bomb = deflated(Array("[".utf8) + Array(repeating: 0x20, count: 20 << 20))
        #expect(bomb.count < 25000)
        let byRatio = #expect(throws: StoreError.self) { try importing(bomb, size: 1000) }
        #expect(byRatio?.code == .limit)
        #expect(byRatio?.message.contains("400 times") == true)
        var options = Self.options
        options.maximumInflateRatio = 100_000
        options.maximumInflatedBytes = 5 << 20
        let bySize = #expect(throws: StoreError.self) { try importing(bomb, options: options) }
        #expect(bySize?.code == .limit)
        #expect(bySize?.message.contains("5242880 bytes") == true)
        options.maximumInflatedBytes = 50 << 20
        #expect(throws: StoreError.self) { try importing(bomb, options: options) }  // only blanks, no rows
        #expect(try content() == before)
    }

    @Test func `a row longer than allowed is refused without being collected`() throws {
        var options = Self.options
        options.maximumRowBytes = .kilobytes(1)
        let long = Array((Self.good + ",[4,\"" + String(repeating: "x", count: 100_000)).utf8)
        for size in [10, 5000, 1 << 20] {
            let error = #expect(throws: StoreError.self) { try importing(long, size: size, options: options) }
            #expect(error?.code == .limit)
            #expect(error?.row == 4)
        }
    }

    @Test func `triggers on the target run, and an error still names its row`() throws {
        try database.write {
            try $0.execute(
                """
                CREATE TABLE log(id INTEGER);
                CREATE TRIGGER item_added AFTER INSERT ON item BEGIN
                    INSERT INTO log VALUES (new.id);
                    SELECT RAISE(ABORT, 'not this one') WHERE new.id = 5;
                END
                """)
        }
        #expect(try importing(Array((Self.good + "]").utf8)).inserted == 1)
        #expect(try database.read { try $0.rows("SELECT id FROM log") } == [[3]])
        let error = #expect(throws: StoreError.self) { try importing(Array(#"[[4,"x",1,null],[5,"y",1,null],[6,"z",1,null]]"#.utf8)) }
        #expect(error?.row == 2)
        #expect(error?.message == #"import of "item", row 2, byte 16: not this one"#)
        #expect(try database.read { try $0.rows("SELECT id FROM log") } == [[3]])
    }

    @Test func `rows are found by a unique text key as well, and tables need no rowid`() throws {
        try database.write { connection in
            try connection.execute(
                "CREATE TABLE word(id INTEGER PRIMARY KEY, code TEXT UNIQUE, n); CREATE TABLE pair(code TEXT PRIMARY KEY, n) WITHOUT ROWID")
            for table in ["word", "pair"] {
                for text in [#"[["a",1],["b",2]]"#, #"[{"n":3,"code":"b"},{"code":"c"}]"#] {
                    let importer = try connection.importer(into: table, columns: ["code", "n"])
                    try importer.push(Array(text.utf8))
                    try importer.finish()
                }
                #expect(try connection.rows("SELECT code, n FROM \(table) ORDER BY 1") == [["a", 1], ["b", 3], ["c", .null]])
            }
        }
    }

    @Test func `names are only names, whatever is in them`() throws {
        let table = #"a "table" with 'quotes'; --"#, column = #"sel"ect [x]"#
        let quoted = { (name: String) in "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
        try database.write { connection in
            try connection.execute("CREATE TABLE \(quoted(table))(\(quoted(column)) INTEGER PRIMARY KEY, \"order\" TEXT)")
            let importer = try connection.importer(into: table, columns: [column, "order"])
            try importer.push(Array(#"[[1,"x"],{"sel\"ect [x]":2,"order":"y"},[1,"z"]]"#.utf8))
            #expect(try importer.finish().updated == 1)
            let gone = try connection.importer(into: table, columns: [column], mode: .delete)
            try gone.push(Array("[[2]]".utf8))
            #expect(try gone.finish().deleted == 1)
            #expect(try connection.rows("SELECT * FROM \(quoted(table))") == [[1, "z"]])
        }
    }

    @Test func `as many columns as a table can have are imported, and no more`() throws {
        let columns = (0..<1999).map { "c\($0)" }
        try database.write { connection in
            try connection.execute("CREATE TABLE wide(\(columns.joined(separator: ",")), PRIMARY KEY(c0))")
            let importer = try connection.importer(into: "wide", columns: columns)
            let row = "[" + (0..<1999).map(String.init).joined(separator: ",") + "]"
            try importer.push(Array("[\(row),\(row)]".utf8))
            let result = try importer.finish()
            #expect((result.inserted, result.updated) == (1, 1))
            let error = #expect(throws: StoreError.self) { _ = try connection.importer(into: "wide", columns: columns + ["c1999"]) }
            #expect(error?.code == .misuse)
        }
    }
}
