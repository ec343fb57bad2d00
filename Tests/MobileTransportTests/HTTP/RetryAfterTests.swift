import MobileTransport
import Testing

/// RFC 9110, 10.2.3 and 5.6.7: seconds, and the three forms of dates.
@Suite struct RetryAfterTests {
    /// 784111777 is 1994-11-06 08:49:37 UTC, the date of the document's examples.
    static let now: Int64 = 784_111_777 - 90

    @Test(
        "seconds and dates are understood",
        arguments: [
            ("7", 7), ("007", 7), ("Sun, 06 Nov 1994 08:49:37 GMT", 90), ("Sun Nov  6 08:49:37 1994", 90),
            ("99999999999999999999999", 366 * 86_400), ("Fri, 31 Dec 9999 23:59:59 GMT", 366 * 86_400),
        ])
    func understood(value: String, seconds: Int64) {
        #expect(RetryAfter.delay(in: [("Retry-After", value)], now: Self.now) == .seconds(seconds))
    }

    @Test("leap days are counted", arguments: [("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200)])
    func leapDays(value: String, seconds: Int64) {
        #expect(RetryAfter.delay(in: [("retry-after", value)], now: seconds - 5) == .seconds(5))
    }

    @Test("a date of the form with two digits of a year is of this century")
    func twoDigits() {
        #expect(RetryAfter.delay(in: [("Retry-After", "Thursday, 29-Feb-24 00:00:00 GMT")], now: 1_709_164_799) == .seconds(1))
    }

    @Test("the server's own clock counts where it is told")
    func ownClock() {
        let headers = [("Date", "Sun, 06 Nov 1994 08:49:07 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")]
        #expect(RetryAfter.delay(in: headers, now: 0) == .seconds(30))
    }

    @Test(
        "what makes no sense, or is over, is no order",
        arguments: [
            "", "0", "-5", "+5", "5.5", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sat, 05 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov -1 08:49:37 GMT", String(repeating: "Sun ", count: 100),
        ])
    func nonsense(value: String) {
        #expect(RetryAfter.delay(in: [("Retry-After", value)], now: Self.now) == nil)
        #expect(RetryAfter.delay(in: [], now: Self.now) == nil)
    }
}
