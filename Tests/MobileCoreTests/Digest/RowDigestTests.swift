import FaultInjection
import Foundation
import MobileCore
import TestSupport
import Testing

/// Sums of rows in SQL, which show changes.
@Suite struct RowDigestTests {
    private let core: CorePool
    init() throws { core = try CorePool() }

    private static let seed = "x'000102030405060708090a0b0c0d0e0f'"
    private static let otherSeed = "x'000102030405060708090a0b0c0d0e10'"

    /// Returns the result of an expression as text, blobs in hexadecimal.
    private func value(_ expression: String) throws -> String {
        try core.with(writer: true) { try Self.text($0, "SELECT hex(\(expression))") ?? "" }
    }

    private func sums(_ rows: String, _ arguments: String = "column1, column2, column3", seed: String = Self.seed) throws -> String {
        try value("(SELECT mc_row_digest_sums(\(seed), \(arguments)) FROM (\(rows)))")
    }

    private static func text(_ connection: OpaquePointer, _ sql: String) throws -> String? {
        try withStatement(connection, sql) { (statement) throws in
            var hasRow = false
            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            var length = 0
            guard hasRow, let bytes = mc_statement_column_text(statement, 0, &length) else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
        }
    }

    @Test("values that differ in content, length, storage class or column have different hashes")
    func differentValues() throws {
        let lists = [
            "", "NULL", "''", "x''", "0", "0.0", "'0'", "x'30'", "1", "1.0", "'1'", "x'31'", "-1", "NULL, NULL", "'', ''", "'', NULL", "NULL, ''",
            "'ab', 'c'", "'a', 'bc'", "'abc', ''", "'', 'abc'", "'abc'", "'12345678'", "'123456789'", "'12345678', ''", "'1234567' || char(0)",
            "'1234567'", "x'3132333435363738'", "4611686018427387904", "2.0", "zeroblob(7)", "zeroblob(8)", "zeroblob(16)", "1, 2", "2, 1",
        ]
        let hashes = try lists.map { try value("mc_row_digest_hash(\(Self.seed)\($0.isEmpty ? "" : ", " + $0))") }
        #expect(Set(hashes).count == lists.count)
        // The bits of the double 2.0 are those of this integer.
        #expect(try value("mc_row_digest_hash(\(Self.seed), 1)") == hashes[8])
        #expect(try value("mc_row_digest_hash(\(Self.otherSeed), 1)") != hashes[8])
    }

    @Test("sums do not depend on the order of rows, and show each change", arguments: ["1", "'k'", "1.5", "x'01'"])
    func changes(key: String) throws {
        let first = try sums("VALUES (\(key), 'a', 1), (7000, 'b', 2), ('x', NULL, 3)")
        #expect(first.utf8.count == 2 * Int(MC_ROW_DIGEST_SUMS_SIZE) && first.hasPrefix("0300000000000000"))
        #expect(try sums("VALUES ('x', NULL, 3), (7000, 'b', 2), (\(key), 'a', 1)") == first)
        let others = [
            "VALUES (\(key), 'b', 1), (7000, 'a', 2), ('x', NULL, 3)",  // two rows swap a value
            "VALUES (\(key), 'b', 2), (7000, 'a', 1), ('x', NULL, 3)",  // two rows swap all values
            "VALUES (\(key), 'a', 1), (7000, 'b', 2), ('x', '', 3)", "VALUES (\(key), 'a', 1.0), (7000, 'b', 2), ('x', NULL, 3)",
            "VALUES (\(key), 'a', 1), (7000, 'b', 2)", "VALUES (\(key), 'a', 1), (\(key), 'a', 1), (7000, 'b', 2), ('x', NULL, 3)",
            "VALUES (\(key), 'a', 1), (7001, 'b', 2), ('x', NULL, 3)",
        ]
        let found = try others.map { try sums($0) }
        #expect(Set(found + [first]).count == others.count + 1)
        // The sums of the keys differ where keys do.
        func keys(_ sums: String) -> Substring { sums.suffix(16 * Int(MC_ROW_DIGEST_BUCKETS)) }
        #expect(found.map { keys($0) == keys(first) } == [true, true, true, true, false, false, false])
        #expect(try sums("SELECT 1 AS column1, 2 AS column2, 3 AS column3 LIMIT 0") == String(repeating: "0", count: first.utf8.count))
        #expect(try sums("VALUES (1, 2, 3)", seed: Self.otherSeed) != sums("VALUES (1, 2, 3)"))
    }

    @Test("a row is counted in the bucket of its key, which the program finds as well; neighbours share one")
    func buckets() throws {
        let seed = (0..<16).map { UInt8($0) }
        func bucket(_ key: mc_value) -> Int { withUnsafePointer(to: key) { Int(mc_row_digest_bucket(seed, $0)) } }
        var keys: [(sql: String, bucket: Int)] = [-65, -64, -1, 0, 63, 64, 196_607, 196_608, Int64.max, Int64.min].map { number in
            var value = mc_value()
            (value.kind, value.value.integer) = (UInt8(MC_VALUE_INTEGER.rawValue), number)
            return (number == .min ? "-9223372036854775807 - 1" : "\(number)", bucket(value))
        }
        #expect(keys[3].bucket == 0 && keys[4].bucket == 0 && keys[5].bucket == 1 && keys[6].bucket == 3071 && keys[7].bucket == 0)
        #expect(keys[1].bucket == keys[2].bucket && keys[0].bucket != keys[1].bucket)
        for text in ["", "[1,2]", "a longer key with Ünicode"] {
            text.withCString { bytes in
                for kind in [MC_VALUE_TEXT, MC_VALUE_BLOB] {
                    var value = mc_value()
                    (value.kind, value.length, value.value.bytes) = (UInt8(kind.rawValue), UInt32(text.utf8.count), bytes)
                    keys.append((kind == MC_VALUE_TEXT ? "'\(text)'" : "CAST('\(text)' AS BLOB)", bucket(value)))
                }
            }
        }
        for key in keys {
            let place = 8 + 8 * key.bucket
            let row = try value("substr((SELECT mc_row_digest_sums(\(Self.seed), \(key.sql))), \(place + 1), 8)")
            #expect(row != "0000000000000000", "\(key)")
            let bit = (0..<384).map { $0 == key.bucket / 8 ? String(format: "%02x", 1 << (key.bucket % 8)) : "00" }.joined()
            #expect(try value("mc_row_digest_has(\(Self.seed), x'\(bit)', \(key.sql))") == "31", "\(key)")
            #expect(try value("mc_row_digest_has(\(Self.seed), zeroblob(384), \(key.sql))") == "30")
        }
    }

    @Test(
        "wrong arguments are errors of the statement, and so are calls from a view",
        arguments: [
            ("mc_row_digest_sums()", "needs a seed and a key"), ("mc_row_digest_sums(x'00')", "needs a seed and a key"),
            ("mc_row_digest_sums(x'00', 1)", "not a blob of 16 bytes"), ("mc_row_digest_sums(NULL, 1)", "not a blob of 16 bytes"),
            ("mc_row_digest_hash()", "needs a seed"), ("mc_row_digest_hash('0123456789abcdef')", "not a blob of 16 bytes"),
            ("mc_row_digest_has(zeroblob(16), zeroblob(383), 1)", "not a blob of 384 bytes"),
            ("mc_row_digest_has(zeroblob(16), NULL, 1)", "not a blob of 384 bytes"), ("mc_row_digest_has(1, 2)", "wrong number"),
            ("h FROM v", "unsafe use of mc_row_digest_hash"),
        ])
    func wrongArguments(expression: String, message: String) throws {
        func run() throws {
            try core.with(writer: true) { connection in
                try exec(connection, "CREATE VIEW IF NOT EXISTS v AS SELECT mc_row_digest_hash(zeroblob(16)) AS h")
                _ = try Self.text(connection, "SELECT \(expression)")
            }
        }
        let error = #expect(throws: CoreError.self) { try run() }
        #expect(error?.message.contains(message) == true)
    }

    @Test func `sums that a program adds up need memory`() throws {
        fault_memory_fail_after(0, false)
        var out: OpaquePointer? = OpaquePointer(bitPattern: 16)
        let status = mc_row_digest_pass_create((0..<16).map { UInt8($0) }, &out, nil)
        fault_memory_fail_after(-1, false)
        #expect(status == MC_ERROR_NO_MEMORY && out == nil)
    }

    @Test("each allocation fails once: the statement reports it, and the next one is right", arguments: [false, true])
    func failingAllocations(stays: Bool) throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE d(x TEXT); INSERT INTO d VALUES ('eins'), ('zwei'), (NULL)")
            let query =
                "SELECT mc_row_digest_hash(\(Self.seed), mc_row_digest_sums(\(Self.seed), x, zeroblob(9), mc_row_digest_hash(\(Self.seed), x))) || '' FROM d"
            let expected = try Self.text(connection, query)
            var failures = 0
            for allocation in 0..<5000 {
                fault_memory_fail_after(Int64(allocation), stays)
                let result = Result { try Self.text(connection, query) }
                let failed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                switch result {
                case .success(let value): #expect(value == expected, "allocation \(allocation)")
                case .failure(let error):
                    #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
                    failures += 1
                }
                guard failed else { break }
            }
            #expect(failures >= 3)
            #expect(try Self.text(connection, query) == expected)
        }
    }
}
