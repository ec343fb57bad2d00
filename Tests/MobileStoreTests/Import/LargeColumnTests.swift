import FaultInjection
import MobileStore
import Testing

/// Large attributes of any length inside of an import stream go to their chunks, regardless of the cuts of the input.
@Suite struct LargeColumnTests {
    let store: LargeColumns

    init() throws { store = try LargeColumns() }

    @Test(
        arguments: [(1, 3000), (2, 3000), (3, 3000), (7, 3000), (4093, 20_000), (65_536, 20_000), (.max, 20_000)] as [(size: Int, units: Int)],
        [ImportThreads.off, .on])
    func `values of any length are stored, in chunks of any size, plain and deflated`(cut: (size: Int, units: Int), threads: ImportThreads) throws {
        let (text, json) = LargeColumns.text(cut.units)
        let picture = LargeColumns.picture(cut.units * 10), base64 = LargeColumns.base64(picture)
        let rows = """
            [[1,"one","\(json)","\(base64.replacing("/", with: "\\/"))",1.5],[2,"two",null,"",2],[3,"three","short","QUI=",3],
             {"pages":4,"picture":"\(base64)","title":"fo\\u0075r","id":4,"body":"\(json)"}, {"id":5,"body":""},
             {"body":"\(json)","id":6,"title":"\(String(repeating: "long ", count: 5000))"},[7,null,null,"\(base64)",null]]
            """
        for input in [Array(rows.utf8), deflated(Array(rows.utf8)), deflated(Array(rows.utf8), gzip: true)] {
            let result = try store.importing(input, size: cut.size) { $0.threads = threads }
            #expect(result.rows == 7)
            let small = try store.database.read { try $0.rows("SELECT id, title, pages FROM doc ORDER BY id") }
            #expect(small.map { $0[0] } == [1, 2, 3, 4, 5, 6, 7])
            #expect(small.map { $0[1] } == ["one", "two", "three", "four", .null, .text(String(repeating: "long ", count: 5000)), .null])
            #expect(small.map { $0[2] } == [15, 20, 30, 40, .null, .null, .null])
            let ids = try (1...7).map { try store.ids($0) }
            #expect(try ids.map { try store.text($0.body) } == [text, nil, "short", text, "", text, nil])
            #expect(try ids.map { try store.bytes($0.picture) } == [picture, [], [65, 66], picture, nil, nil, picture])
            #expect(try store.values() == 10)
        }
    }

    @Test(
        "lengths around the longest cell and the size of a chunk",
        arguments: [16_380, 16_383, 16_384, 16_385, 16_388, 65_536, 69_000, 69_605, 69_606, 69_611, 69_612, 69_613, 140_000])
    func lengths(length: Int) throws {
        let text = String(repeating: "x", count: length), picture = LargeColumns.picture(length / 4 * 3)
        try store.importing(#"[[1,"a","\#(text)","\#(LargeColumns.base64(picture))",1]]"#, size: 5000)
        let ids = try store.ids(1)
        #expect(try store.text(ids.body) == text)
        #expect(try store.bytes(ids.picture) == picture)
        let chunk = try store.database.read { try $0.first("SELECT chunk FROM _mc_value WHERE id = ?", [.integer(ids.body!)]) }?[0].integer ?? 0
        let short = try store.database.read {
            try $0.first("SELECT count(*) FROM _mc_chunk WHERE id >> 24 = ?1 AND length(content) <> ?2", [.integer(ids.body!), .integer(chunk)])
        }
        #expect(short == [length % Int(chunk) == 0 ? 0 : 1])
    }

    @Test(
        "what is wrong in a large value is named at its byte, wherever chunks end",
        arguments: [
            (#"[8,"x","@\x",null,1]]"#, StoreError.Code.json, 1, "body"), (#"[8,"x","@\ud83dx",null,1]]"#, .json, 6, "body"),
            ("[8,\"x\",\"@\u{1}\",null,1]]", .json, 0, "body"), (#"[8,"x",null,"@!A",1]]"#, .type, 0, "picture"),
            (#"[8,"x",null,"@A",1]]"#, .type, 1, "picture"), (#"[8,"x",null,"@QQ=A",1]]"#, .type, 3, "picture"),
            (#"[8,"x",null,"@QR==",1]]"#, .type, 2, "picture"),
            (#"[8,"x",null,"@\/=",1]]"#, .type, 2, "picture"), (#"[8,"x",null,"@QQ==QUJD",1]]"#, .type, 4, "picture"),
            (#"[8,"x",null,"@\u0041\u0021",1]]"#, .type, 6, "picture"), (#"[8,"x",null,"@*\x",1]]"#, .type, 0, "picture"),
            (#"[8,"x",null,"@\x",1]]"#, .json, 1, "picture"),
            (#"[8,"x","@",7,1]]"#, .type, 2, "picture"), (#"[8,"x","@",null,1,2]]"#, .type, 8, ""), (#"[8,"x","@"]"#, .type, 1, "picture"),
            (#"{"id":8,"body":"@","body":"x"}]"#, .json, 2, "body"), (#"[8,"forbidden","@",null,1]]"#, .constraint, -15, ""),
        ] as [(String, StoreError.Code, Int, String)])
    func errors(row: String, code: StoreError.Code, offsetBehind: Int, column: String) throws {
        try store.importing(#"[[1,"one","old text","QUJD",1]]"#)
        let before = try store.content()
        for filling in ["", String(repeating: "abcd", count: 200), String(repeating: "abcd", count: 60_000)] {
            let head = #"[[1,"first","new text",null,2],[2,"second","\#(String(repeating: "abcd", count: 20_000))",null,2],"#
            let parts = row.split(separator: "@", omittingEmptySubsequences: false)
            let input = head + parts[0] + filling + parts[1]
            let offset = code == .constraint ? head.utf8.count : (head + parts[0] + filling).utf8.count + offsetBehind
            for (size, threads) in [(1000, ImportThreads.off), (.max, .off), (65_537, .on), (100_003, .on)] {
                let error = #expect(throws: StoreError.self) { try store.importing(input, size: size) { $0.threads = threads } }
                #expect(error?.code == code && error?.byteOffset == Int64(offset) && error?.row == 3, "\(filling.count), \(size): \(error as Any)")
                #expect(column.isEmpty || error?.message.contains("column \"\(column)\"") == true, "\(error as Any)")
                #expect(try store.content() == before)
            }
        }
    }

    @Test func `bytes that are not UTF-8 are found in the middle of megabytes`() throws {
        let before = try store.content()
        let head = Array(#"[[1,"x",""#.utf8), text = Array(String(repeating: "ü", count: 1_000_000).utf8), tail = Array(#"",null,1]]"#.utf8)
        for (bad, at) in [([0xFF], 0), ([0xC3, 0x28], 1), ([0xED, 0xA0, 0x80], 1), ([0xF0, 0x9F, 0x22], 2)] as [([UInt8], Int)] {
            for size in [4096, 100_000_000] {
                let error = #expect(throws: StoreError.self) { try store.importing(head + text + bad + text + tail, size: size) }
                #expect(error?.code == .json && error?.byteOffset == Int64(head.count + text.count + at) && error?.row == 1)
            }
        }
        #expect(try store.content() == before)
    }

    @Test func `an input that ends in a value, and an import that is dropped or cancelled there, leave nothing`() throws {
        struct Enough: Error {}
        let before = try store.content()
        let long = String(repeating: "abcd", count: 100_000), input = Array(#"[[1,"x","a",null,1],[2,"y","\#(long)",null,1]]"#.utf8)
        for length in [100, 16_500, 70_000, 300_000, input.count - 10] {
            for threads in [ImportThreads.off, .on] {
                let error = #expect(throws: StoreError.self) { try store.importing(Array(input[..<length]), size: 9000) { $0.threads = threads } }
                #expect(error?.code == .truncated && error?.byteOffset == Int64(length))
                try store.database.write { connection in
                    let importer = try connection.importer(
                        into: "doc", columns: LargeColumns.columns, options: LargeColumns.options { $0.threads = threads })
                    try importer.push(Array(input[..<length]))
                }
                #expect(try store.content() == before)
            }
        }
        var calls = 0
        let error = #expect(throws: StoreError.self) {
            try store.importing(input, size: 9000) {
                $0.progress = { _ in
                    calls += 1
                    if calls == 4 { throw Enough() }
                }
            }
        }
        #expect(error?.cause is Enough && calls == 4)
        #expect(try store.content() == before)
    }

    @Test func `a row's length does not count what comes in parts, wherever chunks end`() throws {
        let long = String(repeating: "abcd", count: 20_000), limit = ByteCount.bytes(2000)
        for size in [700, 5000, .max] {
            try store.importing(#"[[1,"\#(String(repeating: "t", count: 1000))","\#(long)","\#(long)",1]]"#, size: size) {
                $0.maximumRowBytes = limit
            }
            let ids = try store.ids(1)
            #expect(try store.text(ids.body) == long && store.bytes(ids.picture)?.count == 60_000)
            let input = #"[{"id":1,"body":"\#(long)","picture":"\#(long)","title":"\#(String(repeating: "t", count: 3000))"}]"#
            let error = #expect(throws: StoreError.self) { try store.importing(input, size: size) { $0.maximumRowBytes = limit } }
            let offset: Int64 = 1 + 2000 + 2 * 80_002
            #expect(error?.code == .limit && error?.byteOffset == offset)
        }
    }

    @Test("memory does not grow with a value", arguments: [true, false])
    func memory(isText: Bool) throws {
        let store = try LargeColumns { $0.cacheSize = .kilobytes(512) }
        let piece = [UInt8](repeating: UInt8(ascii: "Q"), count: 1 << 20), pieces = 40
        try store.database.write { connection in
            fault_memory_fail_after(-1, false)
            let importer = try connection.importer(into: "doc", columns: LargeColumns.columns, options: LargeColumns.options { $0.threads = .off })
            try importer.push(Array((isText ? "[[1,null,\"" : "[[1,null,null,\"").utf8))
            for _ in 0..<pieces { try importer.push(piece) }
            try importer.push(Array((isText ? "\",null,1]]" : "\",1]]").utf8))
            try importer.finish()
            #expect(fault_memory_peak() < 3 << 20)
        }
        let ids = try store.ids(1)
        let reader = try LargeValueReader(isText ? ids.body! : ids.picture!, in: store.database)
        #expect(reader.length == Int64(isText ? pieces << 20 : pieces << 18 * 3))
    }

    @Test func `columns without large values are imported as before, and a large one cannot be a key`() throws {
        let error = #expect(throws: StoreError.self) { try store.importing("[]") { $0.keyColumns = ["body"] } }
        #expect(error?.code == .misuse)
        let other = #expect(throws: StoreError.self) { try store.importing("[]") { $0.largeColumns = ["body"] } }
        #expect(other?.code == .misuse)
        let missing = #expect(throws: StoreError.self) { try store.deleting("[[1]]") { $0.largeColumns = ["nobody"] } }
        #expect(missing?.code == .sqlite)
    }

    @Test func `what is exported in line comes back`() throws {
        let (text, json) = LargeColumns.text(30_000), picture = LargeColumns.picture(200_001)
        try store.importing(#"[[1,"one","\#(json)","\#(LargeColumns.base64(picture))",1.5],[2,"two",null,null,2],[3,"three","x","",3]]"#)
        for format in [ExportFormat.arrays, .objects] {
            let exported = try store.database.read { connection in
                let rows = try connection.exporter(
                    "SELECT id, title, body, picture, pages FROM doc", format: format,
                    types: LargeColumns.columns.map { LargeColumns.rules[$0]!.type }, largeValues: [2: .text, 3: .base64])
                var bytes: [UInt8] = []
                while let chunk = try rows.nextChunk(maximum: 50_000) { bytes += chunk }
                return bytes
            }
            let back = try LargeColumns()
            try back.importing(exported, size: 33_333)
            #expect(
                try back.database.read { try $0.rows("SELECT id, title, pages FROM doc") } == [[1, "one", 15], [2, "two", 20], [3, "three", 30]])
            #expect(try back.text(back.ids(1).body) == text && back.bytes(back.ids(1).picture) == picture)
            #expect(try back.ids(2) == (nil, nil))
            #expect(try back.text(back.ids(3).body) == "x" && back.bytes(back.ids(3).picture) == [])
        }
    }
}
