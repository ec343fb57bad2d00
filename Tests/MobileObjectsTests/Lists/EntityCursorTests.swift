import Foundation
import MobileObjects
import TestSupport
import Testing

/// Cursors over objects, with and without reading ahead.
@Suite struct EntityCursorTests {
    let trace = StatementTrace()
    let shop: Shop
    init() throws {
        let trace = trace
        shop = try Shop(trace: { trace.append($0) })
        let rows = (1...250).map { "[\($0),\"c\($0)\",\"Customer \($0 * 7919 % 1000)\"]" }
        try shop.importRows("Customer", ["id", "name"], "[" + rows.joined(separator: ",") + "]")
    }

    private var customers: EntityClass { get throws { try shop.objects("Customer") } }

    /// Calls the blocking forms, also where `await` would be possible.
    private func next(_ cursor: EntityCursor<GenericEntity>) throws -> [Int64]? { try cursor.nextPage()?.map(\.surrogateKey) }
    private func rest(_ cursor: EntityCursor<GenericEntity>) throws -> [Int64] {
        var keys: [Int64] = []
        while let page = try next(cursor) { keys += page }
        return keys
    }

    @Test("every object comes once, in order, whatever the size of a page", arguments: [1, 7, 100, 125, 250, 300], [true, false])
    func order(size: Int, readsAhead: Bool) async throws {
        let cursor = try customers.cursor(pageSize: size, readsAhead: readsAhead)
        var keys: [Int64] = []
        while let page = try next(cursor) {
            #expect(page.count == min(size, 250 - keys.count))
            keys += page
        }
        #expect(keys == Array(1...250))
        #expect(try next(cursor) == nil)

        let later = try customers.cursor(Query().skip(200), pageSize: size, readsAhead: readsAhead)
        keys = []
        while let page = try await later.nextPage() { keys += page.map(\.surrogateKey) }
        #expect(keys == Array(201...250))
        #expect(try await later.nextObject() == nil)
    }

    @Test func `reading ahead reads eight pages, no more, while the first one is in use`() throws {
        let cursor = try customers.cursor(pageSize: 10, readsAhead: true)
        func selects(_ statements: [String]? = nil) -> Int { (statements ?? trace.all).count { $0.contains("FROM \"Customer\"") } }
        let before = selects()
        #expect(try next(cursor) == Array(1...10))
        #expect(trace.wait { selects($0) > before + 1 }, "it has begun to read ahead")
        try shop.database.close()  // waits for the read
        #expect(selects() == before + 1 + 8)
        #expect(try rest(cursor) == Array(11...250), "the database is opened again")
    }

    /// The result of a query that is read by key, by key after other columns, and by position.
    private static let queries = [
        Query(), Query().sorted(by: .descending("name")).skip(3),
        Query().join("SalesOrder", "o", "o.customerId", "Customer.id").sorted(by: .descending("Customer.surrogateKey")),
    ]

    @Test("a transaction's own changes are on its pages, also where rows were read ahead before it", arguments: queries.indices, [1, 10])
    func transaction(query: Int, size: Int) throws {
        for key in 1...250 { try shop.importOrder(Int64(5000 + key), number: Int64(key), customer: Int64(key)) }
        let isByKey = query < 2, query = Self.queries[query]
        let all = try customers.findWithQuery(query).map(\.surrogateKey)
        let cursor = try customers.cursor(query, pageSize: size, readsAhead: true)
        var keys: [Int64] = [], gone: Set<Int64> = []
        for _ in 0..<3 { keys += try next(cursor) ?? [] }
        try shop.database.transaction {
            // Where rows have no key, a deletion before the place would move the others.
            if isByKey { try shop.customer(keys[1])?.delete() }
            gone.insert(all[keys.count])
            try shop.customer(all[keys.count])?.delete()
            keys += try next(cursor) ?? []
        }
        keys += try next(cursor) ?? []
        keys += try next(cursor) ?? []
        struct Stop: Error {}
        // A row on the next page; where rows have no key, a later one, because its return before the place would move the others.
        let back = all[keys.count + 1 + (isByKey ? 0 : 2 * size)]
        if isByKey { gone.insert(back) }
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try shop.customer(back)?.delete()
                keys += try next(cursor) ?? []
                throw Stop()
            }
        }
        keys += try rest(cursor)
        #expect(keys == all.filter { !gone.contains($0) })
    }

    @Test("a reader that another caller has is not waited for ahead")
    func oneReader() throws {
        let shop = try Shop(maxConnections: 1)
        try shop.importRows("Customer", ["id", "name"], #"[[1,"a","A"],[2,"b","B"],[3,"c","C"]]"#)
        let cursor = try shop.objects("Customer").cursor(pageSize: 1, readsAhead: true)
        // This thread has the only reader: its own reads use that one.
        let keys = try shop.database.read { _ in try rest(cursor) }
        #expect(keys == [1, 2, 3])
    }

    @Test("a page of no objects is an error at once")
    func badSize() throws {
        #expect(#expect(throws: ObjectError.self) { try customers.cursor(pageSize: 0) }?.code == .misuse)
    }

    @Test("a row that cannot be read is an error of its page, as often as it is tried; no other object is lost", arguments: [true, false])
    func failure(readsAhead: Bool) async throws {
        try execute(
            #"ALTER TABLE "Customer" RENAME TO "elsewhere""#,
            """
            CREATE VIEW "Customer" AS SELECT "_sk", "_pc", "_rc", "_rp", "_rf", "_ra", "id", \
            CASE WHEN "_sk" = 155 THEN abs(-9223372036854775807 - 1) ELSE "name" END AS "name", "city", "credit", "since", "_ref_favourite" FROM "elsewhere"
            """)
        let cursor = try customers.cursor(pageSize: 10, readsAhead: readsAhead)
        for page in 0..<15 { #expect(try next(cursor)?.last == Int64(10 * page + 10)) }
        for _ in 0..<2 { #expect(#expect(throws: ObjectError.self) { try next(cursor) }?.code == .store) }
        #expect(await #expect(throws: ObjectError.self) { _ = try await cursor.nextPage() }?.code == .store)
        try execute(#"DROP VIEW "Customer""#, #"ALTER TABLE "elsewhere" RENAME TO "Customer""#)
        #expect(try rest(cursor) == Array(151...250))
    }

    @Test("relatives that cannot be read are an error of the page, which comes when it is tried again", arguments: [true, false])
    func failureOfRelatives(readsAhead: Bool) async throws {
        let cursor = try customers.cursor(Query().prefetching("orders"), pageSize: 10, readsAhead: readsAhead)
        #expect(try next(cursor) == Array(1...10))
        try execute(#"ALTER TABLE "SalesOrder" RENAME TO "elsewhere""#)
        #expect(#expect(throws: ObjectError.self) { try next(cursor) }?.code == .store)
        #expect(await #expect(throws: ObjectError.self) { _ = try await cursor.nextPage() }?.code == .store)
        try execute(#"ALTER TABLE "elsewhere" RENAME TO "SalesOrder""#)
        #expect(try rest(cursor) == Array(11...250))
    }

    private func execute(_ statements: String...) throws {
        try shop.database.write("execute") { for statement in statements { _ = try $0.connection.execute(statement) } }
    }

    @Test func `pages that are not requested hold nothing back`() throws {
        var cursor: EntityCursor? = try customers.cursor(pageSize: 10, readsAhead: true)
        #expect(try cursor?.nextPage()?.count == 10)
        try shop.database.close()  // waits for the page that is on its way
        cursor = nil
    }
}
