import Foundation
import Testing

@testable import MobileObjects

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

    @Test(arguments: [(Double.nan, "0000-01-01"), (-.infinity, "0000-01-01"), (.infinity, "9999-12-31"), (1e300, "9999-12-31")])
    func `a moment that is no number, or no finite one, has a day`(seconds: Double, day: String) {
        #expect(LocalDate(Date(timeIntervalSince1970: seconds)).description == day)
    }
}

/// The database's form has a reader of its own; it must refuse every text that the general reader refuses.
@Suite struct StoredMomentTests {
    @Test(
        "a moment in the database's form with anything wrong in it is none",
        arguments: [
            "2026-02-29T10:00:00.000Z", "2026-13-01T10:00:00.000Z", "2026-00-10T10:00:00.000Z", "2026-11-00T10:00:00.000Z",
            "2026-11-21T24:00:00.000Z", "2026-11-21T10:60:00.000Z", "2026-11-21T10:00:60.000Z", "2026-11-21T10:00:00.0x0Z",
            "2026-11-21T10:00:00.00:Z", "2026-1/-21T10:00:00.000Z", "2026-11-21T10:00:00.000X", "2026-11-21T10-00:00.000Z",
            "+026-11-21T10:00:00.000Z",
            "2026-11-21T10:00:00.0\u{e9}Z", "2026-11-21T1\u{1}:00:00.000Z",
        ])
    func wrongForms(text: String) {
        #expect(ISO8601Text.dateTime(text) == nil)
    }

    @Test(
        "a moment in the database's form and in another one are the same",
        arguments: ["0000-01-01T00:00:00", "1969-12-31T23:59:59", "2024-02-29T12:30:45", "9999-12-31T23:59:59"])
    func sameMoment(text: String) throws {
        let stored = try #require(ISO8601Text.dateTime(text + ".007Z")), general = try #require(ISO8601Text.dateTime(text + ".0070Z"))
        #expect(stored == general)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a moment that is no finite number is refused by attributes, queries and structures`(seconds: Double) throws {
        let shop = try Shop(), moment = Date(timeIntervalSince1970: seconds), product = try shop.new("Product", ["id": 1, "name": "Tea", "price": 2])
        #expect(ObjectError.of { try product.set("released", .dateTime(moment)) }?.code == .invalidValue)
        #expect(Date(attributeValue: .dateTime(moment)) == nil)
        let attribute = try shop.objects("Product").metadata.attribute(named: "released")
        #expect(attribute.refusal(of: .dateTime(moment)) != nil)
        let query = Query().where(.lessThan("released", moment))
        #expect(ObjectError.of { _ = try shop.objects("Product").findWithQuery(query) }?.code == .invalidValue)
        #expect(ObjectError.of { _ = try AttributeValue.encoded([moment]) }?.code == .invalidValue)
    }
}
