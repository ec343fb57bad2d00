import MobileStore
import TestSupport
import Testing

/// An import with a second thread has the same result as one without.
@Suite struct ImportThreadsTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT CHECK (name <> 'forbidden'), note);
                CREATE TABLE item_os(id INTEGER PRIMARY KEY, name TEXT, note);
                INSERT INTO item VALUES (7, 'mine', NULL), (8, 'old', NULL);
                INSERT INTO item_os(id) VALUES (7)
                """)
        }
    }

    /// Makes 40,000 rows: every thousandth has a value of 30,000 bytes, one has a value of 200 KB. `wrong` replaces the end of the text.
    static func input(rows: Int = 40_000, wrong: String? = nil) -> [UInt8] {
        var text = "["
        for row in 1...rows {
            let length = row == rows / 2 ? 200_000 : row % 1000 == 0 ? 30_000 : row % 40
            text += "[\(row),\"name \\u00e9 \(row)\",\"\(String(repeating: "x", count: length))\"],\n"
        }
        return Array((text + (wrong ?? "[\(rows + 1),null,null]]")).utf8)
    }

    /// The same rows plain, deflated and as gzip.
    static let inputs: [[UInt8]] = {
        let plain = input()
        return [plain, deflated(plain), deflated(plain, gzip: true)]
    }()

    func importing(_ bytes: [UInt8], size: Int, _ change: (inout ImportOptions) -> Void) throws -> ImportResult {
        try database.write { connection in
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "item_os", keyColumn: "id")
            options.columnRules["id"] = JSONColumnRule(.integer)
            change(&options)
            let importer = try connection.importer(into: "item", columns: ["id", "name", "note"], options: options)
            for start in stride(from: 0, to: bytes.count, by: size) { try importer.push(Array(bytes[start..<min(start + size, bytes.count)])) }
            return try importer.finish()
        }
    }

    func content() throws -> [[Value]] {
        try database.read {
            try $0.rows("SELECT count(*), sum(id), sum(length(name)), sum(length(note)), max(note) FROM item UNION ALL SELECT * , 0, 0 FROM item_os")
        }
    }

    @Test(arguments: [1000, 65_536, 1 << 20, 100_000_000], [ImportThreads.on, .automatic])
    func `the outcome is the same, plain and deflated`(size: Int, threads: ImportThreads) throws {
        let plain = Self.inputs[0]
        for input in Self.inputs {
            try database.write { _ = try $0.execute("DELETE FROM item WHERE id <> 7") }
            let alone = try importing(input, size: size) { $0.threads = .off }
            let expected = try content()
            try database.write { _ = try $0.execute("DELETE FROM item WHERE id <> 7; UPDATE item_os SET name = NULL") }
            let beside = try importing(input, size: size) { $0.threads = threads }
            #expect(beside == alone)
            #expect(beside.bytes == Int64(input.count) && beside.inflatedBytes == Int64(plain.count))
            #expect(try content() == expected)
        }
    }

    @Test(arguments: [
        "[1,\"x\",}]", "[\"x\",1,2]]", "[0,\"forbidden\",1]]", "[0,\"x\",1]", "[0,\"\u{1}\",1]]",
        "[0,\"\(String(repeating: "y", count: 300_000))\",1]]",
    ])
    func `an error is the same, and everything is as it was`(wrong: String) throws {
        let before = try content()
        let plain = Self.input(rows: 9000, wrong: wrong)
        for input in [plain, deflated(plain)] {
            for size in [3000, 70_000, 100_000_000] {
                let errors = [ImportThreads.off, .on].map { threads in
                    #expect(throws: StoreError.self) {
                        try importing(input, size: size) {
                            $0.threads = threads
                            $0.maximumRowBytes = .kilobytes(250)
                        }
                    }
                }
                #expect(errors[0]?.message == errors[1]?.message)
                #expect(errors[0]?.code == errors[1]?.code)
                #expect(errors[0]?.byteOffset == errors[1]?.byteOffset)
                #expect(errors[0]?.row == errors[1]?.row)
                #expect(try content() == before)
            }
        }
    }

    @Test func `it is cancelled from the progress closure, and closed at any time`() throws {
        struct Enough: Error {}
        let before = try content()
        let input = Self.input(rows: 9000)
        for limit in [1, 500, 3000, 8000] {
            let error = #expect(throws: StoreError.self) {
                try importing(input, size: 50_000) { options in
                    options.threads = .on
                    options.progress = { if $0.rows > limit { throw Enough() } }
                }
            }
            #expect(error?.cause is Enough)
        }
        for pushed in [1, 100, 65_536, 65_537, 300_000, 400_000] {
            try database.write { connection in
                var options = ImportOptions()
                options.threads = .on
                let importer = try connection.importer(into: "item", columns: ["id", "name", "note"], options: options)
                for start in stride(from: 0, to: pushed, by: 40_000) { try importer.push(Array(input[start..<min(start + 40_000, pushed)])) }
            }
        }
        #expect(try content() == before)
    }

    @Test func `damaged and truncated streams are refused as without it`() throws {
        let before = try content()
        let inputs = [false, true].flatMap { gzip in
            let good = deflated(Self.input(rows: 9000), gzip: gzip)
            var damaged = good
            damaged[good.count / 2] ^= 0x55
            var wrong = good  // in its check sum
            wrong[good.count - (gzip ? 5 : 1)] ^= 1
            var lastData = good  // the check sum is read as text, whose check fails
            lastData[good.count - (gzip ? 9 : 5)] ^= 1
            return [wrong, damaged, lastData, Array(good.dropLast(3)), Array(good.dropLast(20)), good + [1]]
        }
        // The last one needs a dictionary, which is not available.
        for input in inputs + [[0x78, 0xBB, 1, 2, 3, 4, 5, 6]] {
            let errors = [ImportThreads.off, .on].map { threads in
                #expect(throws: StoreError.self) { try importing(input, size: 10_000) { $0.threads = threads } }
            }
            #expect(errors[0]?.code == errors[1]?.code)
            #expect(try content() == before)
        }
    }

    /// Inflating stops when a piece is full. Only the next step shows whether the input ends there as well.
    @Test func `an input may be cut where an inflated piece is full`() throws {
        let text = "[[1,\"one\",null],[2,\"two\",null]" + String(repeating: " ", count: 65_536) + "]"
        let input = deflated(Array(text.utf8))
        for cut in 1..<input.count {
            try database.write { connection in
                _ = try connection.execute("DELETE FROM item WHERE id <> 7")
                var options = ImportOptions()
                options.threads = .off
                let importer = try connection.importer(into: "item", columns: ["id", "name", "note"], options: options)
                try importer.push(Array(input[..<cut]))
                try importer.push(Array(input[cut...]))
                #expect(try importer.finish().inserted == 2)
            }
        }
    }
}
