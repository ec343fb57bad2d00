import Foundation
import MobileObjects
import Testing

@Suite struct LocalDateOfMomentTests {
    @Test(
        "a moment falls on the day that its time zone has then",
        arguments: [
            (0.0, 0, "1970-01-01"), (-1.0, 0, "1969-12-31"), (86_399.0, 0, "1970-01-01"), (86_399.0, 3600, "1970-01-02"),
            (0.0, -3600, "1969-12-31"), (1_779_062_400.0, 0, "2026-05-18"), (1e18, 0, "9999-12-31"), (-1e18, 0, "0000-01-01"),
        ])
    func dayOfMoment(seconds: Double, offset: Int, day: String) throws {
        let zone = try #require(TimeZone(secondsFromGMT: offset))
        #expect(LocalDate(Date(timeIntervalSince1970: seconds), in: zone).description == day)
    }
}
