import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// The content and the form of a new device's first download.
@Suite struct FirstSynchronizationTests {
    @Test("SYN-10: a first synchronization brings the rows of the partition, every value in its one form")
    func values() throws {
        let device = try TestDevice.inRegion("NORTH", of: try FieldSales.server())
        let customers = device.rows("Customer", by: "id")
        #expect(Set(customers.keys) == [1, 2])
        let harbour = try #require(customers[1])
        #expect(harbour["name"] == "Harbour Foods")
        #expect(harbour["credit"] == .number("1250.5"))
        #expect(harbour["active"] == 1)
        #expect(harbour["since"] == "2020-02-29")
        #expect(harbour["rate"] == .number("0.1"))
        #expect(harbour["code"] == .null)
        #expect(customers[2]?["active"] == 0)
        #expect(customers[2]?["credit"] == 12)
        #expect(customers[2]?["since"] == "2021-03-04")
    }

    @Test("KEY-01 KEY-07: rows have surrogate keys, and children refer to their parents by them")
    func references() throws {
        let device = try TestDevice.inRegion("NORTH", of: try FieldSales.server())
        let harbour = device.key("Customer", "id", 1)
        let order = try #require(device.rows("Order", by: "id")[10])
        #expect(harbour > 0)
        #expect(order["_ref_customer"] == .integer(harbour))
        // The customer of this order is in another partition; the device knows its key nevertheless.
        let other = try #require(device.rows("Order", by: "id")[11]?["_ref_customer"]?.integer)
        #expect(other > 0 && other != harbour)
        let lines = device.rows["Line"] ?? [:]
        #expect(lines.count == 3)
        #expect(lines.values.filter { $0["_ref_order"] == order["_sk"] }.count == 2)
    }

    @Test func `large values come as bytes, beside the rows`() throws {
        let device = try TestDevice.inRegion("NORTH", of: try FieldSales.server())
        let key = device.key("Customer", "id", 1)
        #expect(device.largeValues["Customer"]?[key] == ["notes": Array("Grüße".utf8), "photo": [0, 255]])
        #expect(device.largeValues["Customer"]?.count == 1)
    }

    @Test("a range of keys is granted once to one client, also after a restart")
    func keyRanges() throws {
        let server = try FieldSales.server()
        let first = try TestDevice.inRegion("NORTH", of: server)
        let range = try #require(first.keyRange)
        #expect(range.last - range.first == 999)
        try server.restart()
        let second = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let other = try #require(second.keyRange)
        #expect(other.first > range.last || other.last < range.first)
        try first.synchronize()
        #expect(first.keyRange == range, "a client with enough keys gets no more")
    }
}
