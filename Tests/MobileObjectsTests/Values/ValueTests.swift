import Foundation
import MobileModel
import MobileStore
import TestSupport
import Testing

@testable import MobileObjects

/// Values in their three forms: in Swift, in the database, on the wire.
@Suite struct ValueTests {
    @Test(
        "DTT-05: every type goes to the database and back unchanged",
        arguments: [
            (AttributeType.byte, AttributeValue.integer(-128), Value.integer(-128)), (.short, 32_767, 32_767), (.int, -2_147_483_648, -2_147_483_648),
            (.long, .integer(.max), .integer(.max)), (.integer, .integer(.min), .integer(.min)), (.boolean, true, 1), (.boolean, false, 0),
            (.decimal, .decimal(Decimal(string: "-12.34")!), -1234), (.decimal, .decimal(0), 0),
            (.decimal, .decimal(Decimal(string: "9999999999999999.99")!), .integer(999_999_999_999_999_999)), (.double, 0.1, 0.1), (.float, 1.5, 1.5),
            (.string, "Müller 🍵", "Müller 🍵"), (.char, "x", "x"), (.binary, .binary([0, 255]), .blob([0, 255])),
            (.date, .date(LocalDate(year: 2026, month: 11, day: 21)!), "2026-11-21"), (.time, .time(LocalTime(hour: 7, minute: 5)!), "07:05:00"),
            (.dateTime, .dateTime(Date(timeIntervalSince1970: 0.25)), "1970-01-01T00:00:00.250Z"), (.list(.int), .json("[1,2]"), "[1,2]"),
            (.string, .null, .null),
        ])
    func roundTrip(type: AttributeType, value: AttributeValue, stored: Value) {
        let storage = Storage(type)
        #expect(storage.stored(value) == stored)
        #expect(storage.attributeValue(stored) == value)
    }

    @Test(
        "values that do not fit are refused, never cut",
        arguments: [
            (AttributeType.byte, AttributeValue.integer(128)), (.short, 32_768), (.int, 2_147_483_648), (.boolean, 1), (.string, 1), (.long, "1"),
            (.decimal, .decimal(Decimal(string: "0.001")!)), (.decimal, .decimal(Decimal(string: "10000000000000000")!)), (.decimal, .decimal(.nan)),
            (.double, .real(.infinity)), (.double, .real(.nan)), (.date, "2026-11-21"), (.binary, "AAA="),
        ])
    func refused(type: AttributeType, value: AttributeValue) {
        #expect(Storage(type).stored(value) == nil)
    }

    @Test(
        "a decimal literal, which Swift makes from a double, is stored as the value that it was written as",
        arguments: [
            (4999.99, 8, 2, "4999.99"), (-4999.99, 8, 2, "-4999.99"), (0.07, 8, 2, "0.07"), (7.5975787205, 18, 10, "7.5975787205"),
            (99_999_999_999.99, 18, 2, "99999999999.99"), (1234.5678, 30, 4, "1234.5678"), (0.1 + 0.2, 18, 2, "0.3"),
        ] as [(Decimal, Int, Int, String)])
    func literals(value: Decimal, precision: Int, scale: Int, text: String) throws {
        let storage = Storage(.decimal, precision: precision, scale: scale)
        #expect(try storage.stored(.decimal(value)) == storage.stored(.decimal(#require(Decimal(string: text)))))
        #expect(storage.stored(.decimal(value)) != nil)
    }

    @Test(
        "every number of up to 12 digits is the one that its literal says, and its neighbour is not",
        arguments: 0...12)
    func randomLiterals(scale: Int) throws {
        var random = SeededGenerator(seed: UInt64(scale))
        for _ in 0..<2000 {
            let scaled = Int64.random(in: 1..<1_000_000_000_000, using: &random), text = DecimalText.text(scaled, scale: scale)
            #expect(try DecimalText.meant(Decimal(#require(Double(text))), scale: scale) == Decimal(string: text), "\(text)")
            let neighbour = try #require(Decimal(string: text + (scale == 0 ? ".02" : "02")))
            #expect(DecimalText.meant(neighbour, scale: scale) == neighbour, "\(neighbour)")
        }
    }

    @Test(
        "decimals with digits of their own beyond the scale stay as they are",
        arguments: ["4999.989999", "0.001", "4999.9900001", "1234567890123456.789", "1234567890123456.7800000000000001", "0.00000000000000001"])
    func noLiterals(text: String) throws {
        let value = try #require(Decimal(string: text))
        #expect(DecimalText.meant(value, scale: 2) == value)
    }

    @Test(
        "decimals on the wire are numbers in decimal notation",
        arguments: [
            (Int64(1234), 2, "12.34"), (-5, 2, "-0.05"), (0, 2, "0.00"), (100, 2, "1.00"), (7, 0, "7"), (.max, 18, "9.223372036854775807"),
            (.min, 2, "-92233720368547758.08"),
        ])
    func decimalText(scaled: Int64, scale: Int, text: String) {
        #expect(DecimalText.text(scaled, scale: scale) == text)
        #expect(DecimalText.decimal(scaled, scale: scale) == Decimal(string: text))
    }

    @Test("a decimal of more than 18 digits is canonical text")
    func largeDecimal() throws {
        let storage = Storage(.decimal, precision: 30, scale: 10)
        let value = try #require(Decimal(string: "12345678901234567890.5000"))
        #expect(storage.stored(.decimal(value)) == "12345678901234567890.5")
        #expect(storage.attributeValue(Value.text("12345678901234567890.5")) == .decimal(value))
        #expect(storage.json(.text("12345678901234567890.5")).description == "12345678901234567890.5")
    }

    @Test("random decimals come back from their scaled form and from their text")
    func randomDecimals() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let scale = Int.random(in: 0...18, using: &random)
            let scaled = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
            let decimal = DecimalText.decimal(scaled, scale: scale)
            #expect(DecimalText.scaled(decimal, precision: 18, scale: scale) == scaled)
            #expect(Decimal(string: DecimalText.text(scaled, scale: scale)) == decimal)
        }
    }

    @Test("DTT-01 DTT-04: dates count days through leap years, in both directions")
    func dates() throws {
        for (text, days) in [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("0000-03-01", -719_468), ("9999-12-31", 2_932_896)] {
            let date = try #require(LocalDate(text))
            #expect(date.daysSince1970 == days && LocalDate(daysSince1970: days) == date && date.description == text)
        }
        for days in stride(from: -719_528, through: 2_932_896, by: 97) { #expect(LocalDate(daysSince1970: days).daysSince1970 == days) }
    }

    @Test(
        "text that is no date, time or dateTime is refused",
        arguments: [
            "", "2026-02-30", "2026-13-01", "2026-1-1", "2026-11-21 ", "24:00:00", "7:05:09", "07:60:00", "2026-11-21T", "2026-11-21T07:05",
            "2026-11-21T07:05:09.Z", "2026-11-21T07:05:09+01:00",
        ])
    func badTexts(text: String) {
        #expect(LocalDate(text) == nil && LocalTime(text) == nil && ISO8601Text.dateTime(text) == nil)
    }

    @Test("dateTime keeps milliseconds, and its text order is time order")
    func dateTimes() throws {
        var last = ""
        for milliseconds in stride(from: Int64(-62_000_000_000_000), to: 250_000_000_000_000, by: 1_234_567_890_123) {
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let text = ISO8601Text.text(date)
            #expect(text > last)
            #expect(ISO8601Text.text(try #require(ISO8601Text.dateTime(text))) == text)
            last = text
        }
        #expect(ISO8601Text.dateTime("2026-11-21T17:05:09.2509Z") == Date(timeIntervalSince1970: 1_795_280_709.25))
    }

    @Test("submitted values come back bit for bit")
    func submittedValues() throws {
        let values: [Value] = [.null, .integer(.min), .real(0.1), .real(-0.0), .text("\"ü\n"), .text(""), .blob([1, 0, 2]), .blob([])]
        let back = try SubmittedValues.values(SubmittedValues.text(values))
        #expect(back == values)
        #expect(back[3].real?.sign == .minus)
        #expect(#expect(throws: ObjectError.self) { _ = try SubmittedValues.values("[\"q1\"]") }?.code == .corrupt)
    }

    @Test("the marks of changed attributes hold any number of them")
    func dirtyAttributes() {
        var dirty = PositionSet()
        for index in [0, 63, 64, 200] { dirty.insert(index) }
        #expect([0, 63, 64, 200].allSatisfy(dirty.contains) && !dirty.contains(1) && !dirty.contains(65) && !dirty.isEmpty)
        dirty.removeAll()
        #expect(dirty.isEmpty && !dirty.contains(64))
    }
}
