import FaultInjection
import Foundation
import MobileCore
import TestSupport
import Testing

/// Decimals of any length in SQL: their order, sums and means.
@Suite struct DecimalTests {
    private let core: CorePool
    init() throws { core = try CorePool() }

    /// Fills a table `d` with texts, in order, and calls `body` with its connection.
    private func with<R>(_ texts: [String?], _ body: (OpaquePointer) throws -> R) throws -> R {
        try core.with(writer: true) { connection in
            try exec(connection, "DROP TABLE IF EXISTS d; CREATE TABLE d(id INTEGER PRIMARY KEY, x TEXT)")
            for text in texts { try exec(connection, "INSERT INTO d(x) VALUES (\(text.map { "'\($0)'" } ?? "NULL"))") }
            return try body(connection)
        }
    }

    private func value(_ item: String, _ texts: [String?]) throws -> String? { try with(texts) { try text($0, "SELECT \(item) FROM d") } }

    @Test(
        "a sum is exact and canonical",
        arguments: [
            (["0.1", "0.2"], "0.3"), (["1.50", "-1.5"], "0"), (["-0.00", "0"], "0"), (["+7", "007.000"], "14"), (["999999999", "1"], "1000000000"),
            (["999999999.999999999", "0.000000001"], "1000000000"), (["-1000000000", "0.000000001"], "-999999999.999999999"),
            (["123456789012345678901234567890.1234567890123456789", "0.0000000000000000001"], "123456789012345678901234567890.123456789012345679"),
            (["-5", "3.25", nil], "-1.75"), (["100"], "100"), (["0.5"], "0.5"), ([nil], nil), ([], nil),
        ] as [([String?], String?)])
    func sum(texts: [String?], sum: String?) throws {
        #expect(try value("mc_decimal_sum(x)", texts) == sum)
        #expect(try value("mc_decimal_total(x)", texts) == sum ?? "0")
    }

    @Test(
        "a mean has 38 digits at most, rounded half to even",
        arguments: [
            (["1", "2"], "1.5"), (["1", "1", "2"], "1.3333333333333333333333333333333333333"),
            (["2", "2", "1"], "1.6666666666666666666666666666666666667"),
            (["-1", "-1", "0"], "-0.66666666666666666666666666666666666667"), (["0", "0", "0"], "0"), (["-3", "3"], "0"), ([nil, "4"], "4"),
            (["29999999999999999999999999999999999999", "29999999999999999999999999999999999998"], "29999999999999999999999999999999999998"),
            (["29999999999999999999999999999999999999", "30000000000000000000000000000000000000"], "30000000000000000000000000000000000000"),
            (["299999999999999999999999999999999999999999999", "0", "0"], "1" + String(repeating: "0", count: 44)),
            (["0.00000000000000000001", "0", "0"], "0.0000000000000000000033333333333333333333333333333333333333"), ([nil], nil),
        ] as [([String?], String?)])
    func average(texts: [String?], mean: String?) throws {
        #expect(try value("mc_decimal_avg(x)", texts) == mean)
    }

    @Test("the collation orders texts as numbers, and what is no number behind them; texts of one number are equal")
    func order() throws {
        let texts = [
            "-100", "-99.5", "-99.49", "-1", "-0.5", "0", "0.05", "0.5", "1", "9", "10", "99.5", "100", "123456789012345678901", "", "-", "1e5", "x",
        ]
        try with(texts.shuffled()) { connection in
            #expect(
                try text(connection, "SELECT group_concat(x, '|') FROM (SELECT x FROM d ORDER BY x COLLATE mc_decimal)")
                    == texts.joined(separator: "|"))
            #expect(try integer(connection, "SELECT count(*) FROM d WHERE x COLLATE mc_decimal < '9.0'") == 9)
            #expect(try integer(connection, "SELECT count(*) FROM d WHERE x COLLATE mc_decimal = '+00.50'") == 1)
            #expect(try text(connection, "SELECT min(x COLLATE mc_decimal) FROM d") == "-100")
            #expect(
                try text(connection, "SELECT max(x COLLATE mc_decimal) FROM d WHERE x GLOB '*[0-9]' AND x NOT GLOB '*e*'") == "123456789012345678901")
            try exec(connection, "CREATE INDEX d_x ON d(x COLLATE mc_decimal); PRAGMA integrity_check")
            #expect(try text(connection, "SELECT x FROM d WHERE x COLLATE mc_decimal > '99.5' ORDER BY x COLLATE mc_decimal LIMIT 1") == "100")
        }
    }

    @Test("what is no decimal is an error of a sum", arguments: ["", "x", "1.", ".5", "1e5", "--1", "1 ", "0x10", "1.5.2"])
    func noDecimals(text: String) throws {
        let error = #expect(throws: CoreError.self) { _ = try value("mc_decimal_sum(x)", ["1", text]) }
        #expect(error?.message.contains("\"\(text)\" is not a decimal") == true)
    }

    /// Returns a decimal of up to 19 digits on both sides of the point, so that small sums are exact in Foundation's 38 digits.
    private func random(_ generator: inout SeededGenerator) -> Decimal {
        let digits = Int.random(in: 0...17, using: &generator), scale = Int.random(in: 0...17, using: &generator)
        let number = (0..<digits).reduce(Decimal(Int.random(in: 0...9, using: &generator))) { number, _ in
            number * 10 + Decimal(Int.random(in: 0...9, using: &generator))
        }
        return Decimal(sign: Bool.random(using: &generator) ? .plus : .minus, exponent: -scale, significand: number)
    }

    @Test("order and sum are those of Foundation's decimals, for random numbers", arguments: 1...40)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let numbers = (0..<Int.random(in: 1...60, using: &generator)).map { _ in random(&generator) }
        try with(numbers.map(\.description)) { connection in
            let ordered = try text(connection, "SELECT group_concat(x, ' ') FROM (SELECT x FROM d ORDER BY x COLLATE mc_decimal, id)")
            let found = ordered?.split(separator: " ").compactMap { Decimal(string: String($0), locale: nil) }
            #expect(found == numbers.sorted())
            #expect(try text(connection, "SELECT mc_decimal_sum(x) FROM d") == numbers.reduce(0, +).description)
            let pivot = numbers[numbers.count / 2]
            #expect(
                try integer(connection, "SELECT count(*) FROM d WHERE x COLLATE mc_decimal <= '\(pivot)'") == Int64(numbers.count { $0 <= pivot }))
            let mean = try #require(try text(connection, "SELECT mc_decimal_avg(x) FROM d").flatMap { Decimal(string: $0, locale: nil) })
            let difference = (mean * Decimal(numbers.count) - numbers.reduce(0, +)).magnitude
            #expect(difference <= Decimal(sign: .plus, exponent: -18, significand: 1))
        }
    }

    @Test("an aggregate lets go of everything when an allocation fails", arguments: [true, false])
    func allocations(stays: Bool) throws {
        let step = TestSetting.number("FAULT_STEP") ?? 7
        let lost = try leftOver { try failAllocations(stays: stays, step: step) }
        #expect(lost == 0)
    }

    private func failAllocations(stays: Bool, step: Int) throws {
        let core = try CorePool { $0.statement_cache = 0 }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE d(x TEXT); CREATE TABLE big(x TEXT)")
            for text in ["1", "-123456789012345678901234567890.5", "0.00000000000000000000001", "99999999999999999999999999999999999999999"] {
                try exec(connection, "INSERT INTO d VALUES ('\(text)')")
            }
            let query =
                "SELECT mc_decimal_sum(x) || mc_decimal_avg(x) || mc_decimal_total(x) || max(x COLLATE mc_decimal) FROM d GROUP BY length(x) > 100"
            let expected = try text(connection, query)
            var failures = 0
            for allocation in stride(from: 0, to: 5000, by: step) {
                fault_memory_fail_after(Int64(allocation), stays)
                let result = Result { try text(connection, query) }
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
            #expect(try text(connection, query) == expected)
        }
    }

    /// Returns the first value of a query as text; nil for NULL.
    private func text(_ connection: OpaquePointer, _ sql: String) throws -> String? {
        try withStatement(connection, sql) { (statement) throws in
            var hasRow = false
            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            var length = 0
            guard hasRow, let bytes = mc_statement_column_text(statement, 0, &length) else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
        }
    }
}
