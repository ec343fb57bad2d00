import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Lists that read their pages when they are needed.
@Suite struct LazyListTests {
    let trace = StatementTrace()
    let shop: Shop
    init() throws {
        let trace = trace
        shop = try Shop(trace: { trace.append($0) })
    }

    private func importCustomers(_ keys: ClosedRange<Int>) throws {
        let rows = keys.map { key in
            let city = key % 7 == 0 ? "null" : "\"\(["Dublin", "Cork", "Galway"][key % 3])\""
            return "[\(key),\"c\(key)\",\"Customer \(key * 7919 % 1000)\",\(city),\(key % 50).25]"
        }
        try shop.importRows("Customer", ["id", "name", "city", "credit"], "[" + rows.joined(separator: ",") + "]")
    }

    private var customers: EntityClass { get throws { try shop.objects("Customer") } }

    /// An object that a test saw, without keeping it.
    private struct Seen {
        weak var object: GenericEntity?
    }

    @Test("FND-12: a list of 30,000 objects holds the objects of some pages, wherever it is looked at: memory stays flat to its end and back")
    func memory() throws {
        try importCustomers(1...30_000)
        let list = try customers.list(Query().sorted(by: .ascending("name")), pageSize: 100, keptPages: 5)
        #expect(try list.count() == 30_000)
        var seen: [Seen] = [], most = 0
        func look(_ positions: some Sequence<Int>) throws {
            for position in positions {
                seen.append(Seen(object: try list.object(at: position)))
                guard position % 500 == 0 else { continue }
                seen.removeAll { $0.object == nil }
                most = max(most, Set(seen.compactMap { $0.object.map(ObjectIdentifier.init) }).count)
            }
        }
        let before = trace.count
        try look(0..<30_000)
        try look((0..<30_000).reversed())
        #expect(most > 300 && most <= 500)
        let statements = trace.all[before...].filter { $0.contains("Customer") }
        // After a row with the same name there are two ranges to read.
        #expect(statements.count <= 2 * 2 * 300 && !statements.contains { $0.contains("OFFSET") }, "each page is found by key")
    }

    @Test("a cursor over 30,000 objects holds those of one page, and goes through all of them")
    func cursorMemory() throws {
        try importCustomers(1...30_000)
        var seen: [Seen] = [], count = 0, most = 0
        let cursor = try customers.cursor(pageSize: 100)
        for customer in cursor {
            count += 1
            seen.append(Seen(object: customer))
            guard count % 500 == 0 else { continue }
            seen.removeAll { $0.object == nil }
            most = max(most, seen.count)
        }
        #expect(count == 30_000 && most <= 101 && cursor.error == nil)
    }

    /// Queries whose lists must be equal to the result of `findWithQuery`.
    private static let queries: [Query] = [
        Query(), Query().where(.equal("city", "Cork")), Query().sorted(by: .descending("city"), .ascending("credit")),
        Query().sorted(by: .ascending("city")).skip(30).take(111), Query().skip(990), Query().take(0),
        Query().where(.notEqual("city", "Cork")).sorted(by: .descending("name")).take(37), Query().skip(5).take(250),
        Query().where(.isNull("city")).sorted(by: .descending("name")),
        Query().join("SalesOrder", "o", "o.customerId", "Customer.id").sorted(by: .ascending("o.status")),
        Query().join("SalesOrder", "o", "o.customerId", "Customer.id").skip(3).take(40),
        Query().join("SalesOrder", "o", "o.customerId", "Customer.id").distinct().sorted(by: .descending("name")),
        Query().join("SalesOrder", "o", "o.customerId", "Customer.id").where(.equal("o.status", "OPEN")).distinct().skip(2),
        Query().where(.equal("hasLogRecords", false)).sorted(by: .ascending("hasLogRecords"), .ascending("credit")),
    ]

    @Test("FND-12: any position of the list of any query is what the query finds there", arguments: queries.indices, [7, 100, 1000])
    func positions(query: Int, pageSize: Int) async throws {
        // Small pages of a sorted list each cost a sort.
        try importCustomers(1...(pageSize < 10 ? 200 : 1000))
        let orders = (1...120).map { "[\(5000 + $0),\($0),\"c\($0 % 40 + 1)\",\"\($0 % 2 == 0 ? "OPEN" : "NEW")\",\($0 % 40 + 1)]" }
        try shop.importRows("SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[\(orders.joined(separator: ","))]")
        let query = Self.queries[query], list = try customers.list(query, pageSize: pageSize, keptPages: 2)
        let expected = try find(query)
        #expect(try count(list) == expected.count)
        var random = SeededGenerator(seed: UInt64(pageSize))
        let positions = (0..<40).map { _ in Int.random(in: 0..<max(1, expected.count), using: &random) }
        for position in expected.isEmpty ? [] : positions + [expected.count - 1, 0] {
            #expect(try object(list, position).surrogateKey == expected[position], "position \(position)")
        }
        #expect(list.map(\.surrogateKey) == expected, "from the first to the last one")
        #expect(try customers.cursor(query, pageSize: pageSize, readsAhead: true).map(\.surrogateKey) == expected)
        #expect(try await list.objects(0..<(expected.count + 10)).map(\.surrogateKey) == expected)
        #expect(try await list.count() == expected.count)
        for position in [-1, expected.count, expected.count + 5000] {
            #expect(#expect(throws: ObjectError.self) { try object(list, position) }?.code == .notFound)
        }
    }

    private func find(_ query: Query) throws -> [Int64] { try customers.findWithQuery(query).map(\.surrogateKey) }
    private func count(_ list: LazyEntityList<GenericEntity>) throws -> Int { try list.count() }
    private func object(_ list: LazyEntityList<GenericEntity>, _ position: Int) throws -> GenericEntity { try list[position] }

    @Test("FND-08: the list of a modelled query")
    func modelledQuery() throws {
        try importCustomers(1...500)
        let list = try customers.list("findByCity", ["Cork"], pageSize: 30), found = try customers.query("findByCity", ["Cork"])
        #expect(try list.count() == found.count && found.count > 100)
        #expect(try list.object(at: 99).surrogateKey == found[99].surrogateKey)
        #expect(list.map(\.surrogateKey) == found.map(\.surrogateKey))
        #expect(try customers.list("findFirstOf", ["OPEN"]).count() == 0, "a query with a limit of its own")
        #expect(#expect(throws: ObjectError.self) { try customers.list("findNothing") }?.code == .noSuchOperation)
    }

    @Test("looking twice gives the same object, until its page went")
    func identity() throws {
        try importCustomers(1...100)
        let list = try customers.list(pageSize: 10, keptPages: 2)
        let first = try list.object(at: 0)
        #expect(try list.object(at: 0) === first && list.objects(0..<3)[0] === first)
        _ = try (list.object(at: 10), list.object(at: 0), list.object(at: 20))
        #expect(try list.object(at: 0) === first, "used later than the page at 10")
        _ = try (list.object(at: 30), list.object(at: 40))
        #expect(try list.object(at: 0) !== first)
    }

    @Test("a list shows the database as it is: what is deleted, added and changed underneath moves the others")
    func changes() throws {
        try importCustomers(1...300)
        let list = try customers.list(Query().sorted(by: .descending("id")), pageSize: 20)
        let all = try customers.findWithQuery(Query().sorted(by: .descending("id"))).map(\.surrogateKey)
        #expect(try list.object(at: 150).surrogateKey == all[150] && list.count() == 300)
        try shop.importDeletions("Customer", all[3], all[149], all[299])
        let left = all.filter { ![all[3], all[149], all[299]].contains($0) }
        #expect(try list.count() == 297 && list.object(at: 150).surrogateKey == left[150] && list.object(at: 296).surrogateKey == left[296])
        #expect(#expect(throws: ObjectError.self) { try list.object(at: 297) }?.code == .notFound)
        let customer = try list.object(at: 40)
        try customer.set("name", "Changed")
        try customer.save()
        #expect(try list.object(at: 40).name == "Changed" && list.object(at: 40) !== customer)
        try shop.importRows("Product", ["id", "name", "price"], "[[9001,1,\"Tea\",2.50]]")
        let kept = try list.object(at: 5)
        try shop.importRows("Product", ["id", "name", "price"], "[[9002,2,\"Rice\",1]]")
        #expect(try list.object(at: 5) === kept, "another object's rows do not count")
    }

    @Test("what a transaction of this thread has changed is seen, and forgotten when it is rolled back")
    func transaction() throws {
        try importCustomers(1...50)
        let list = try customers.list(pageSize: 10)
        #expect(try list.object(at: 49).surrogateKey == 50)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try shop.customer(1)?.delete()
                #expect(try list.count() == 49 && list.object(at: 0).surrogateKey == 2 && list.object(at: 48).surrogateKey == 50)
                throw Stop()
            }
        }
        #expect(try list.count() == 50 && list.object(at: 0).surrogateKey == 1)
    }

    @Test("a cursor gives each object once, also where rows come and go underneath")
    func cursor() throws {
        try importCustomers(1...100)
        let cursor = try customers.cursor(Query().sorted(by: .ascending("surrogateKey")), pageSize: 10)
        var keys: [Int64] = []
        while let page = try cursor.nextPage() {
            keys += page.map(\.surrogateKey)
            if keys.last == 20 {
                try shop.importDeletions("Customer", 5, 20, 21, 30)
                try importCustomers(101...105)
            }
        }
        #expect(keys == Array(1...20) + Array(22...29) + Array(31...105))
        #expect(try cursor.nextPage() == nil && cursor.nextObject() == nil)
    }

    @Test("what cannot be read is an error that a loop keeps, and a later look tries again")
    func errors() throws {
        try importCustomers(1...30)
        let list = try customers.list(pageSize: 10), cursor = try customers.cursor(pageSize: 10)
        #expect(try list.count() == 30 && cursor.nextPage()?.count == 10)
        try shop.database.write("broken") { _ = try $0.connection.execute(#"ALTER TABLE "Customer" RENAME TO "elsewhere""#) }
        list.reload()
        #expect(#expect(throws: ObjectError.self) { try list.object(at: 0) }?.code == .store)
        #expect(Array(cursor).isEmpty && cursor.error?.code == .store)
        try shop.database.write("mended") { _ = try $0.connection.execute(#"ALTER TABLE "elsewhere" RENAME TO "Customer""#) }
        #expect(try list.object(at: 0).surrogateKey == 1)
        #expect(cursor.map(\.surrogateKey) == Array(11...30) && cursor.error == nil)
    }

    @Test(
        "a list that cannot be is an error at once",
        arguments: [
            (Query().where(.equal("colour", "red")), 100, 8, ObjectError.Code.noSuchAttribute), (Query(), 0, 8, .misuse), (Query(), 100, 0, .misuse),
            (Query().skip(-1), 100, 8, .invalidQuery), (Query().select("id"), 100, 8, .invalidQuery),
            (Query().prefetching("colours"), 100, 8, .noSuchRelationship),
        ])
    func badLists(query: Query, pageSize: Int, keptPages: Int, code: ObjectError.Code) throws {
        #expect(#expect(throws: ObjectError.self) { try customers.list(query, pageSize: pageSize, keptPages: keptPages) }?.code == code)
    }

    @Test("values that fill a page before its last row do not cut a list or a query short")
    func largeValues() async throws {
        let rows = (1...20).map { "[\($0),\"c\($0)\",\"Customer \($0)\",\"\(String(repeating: "x", count: 400_000))\"]" }
        try shop.importRows("Customer", ["id", "name", "city"], "[" + rows.joined(separator: ",") + "]")
        let list = try customers.list(pageSize: 15), query = Query().sorted(by: .descending("surrogateKey")).take(18)
        #expect(try object(list, 14).surrogateKey == 15 && object(list, 19).surrogateKey == 20 && object(list, 3).surrogateKey == 4)
        #expect(try find(query) == Array(3...20).reversed())
        #expect(try await customers.findWithQuery(query).map(\.surrogateKey) == Array(3...20).reversed())
        for readsAhead in [true, false] {
            var pages: [[Int64]] = []
            let cursor = try customers.cursor(pageSize: 15, readsAhead: readsAhead)
            while let page = try await cursor.nextPage() { pages.append(page.map(\.surrogateKey)) }
            #expect(pages == [Array(1...15), Array(16...20)])
        }
    }

    @Test("a list goes on after its database was closed and opened again")
    func reopened() throws {
        try importCustomers(1...30)
        let list = try customers.list(pageSize: 10)
        #expect(try list.count() == 30)
        try shop.database.close()
        try importCustomers(31...31)
        #expect(try list.count() == 31 && list.object(at: 30).surrogateKey == 31)
        try importCustomers(32...32)
        #expect(try list.count() == 32)
    }
}
