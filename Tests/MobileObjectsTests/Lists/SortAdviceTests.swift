import MobileObjects
import MobileStore
import TestSupport
import Testing

/// The console's warning about long lists without an index.
@Suite struct SortAdviceTests {
    private let lines = RecordedLines()

    private func shop(_ count: Int) throws -> Shop {
        let lines = lines
        let shop = try Shop(console: ConsoleLogger(level: .warn) { lines.add($0) })
        let rows = (1...count).map { "[\($0),\"c\($0)\",\"Customer \($0 * 7919 % 1000)\",null,1]" }
        try shop.importRows("Customer", ["id", "name", "city", "credit"], "[" + rows.joined(separator: ",") + "]")
        return shop
    }

    private let byName = Query().sorted(by: .ascending("name"))

    @Test func `a long list without an index of its order is reported once, as soon as its length is known`() throws {
        let shop = try shop(10_001), customers = try shop.objects("Customer")
        let list = try customers.list(byName)
        _ = try list.object(at: 5)
        #expect(lines.all.isEmpty)
        #expect(try list.count() == 10_001)
        #expect(
            lines.all == [
                "WARN: list of Customer: more than 10000 objects are sorted by name, again for each part of the list that is read, because no index has this "
                    + "order; make one with createIndex(_:on:)"
            ])
        _ = try customers.list(byName).count()
        #expect(lines.all.count == 1)
        let cursor = try customers.cursor(Query().sorted(by: .ascending("credit")).sorted(by: .descending("city")))
        while try cursor.nextObject() != nil {}
        #expect(lines.all.count == 2 && lines.all.last?.contains("sorted by credit, city,") == true)
    }

    @Test func `short lists, lists in the order of an index, and lists without an order are not reported`() throws {
        let shop = try shop(10_001), customers = try shop.objects("Customer"), metadata = customers.metadata
        #expect(try customers.list(Query()).count() == 10_001)
        #expect(try customers.list(Query().sorted(by: .ascending("id"))).count() == 10_001)
        #expect(try customers.list(byName.where(.lessThan("name", "Customer 5"))).count() < 10_000)
        try shop.database.createIndex(IndexMetadata(name: "name", attributes: [metadata.attribute(named: "name")]), on: metadata)
        let list = try customers.list(byName)
        #expect(try list.count() == 10_001 && list.object(at: 10_000).surrogateKey > 0)
        #expect(lines.all.isEmpty)
    }
}
