import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Times that a device writes have the form of their column, and are read as the same times again.
@Suite struct TimeFormTests {
    private static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Times", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Event", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "at", "type": "dateTime", "nullable": true},
                        {"name": "day", "type": "date", "nullable": true}, {"name": "clock", "type": "time", "nullable": true}],
                    "binding": {"backEnd": "enterprise", "table": "event"}}]}
                """)
    }

    private static let moments = [
        "0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z", "1971-06-01T12:00:00.000Z", "1973-03-03T09:46:40.000Z",
        "1973-03-03T09:46:39.999Z", "2024-02-29T10:10:00.000Z", "2024-02-29T10:10:30.000Z", "2024-02-29T10:10:30.120Z", "5138-11-16T09:46:40.000Z",
        "9999-12-31T23:59:59.999Z",
    ]

    /// The values of other applications in the column, and the form of 2024-02-29 10:10 there.
    struct Column: Sendable {
        let rows: [String], written: Value
    }

    private static let columns = [
        Column(rows: ["'2024-01-01 10:00:00'", "'2023-01-01 10:00:59'"], written: "2024-02-29 10:10:00"),
        Column(rows: ["'2024-01-01 10:00'"], written: "2024-02-29 10:10"),
        Column(rows: ["'2024-01-01T10:00:00.123456+00:00'"], written: "2024-02-29T10:10:00.000000+00:00"),
        Column(rows: ["'2024-01-01 10:00:00'", "'2024-01-01 10:00:00.5'"], written: "2024-02-29 10:10:00"),
        Column(rows: ["1700000000", "0"], written: 1_709_201_400), Column(rows: ["1700000000123"], written: 1_709_201_400_000),
        Column(rows: ["'2024-01-01 10:00:00'", "1700000000"], written: "2024-02-29T10:10:00.000Z"),
        Column(rows: ["-9223372036854775808"], written: 1_709_201_400_000), Column(rows: ["9223372036854775807"], written: 1_709_201_400_000),
        Column(rows: ["NULL"], written: "2024-02-29T10:10:00.000Z"), Column(rows: ["'soon'"], written: "2024-02-29T10:10:00.000Z"),
    ]

    private func device(_ rows: [String], in column: String) throws -> TestDevice {
        let inserts = rows.enumerated().map { "INSERT INTO event (id, \"\(column)\") VALUES (\($0.offset + 1000), \($0.element));" }
        let tables = "CREATE TABLE event (id INTEGER PRIMARY KEY, \"at\" DATETIME, day DATE, clock TIME); \(inserts.joined(separator: " "))"
        let device = try TestDevice(TestServer(model: Self.model.get(), tables: tables, on: .sqlite))
        try device.synchronize()
        return device
    }

    @Test("each moment is read as it was written, in the form of the column", arguments: columns)
    func moments(_ column: Column) throws {
        let device = try device(column.rows, in: "at")
        let creates = Self.moments.enumerated().map { device.create("Event", ["id": .integer(Int64($0.offset)), "at": .string($0.element)]) }
        #expect(try device.synchronize(creates).results.allSatisfy { $0.outcome == .accepted })
        let rows = device.rows("Event", by: "id")
        #expect(Self.moments.indices.map { rows[.integer(Int64($0))]?["at"] } == Self.moments.map { .string($0) })
        #expect(try device.server.backEndValue("SELECT \"at\" FROM event WHERE id = 6") == column.written)
    }

    @Test("each day is read as it was written", arguments: [["'2024-01-01'"], ["'2024-01-01 00:00:00.000'"], ["1700006400"], ["1700006400000"]])
    func days(rows: [String]) throws {
        let device = try device(rows, in: "day"), days = ["0001-01-01", "1970-01-01", "1972-02-29", "2024-02-29", "5200-01-01", "9999-12-31"]
        let creates = days.enumerated().map { device.create("Event", ["id": .integer(Int64($0.offset)), "day": .string($0.element)]) }
        #expect(try device.synchronize(creates).results.allSatisfy { $0.outcome == .accepted })
        let found = device.rows("Event", by: "id")
        #expect(days.indices.map { found[.integer(Int64($0))]?["day"] } == days.map { .string($0) })
    }

    @Test("each time of day is read as it was written", arguments: [["'10:00'"], ["'10:00:00'"], ["'2000-01-01 10:00:00'"], ["36000"]])
    func clocks(rows: [String]) throws {
        let device = try device(rows, in: "clock"), clocks = ["00:00:00", "10:10:00", "10:10:59", "23:59:59"]
        let creates = clocks.enumerated().map { device.create("Event", ["id": .integer(Int64($0.offset)), "clock": .string($0.element)]) }
        #expect(try device.synchronize(creates).results.allSatisfy { $0.outcome == .accepted })
        let found = device.rows("Event", by: "id")
        #expect(clocks.indices.map { found[.integer(Int64($0))]?["clock"] } == clocks.map { .string($0) })
    }
}
