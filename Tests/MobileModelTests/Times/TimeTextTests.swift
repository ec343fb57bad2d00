import MobileModel
import Testing

@Suite struct TimeTextTests {
    @Test(
        "a day is counted by the Gregorian calendar, also before its time",
        arguments: [
            ("0000-01-01", -719_528), ("0000-02-29", -719_469), ("0001-01-01", -719_162), ("1500-03-01", -171_605), ("1582-10-04", -141_438),
            ("1969-12-31", -1), ("1970-01-01", 0), ("2000-02-29", 11_016), ("9999-12-31", 2_932_896),
        ])
    func days(text: String, days: Int) {
        #expect(TimeText.day(text)?.daysSince1970 == days)
        let day = CivilDay(daysSince1970: days)
        #expect([day.year, day.month, day.day] == text.split(separator: "-").compactMap { Int($0) })
    }

    @Test(
        "a moment counts milliseconds",
        arguments: [
            ("0001-01-01T00:00:00.000Z", -62_135_596_800_000), ("1969-12-31T23:59:59.999Z", -1), ("1970-01-02T00:00:01.250Z", 86_401_250),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] as [(String, Int64)])
    func moments(text: String, milliseconds: Int64) { #expect(TimeText.milliseconds(text) == milliseconds) }

    @Test(
        "no other text is a date",
        arguments: [
            "", "2025-1-01", "2025-02-29", "1900-02-29", "2025-00-10", "2025-13-10", "2025-04-31", "2025-12-00", "2025-12-010", "+025-12-01",
            "2025/12/01", "2025-12-0١",
        ])
    func noDates(text: String) { #expect(!TimeText.isDate(text)) }

    @Test("no other text is a time or a moment")
    func noTimes() {
        for text in ["", "24:00:00", "23:60:00", "23:59:60", "1:00:00", "10:00", "10-00-00", "10:00:00.0"] {
            #expect(!TimeText.isTime(text), "\(text)")
        }
        for text in ["2025-12-31", "2025-12-31 10:00:00.000Z", "2025-12-31T10:00:00Z", "2025-02-30T10:00:00.000Z", "2025-12-31T24:00:00.000Z"] {
            #expect(!TimeText.isDateTime(text), "\(text)")
        }
    }
}
