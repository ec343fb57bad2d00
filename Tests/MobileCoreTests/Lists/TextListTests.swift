import FaultInjection
import Foundation
import MobileCore
import TestSupport
import Testing

/// Texts of the program's memory as the rows of a table.
@Suite struct TextListTests {
    private let core: CorePool
    init() throws { core = try CorePool() }

    /// Runs a query whose first parameter is a list, and returns its rows as texts.
    private static func run(
        _ connection: OpaquePointer, _ sql: String, _ bytes: String, _ places: [(Int, Int)], numbers: [Int64]?, length: Int? = nil
    ) throws -> [[String?]] {
        let places = places.map { mc_text_place(start: $0.0, end: $0.1) }
        return try bytes.withCString { text in
            try places.withUnsafeBufferPointer { places in
                func read(_ numbers: UnsafePointer<Int64>?) throws -> [[String?]] {
                    var list = mc_text_list(
                        count: places.count, bytes: text, length: length ?? bytes.utf8.count, places: places.baseAddress, numbers: numbers)
                    return try withStatement(connection, sql) { (statement) throws in
                        try CoreError.check { mc_text_list_bind(&list, mc_statement_sqlite(statement), 1, $0) }
                        var rows: [[String?]] = [], hasRow = true
                        while true {
                            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                            guard hasRow else { return rows }
                            rows.append(
                                (0..<mc_statement_column_count(statement)).map { column in
                                    var length = 0
                                    guard let bytes = mc_statement_column_text(statement, column, &length) else { return nil }
                                    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
                                })
                        }
                    }
                }
                guard let numbers else { return try read(nil) }
                return try numbers.withUnsafeBufferPointer { try read($0.baseAddress) }
            }
        }
    }

    @Test func `the rows come in the order of the list, with its numbers and texts`() throws {
        let rows = try core.with {
            try Self.run(
                $0, "SELECT rowid, number, text, typeof(text) FROM mc_text_list(?1)", "abcdefü", [(3, 6), (0, 3), (8, 8), (0, 8)],
                numbers: [5, -1, .max, .min])
        }
        #expect(
            rows == [
                ["0", "5", "def", "text"], ["1", "-1", "abc", "text"], ["2", "9223372036854775807", "", "text"],
                ["3", "-9223372036854775808", "abcdefü", "text"],
            ])
        #expect(try core.with { try Self.run($0, "SELECT number, text FROM mc_text_list(?1)", "ab", [(0, 1)], numbers: nil) } == [[nil, "a"]])
        #expect(try core.with { try Self.run($0, "SELECT number FROM mc_text_list(?1)", "", [], numbers: []) }.isEmpty)
    }

    @Test func `a list is read as often as a query needs it`() throws {
        let rows = try core.with {
            try Self.run(
                $0, "SELECT a.text, b.number FROM mc_text_list(?1) AS a, mc_text_list(?1) AS b WHERE a.number >= b.number ORDER BY a.number, b.number DESC",
                "xy", [(0, 1), (1, 2)], numbers: [1, 2])
        }
        #expect(rows == [["x", "1"], ["y", "2"], ["y", "1"]])
    }

    @Test("a place outside of the bytes is an error, and no byte of it is read", arguments: [(2, 1), (0, 4), (4, 4), (3, Int.max)])
    func places(start: Int, end: Int) throws {
        // The bytes of the list are those before the last one.
        let error = #expect(throws: CoreError.self) {
            try core.with { try Self.run($0, "SELECT text FROM mc_text_list(?1)", "abcd", [(0, 3), (start, end)], numbers: [1, 2], length: 3) }
        }
        #expect(error?.message.contains("outside of its bytes") == true)
        let numbers = try core.with { try Self.run($0, "SELECT number FROM mc_text_list(?1)", "abcd", [(start, end)], numbers: [2], length: 3) }
        #expect(numbers == [["2"]])
    }

    @Test(
        "no text of SQL makes a list",
        arguments: [
            ("mc_text_list(1)", "needs a list"), ("mc_text_list(NULL)", "needs a list"), ("mc_text_list(x'00')", "needs a list"),
            ("mc_text_list", "needs a list"), ("mc_text_list()", "needs a list"), ("mc_text_list(1, 2)", "too many arguments"),
            ("v", "unsafe use of virtual table"),
        ])
    func wrongArguments(table: String, message: String) throws {
        let error = #expect(throws: CoreError.self) {
            try core.with(writer: true) { connection in
                try exec(connection, "CREATE VIEW IF NOT EXISTS v AS SELECT * FROM mc_text_list(1)")
                _ = try texts(connection, "SELECT number FROM \(table)")
            }
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "none")")
    }

    @Test("each allocation fails once: the statement reports it, and the next one is right", arguments: [false, true])
    func failingAllocations(stays: Bool) throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.with(writer: true) { connection in
            func read() throws -> [[String?]] {
                try Self.run(connection, "SELECT text || number FROM mc_text_list(?1) ORDER BY text", "xyz", [(2, 3), (0, 2)], numbers: [1, 2])
            }
            let expected = try read()
            #expect(expected == [["xy2"], ["z1"]])
            var failures = 0
            for allocation in 0..<5000 {
                fault_memory_fail_after(Int64(allocation), stays)
                let result = Result { try read() }
                let failed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                switch result {
                case .success(let rows): #expect(rows == expected, "allocation \(allocation)")
                case .failure(let error):
                    #expect((error as? CoreError)?.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error)")
                    failures += 1
                }
                guard failed else { break }
            }
            #expect(failures >= 3)
            #expect(try read() == expected)
        }
    }
}
