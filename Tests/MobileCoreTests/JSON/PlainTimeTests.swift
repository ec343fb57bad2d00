import MobileCore
import TestSupport
import Testing

/// Texts that are plainly times, in SQL.
@Suite struct PlainTimeTests {
    private let core: CorePool
    init() throws { core = try CorePool() }

    private func value(_ expression: String) throws -> String? {
        try core.with { try texts($0, "SELECT quote(x) FROM (SELECT \(expression) AS x)").first }
    }

    @Test(
        "a plain time is read in each form",
        arguments: [
            ("2026-03-31", "2026-03-31", "00:00:00", "2026-03-31T00:00:00.000Z"),
            ("2026-03-31 23:59", "2026-03-31", "23:59:00", "2026-03-31T23:59:00.000Z"),
            ("2026-03-31T23:59:58", "2026-03-31", "23:59:58", "2026-03-31T23:59:58.000Z"),
            ("2026-03-31 23:59:58.9Z", "2026-03-31", "23:59:58", "2026-03-31T23:59:58.900Z"),
            ("0000-01-01T00:00:00.12", "0000-01-01", "00:00:00", "0000-01-01T00:00:00.120Z"),
            ("9999-12-31T23:59:59.999Z", "9999-12-31", "23:59:59", "9999-12-31T23:59:59.999Z"),
            ("2024-02-29T10:00Z", "2024-02-29", "10:00:00", "2024-02-29T10:00:00.000Z"), ("2000-02-29", "2000-02-29", "00:00:00", "2000-02-29T00:00:00.000Z"),
        ])
    func plain(text: String, date: String, time: String, dateTime: String) throws {
        for (form, result) in [date, time, dateTime].enumerated() { #expect(try value("mc_plain_time('\(text)', \(form + 1))") == "'\(result)'") }
    }

    @Test(
        "all other values are left to strftime",
        arguments: [
            "NULL", "1", "1.5", "x'323032362d30332d3331'", "''", "'now'", "'2026-3-31'", "'2026-02-29'", "'1900-02-29'", "'2026-04-31'", "'2026-00-10'",
            "'2026-13-10'", "'2026-01-00'", "'2026-01-32'", "'2026/01/01'", "'2026-01-01T'", "'2026-01-01T1'", "'2026-01-01T10'", "'2026-01-01T10:'",
            "'2026-01-01T10:0'", "'2026-01-01T24:00'", "'2026-01-01T10:60'", "'2026-01-01T10:00:'", "'2026-01-01T10:00:0'", "'2026-01-01T10:00:60'",
            "'2026-01-01T10:00:00.'", "'2026-01-01T10:00:00.1234'", "'2026-01-01T10:00:00+02:00'", "'2026-01-01T10:00:00z'", "'2026-01-01T10:00:00ZZ'",
            "'2026-01-01  10:00'", "' 2026-01-01'", "'2026-01-01 '", "'2026-01-01Z'", "'-026-01-01'", "'12026-01-01'", "'2026-01-01' || char(0)", "'10:00Z '",
        ])
    func other(value: String) throws { for form in 1...3 { #expect(try self.value("mc_plain_time(\(value), \(form))") == "NULL") } }

    @Test(arguments: ["10:30", "10:30:59", "10:30:59.999", "10:30Z"]) func `a time without a date is a time of day alone`(text: String) throws {
        #expect(try value("mc_plain_time('\(text)', 2)") == value("strftime('%H:%M:%S', '\(text)')"))
        for form in [1, 3] { #expect(try value("mc_plain_time('\(text)', \(form))") == "NULL") }
    }

    @Test("what is read is what strftime makes of it", arguments: [UInt64(1), 2, 3])
    func equalResults(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed), found = 0
        let formats = ["%Y-%m-%d", "%H:%M:%S", "%Y-%m-%dT%H:%M:%fZ"], signs = Array("0123456789-: .TZ+")
        try core.with { connection in
            for _ in 0..<3000 {
                func number(_ range: ClosedRange<Int>, _ digits: Int) -> String {
                    let text = String(Int.random(in: range, using: &random))
                    return String(repeating: "0", count: max(0, digits - text.count)) + text
                }
                var text = "\(number(0...9999, 4))-\(number(0...13, 2))-\(number(0...32, 2))"
                if Bool.random(using: &random) { text += (Bool.random(using: &random) ? "T" : " ") + "\(number(0...24, 2)):\(number(0...60, 2))" }
                if text.count > 10, Bool.random(using: &random) { text += ":\(number(0...60, 2))" }
                if text.count > 16, Bool.random(using: &random) { text += "." + number(0...9999, 1) }
                if Int.random(in: 0..<4, using: &random) == 0, let sign = signs.randomElement(using: &random) {
                    let place = text.index(text.startIndex, offsetBy: Int.random(in: 0..<text.count, using: &random))
                    text.replaceSubrange(place...place, with: String(sign))
                }
                for (form, format) in formats.enumerated() {
                    let results = try texts(
                        connection, "SELECT quote(mc_plain_time('\(text)', \(form + 1))) UNION ALL SELECT quote(strftime('\(format)', '\(text)'))")
                    guard results[0] != "NULL" else { continue }
                    found += 1
                    #expect(results[0] == results[1], "\(text) in form \(form + 1)")
                }
            }
        }
        #expect(found > 3000)
    }

    @Test(arguments: ["0", "4", "-1", "NULL", "'date'"]) func `another form is an error`(form: String) throws {
        #expect(throws: (any Error).self) { try value("mc_plain_time('2026-01-01', \(form))") }
    }
}
