import FaultInjection
import MobileCore
import TestSupport
import Testing

/// The check of texts, in C and in SQL.
@Suite struct TextCheckTests {
    private func value(_ expression: String) throws -> Int64 {
        try CorePool().with(writer: true) { connection in
            try withStatement(connection, "SELECT \(expression)") { (statement) throws in
                var hasRow = false
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                return mc_statement_column_integer(statement, 0)
            }
        }
    }

    @Test("texts, numbers and NULL are 1; bytes and other texts are errors of the statement, in any place")
    func inSQL() throws {
        #expect(try value("mc_text_check()") == 1)
        #expect(try value("mc_text_check('', 'Säge 𝄞' || char(0), 1, 2.5, NULL)") == 1)
        for (argument, message) in [("x'00'", "bytes where a text is expected"), ("CAST(x'61FF' AS TEXT)", "a text that is not UTF-8")] {
            let error = #expect(throws: CoreError.self) { _ = try value("mc_text_check(1, 'a', \(argument))") }
            #expect(error?.message.contains(message) == true, "\(String(describing: error))")
        }
        let error = #expect(throws: CoreError.self) {
            try CorePool().with(writer: true) { connection in
                try exec(connection, "CREATE VIEW v AS SELECT mc_text_check(1) AS c; SELECT c FROM v")
            }
        }
        #expect(error?.message.contains("unsafe use of mc_text_check") == true)
    }

    /// The standard library decides as well, about the same bytes.
    @Test("it agrees with another decoder about damaged texts at any distance from the ends", arguments: [1, 2, 3] as [UInt64])
    func inC(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["a", "abcdefgh", "ä", "€", "𝄞", "\u{7FF}", "\u{D7FF}", "\u{E000}", "\u{10FFFF}"].map { Array($0.utf8) }
        var rejected = 0
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }
            if !bytes.isEmpty, Bool.random(using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let isText = bytes.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in text.baseAddress.map { mc_text_is_utf8($0, text.count) } ?? mc_text_is_utf8("", 0) }
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(isText == expected, "\(bytes)")
            if !expected { rejected += 1 }
        }
        #expect(rejected > 1000)
    }
}
