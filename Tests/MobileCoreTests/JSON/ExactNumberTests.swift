import Foundation
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Stored values as numbers, in SQL: exactly or not at all.
@Suite struct ExactNumberTests {
    private let core: CorePool
    init() throws { core = try CorePool() }

    private func value(_ expression: String) throws -> String? {
        try core.with { try texts($0, "SELECT quote(x) FROM (SELECT \(expression) AS x)").first }
    }

    @Test(
        "an integer and a real are made of a whole number alone",
        arguments: [
            ("integer('5')", "5"), ("integer(' 007 ')", "7"), ("integer('1e3')", "1000"), ("integer(3.0)", "3"), ("integer(-7)", "-7"),
            ("integer(NULL)", "NULL"), ("integer('abc')", "'abc'"), ("integer('1,5')", "'1,5'"), ("integer('')", "''"), ("integer(1.5)", "1.5"),
            ("integer(1e19)", "1.0e+19"), ("integer('12345678901234567.5')", "1.23456789012345680004e+16"),
            ("integer('1.00000000000000000001')", "1.0"), ("integer('2e-2100')", "0.0"), ("integer('0e-2100')", "0"),
            ("integer('9223372036854775807.0')", "9223372036854775807"),
            ("integer('-9223372036854775808')", "-9223372036854775808"), ("integer('9223372036854775808')", "9.2233720368547758078e+18"),
            ("integer(x'35')", "X'35'"), ("real('1.5')", "1.5"), ("real(3)", "3.0"), ("real(2.5)", "2.5"), ("real('n/a')", "'n/a'"),
            ("real(x'')", "X''"),
            ("real(NULL)", "NULL"),
        ])
    func numbers(call: String, result: String) throws { #expect(try value("mc_exact_\(call)") == result) }

    @Test(
        "a plain integer is made of a text in the notation of SQLite alone",
        arguments: [
            ("'0'", "0"), ("'5'", "5"), ("'-5'", "-5"), ("'100'", "100"), ("'9223372036854775807'", "9223372036854775807"),
            ("'-9223372036854775808'", "-9223372036854775808"), ("'9223372036854775808'", nil), ("'-9223372036854775809'", nil),
            ("'9999999999999999999'", nil), ("'18446744073709551616'", nil), ("'00'", nil), ("'007'", nil), ("'-0'", nil), ("'-01'", nil),
            ("'+5'", nil),
            ("' 5'", nil), ("'5 '", nil), ("'1.0'", nil), ("'1e3'", nil), ("'0x10'", nil), ("'--5'", nil), ("'5-'", nil), ("'-'", nil), ("''", nil),
            ("'\"5\"'", nil), ("'[1,2]'", nil), ("'٣'", nil), ("3.0", nil), ("x'35'", nil), ("NULL", nil), ("7", "7"),
        ] as [(String, String?)])
    func plainIntegers(argument: String, result: String?) throws { #expect(try value("mc_plain_integer(\(argument))") == result ?? value(argument)) }

    @Test("no two texts become one value, and each can be made a text again", arguments: [UInt64(1), 2, 3])
    func plainTexts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed), numbers = 0, others = 0
        let letters = Array("0123456789012345678901234567890123456789-+. e\u{0}")
        for _ in 0..<3000 {
            let count = Int.random(in: 0...21, using: &random), isNumber = Bool.random(using: &random)
            let text =
                isNumber
                ? "\(Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random))"
                : String((0..<count).map { _ in letters.randomElement(using: &random)! })
            let hexadecimal = text.utf8.map { String(format: "%02X", $0) }.joined()
            let literal = "CAST(x'\(hexadecimal)' AS TEXT)"
            let type = try value("typeof(mc_plain_integer(\(literal)))"), again = try value("hex(CAST(mc_plain_integer(\(literal)) AS TEXT))")
            #expect(again == "'\(hexadecimal)'", "\(text)")
            let isInteger = Int64(text).map { "\($0)" == text } == true
            #expect(type == (isInteger ? "'integer'" : "'text'"), "\(text)")
            if isInteger { numbers += 1 } else { others += 1 }
        }
        #expect(numbers > 1000 && others > 500)
    }

    @Test(
        "a decimal keeps its digits, and is refused where it has too many",
        arguments: [
            ("12.345, 3, 2", "12.345"), ("1.005, 3, 2", "1.005"), ("12.34, 3, 2", "1234"), ("999.995, 3, 2", "999.995"), ("123456, 3, 2", "123456.0"),
            ("-999, 3, 2", "-99900"), ("'-12.345', 3, 2", "-12.345"), ("'-12.3400', 3, 2", "-1234"), ("'+.5', 3, 2", "50"), ("'5.', 3, 2", "500"),
            ("' 1e2 ', 3, 2", "10000"),
            ("0.004, 3, 2", "0.004"), ("0.005, 3, 2", "0.005"), ("0.1 + 0.2, 10, 4", "3000"), ("-(0.1 + 0.2), 10, 1", "-3"), ("'0.999', 0, 3", "999"),
            ("0.1 + 0.2, 3, 16", "'0.3'"),
            ("NULL, 3, 2", "NULL"),
            ("123456789012345678, 18, 0", "123456789012345678"), ("'1e-99999999999', 3, 2", "0.0"), ("9e999, 3, 2", "Inf"),
            ("1e300, 3, 2", "1.0e+300"),
            ("'1,5', 3, 2", "'1,5'"), ("'', 3, 2", "''"), ("'.', 3, 2", "'.'"), ("'1e', 3, 2", "'1e'"), ("'1e+x', 3, 2", "'1e+x'"),
            ("x'31', 3, 2", "X'31'"),
            ("123456789012345.67, 20, 10", "'123456789012345.67'"),
            ("'12345678901234567890.0123456789', 20, 10", "'12345678901234567890.0123456789'"), ("'-0.000', 20, 10", "'0'"),
            ("6e-11, 20, 10", "6.0e-11"),
            ("1e19, 20, 10", "'10000000000000000000'"), ("1e30, 20, 10", "1.0e+30"), ("'9.999', 20, 2", "9.999"), ("'-0.05', 20, 3", "'-0.05'"),
            ("'0.05', 38, 38", "'0.05'"),
            // Two numbers of 16 digits have the same double; its shortest text is this one.
            ("-8589935247.359867, 10, 6", "-8589935247359867"), ("8589935247.359867, 12, 6", "8589935247359867"),
            ("999999999.999999, 9, 6", "999999999999999"),
        ])
    func decimals(arguments: String, result: String) throws { #expect(try value("mc_exact_decimal(\(arguments))") == result) }

    @Test func `a text of more bytes than any number of an application is none`() throws {
        let text = "1" + String(repeating: "0", count: 400)
        #expect(try value("mc_exact_decimal('\(text)', 1000, 0)") == "'\(text)'")
    }

    @Test(arguments: ["-1, 0", "0, -1", "1001, 0", "0, 1001"]) func `digits out of range are an error`(digits: String) throws {
        #expect(throws: (any Error).self) { try value("mc_exact_decimal(1, \(digits))") }
    }

    @Test("a real is the decimal of its shortest text, or of its first 15 digits where this one has too many", arguments: [UInt64(1), 2, 3])
    func reals(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            // 14 to 17 digits: about as many as a double keeps.
            let scale = Int.random(in: 0...15, using: &random), magnitude = pow(10, Double.random(in: 14...17, using: &random) - Double(scale))
            let real = Double.random(in: -magnitude...magnitude, using: &random), text = "\(real)"
            let found = try value("mc_exact_decimal(\(real), \(18 - scale), \(scale))")
            guard Self.exact(text, 18 - scale, scale) == nil else {
                #expect(try found == value("mc_exact_decimal('\(text)', \(18 - scale), \(scale))"), "\(text), \(scale)")
                continue
            }
            // Refused, or rounded to 15 digits.
            guard let scaled = found.flatMap({ Int64($0) }) else { continue }
            #expect(abs(Double(scaled) / pow(10, Double(scale)) - real) <= abs(real) * 5e-15, "\(text), \(scale): \(scaled)")
        }
    }

    /// Returns the decimal of at most `whole` and `scale` digits, by Foundation; nil if it has more.
    private static func exact(_ text: String, _ whole: Int, _ scale: Int) -> Decimal? {
        guard var exact = Decimal(string: text, locale: nil) else { return nil }
        var rounded = Decimal(), bound = Decimal(1)
        NSDecimalRound(&rounded, &exact, scale, .plain)
        for _ in 0..<whole { bound *= 10 }
        return abs(rounded) < bound && rounded == exact ? rounded : nil
    }

    @Test("random numbers are what another implementation of decimals makes of them", arguments: [UInt64(1), 2, 3])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var refused = 0, scaled = 0, texts = 0
        for _ in 0..<3000 {
            let digits = (0..<Int.random(in: 1...20, using: &random)).map { _ in "\(Int.random(in: 0...9, using: &random) % 10)" }.joined()
            let nines = Bool.random(using: &random) ? digits : String(repeating: "9", count: digits.count)
            let point = Int.random(in: 0...nines.count, using: &random)
            let exponent = Int.random(in: 0...3, using: &random) == 0 ? "e\(Int.random(in: -12...12, using: &random))" : ""
            let sign = ["", "-", "+"].randomElement(using: &random)!
            let text = sign + nines.prefix(point) + "." + nines.dropFirst(point) + exponent
            let whole = Int.random(in: 0...15, using: &random), scale = Int.random(in: 0...12, using: &random)
            let found = try core.with { connection in
                try withStatement(connection, "SELECT typeof(x), CAST(x AS TEXT) FROM (SELECT mc_exact_decimal('\(text)', \(whole), \(scale)) AS x)")
                { statement in
                    var hasRow = false
                    try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                    return (
                        String(cString: sqlite3_column_text(mc_statement_sqlite(statement), 0)),
                        String(cString: sqlite3_column_text(mc_statement_sqlite(statement), 1))
                    )
                }
            }
            guard let expected = Self.exact(text, whole, scale) else {
                refused += 1
                #expect(found.0 == "real", "\(text), \(whole), \(scale): \(found)")
                continue
            }
            if whole + scale <= 18 {
                scaled += 1
                #expect(
                    found.0 == "integer" && Decimal(string: found.1)! == expected * pow(Decimal(10), scale), "\(text), \(whole), \(scale): \(found)")
            } else {
                texts += 1
                #expect(found == ("text", expected.description), "\(text), \(whole), \(scale): \(found)")
            }
        }
        #expect(refused > 100 && scaled > 100 && texts > 100)
    }
}
