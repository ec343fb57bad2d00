import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import Testing

/// Results that come again when their source changes.
@Suite struct QueryObservationTests {
    let trace = StatementTrace()
    let shop: Shop
    init() throws {
        let trace = trace
        shop = try Shop(maxConnections: 4, trace: { trace.append($0) })
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn", city: "Cork")
    }

    private typealias Results = QueryObservation<EntitySnapshot<GenericEntity>>
    private func observe(_ query: Query = Query()) throws -> Results { try shop.objects("Customer").observe(query) }

    /// Returns the keys of the next result; nil where there is none.
    private func next(_ results: inout Results.Iterator) async throws -> [Int64]? { try await results.next()?.surrogateKeys }

    @Test("the first result comes at once, then one behind each commit that touches the table: create, change, delete, import")
    func commits() async throws {
        var results = try observe(Query().where(.equal("city", "Dublin"))).makeAsyncIterator()
        #expect(try await next(&results) == [1])
        let new = try shop.new("Customer", ["id": "n", "name": "New", "city": "Dublin"])
        try create(new)
        #expect(try await next(&results) == [1, 1000])
        try shop.importCustomer(3, id: "c3", name: "Third")
        #expect(try await next(&results) == [1, 3, 1000])
        try change { try shop.customer(1)?.delete() }
        #expect(try await next(&results) == [3, 1000])
    }

    private func create(_ object: GenericEntity) throws { try object.create() }
    private func change(_ body: () throws -> Void) throws { try body() }

    @Test("commits that come while nobody asks make one result, the last state")
    func coalesced() async throws {
        var results = try observe().makeAsyncIterator()
        #expect(try await next(&results) == [1, 2])
        for key in 3...40 { try shop.importCustomer(Int64(key), id: "c\(key)", name: "Customer") }
        #expect(try await next(&results) == Array(1...40))
        let waiting = Task { [results] in
            var results = results
            return try await results.next()?.surrogateKeys
        }
        try shop.importCustomer(41, id: "c41", name: "Customer")
        #expect(try await waiting.value == Array(1...41))
    }

    @Test("tables of joins, subqueries, log records and relationships that are read along count; others do not")
    func tables() async throws {
        let orders = Query().from("SalesOrder", "o").where(.equal("o.customerId", QueryColumn("Customer", "id")))
        let queries: [(Query, () throws -> Void)] = [
            (Query().join("SalesOrder", "o", "o.customerId", "Customer.id").distinct(), { try shop.importOrder(11, number: 11, customer: 1) }),
            (Query().where(.exists(orders)), { try shop.importOrder(12, number: 12, customer: 2) }),
            (Query().prefetching("orders", "lines"), { try shop.importLine(21, order: 11, number: 1, text: "tea") }),
            (
                Query().where(.equal("hasLogRecords", true)),
                {
                    var record = try shop.objects("Customer").load(1).newLogRecord(level: .info, message: "visited")
                    try record.save()
                }
            ),
        ]
        for (position, (query, change)) in queries.enumerated() {
            var results = try observe(query).makeAsyncIterator()
            _ = try await next(&results)
            let before = trace.count
            try shop.importRows("Product", ["id", "name", "price"], "[[\(9001 + position),\(position),\"Tea\",2.50]]")
            #expect(!trace.all[before...].contains { $0.contains("AS t0") }, "query \(position)")
            try change()
            #expect(try await next(&results) != nil, "query \(position)")
        }
    }

    @Test("what is written beside the rows tells nobody: outbox, tokens, settings, logs, large values, the change log with its triggers")
    func bookkeeping() throws {
        let told = RecordedChanges()
        let observation = try shop.database.store.observe(["Nothing"]) { told.append($0) }
        try PendingWork.write(to: shop)
        try shop.importDeletions("Line", 21)
        for record in try shop.database.outbox { try shop.accept(record.id) }
        for key in [31, 32] as [Int64] { try shop.objects("Product").load(key).cancelPending() }
        try shop.database.deleteChangeLogs()
        withExtendedLifetime(observation) {}
        #expect(told.all.isEmpty)
    }

    @Test("rows of any query are observed as results of their own")
    func rows() async throws {
        var results = shop.database.observe(Query().select("count(*)").from("Customer")).makeAsyncIterator()
        #expect(try await results.next()?.first?[0] == 2)
        try shop.importCustomer(3, id: "c3", name: "Third")
        #expect(try await results.next()?.first?[0] == 3)
    }

    @Test("a cancelled task gets no more results, waiting or not, and ends without an error")
    func cancelled() async throws {
        let observation = try observe(), (started, start) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            var count = 0
            for try await _ in observation {
                count += 1
                start.yield()
            }
            return count
        }
        for await _ in started { break }
        waiting.cancel()
        #expect(try await waiting.value == 1)
        let never = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var results = observation.makeAsyncIterator()
            return try await results.next()?.count
        }
        #expect(try await never.value == nil)
        try shop.importCustomer(3, id: "c3", name: "Third")
    }

    @Test("a result crosses isolations; its objects are made there, one by one or all together, with what is read along")
    func crossing() async throws {
        try shop.importOrder(11, number: 11, customer: 1)
        var results = try observe(Query().sorted(by: .ascending("surrogateKey")).prefetching("orders")).makeAsyncIterator()
        let snapshot = try #require(try await results.next())
        let names = try await Task { @MainActor in
            let objects = try await snapshot.objects()
            #expect(objects[0].orders.count == 1)
            return snapshot.map(\.name) + [snapshot[1].name] + objects.map(\.name)
        }.value
        #expect(names == ["Harbour Foods", "Castle Inn", "Castle Inn", "Harbour Foods", "Castle Inn"])
        #expect(snapshot.count == 2 && !snapshot.isEmpty)
        try shop.importDeletions("Customer", 1, 2)
        #expect(snapshot.map(\.surrogateKey) == [1, 2], "a result stays as it was")
        #expect(try await results.next()?.isEmpty == true)
    }

    @Test("an observation ends when the database is closed, and a later one begins anew")
    func closed() async throws {
        var results = try observe().makeAsyncIterator()
        #expect(try await next(&results) == [1, 2])
        try close()
        #expect(try await next(&results) == nil)
        var again = try observe().makeAsyncIterator()
        #expect(try await next(&again) == [1, 2])
    }

    private func close() throws { try shop.database.close() }

    @Test("what is wrong with a query is thrown by the first result")
    func errors() async throws {
        for (query, code) in [
            (Query().where(.equal("colour", 1)), ObjectError.Code.noSuchAttribute), (Query().select("id"), .invalidQuery),
            (Query().prefetching("colours"), .noSuchRelationship),
        ] {
            var results = try observe(query).makeAsyncIterator()
            do {
                _ = try await results.next()
                Issue.record("a result of \(query)")
            } catch let error as ObjectError {
                #expect(error.code == code)
            }
        }
    }

    @Test("a write that is under way when somebody begins to observe is not missed")
    func underWay() async throws {
        let database = shop.database, observation = try observe()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self), mayEnd = DispatchSemaphore(value: 0)
        let writing = Task {
            try await database.write("slow") { transaction in
                _ = try transaction.connection.execute(#"DELETE FROM "Customer" WHERE "_sk" = 2"#)
                begin.yield()
                mayEnd.wait()
            }
        }
        for await _ in begun { break }
        var results = observation.makeAsyncIterator()
        #expect(try await next(&results) == [1, 2])
        mayEnd.signal()
        try await writing.value
        #expect(try await next(&results) == [1])
    }
}

/// The changes that were reported to an observer, on any thread.
private final class RecordedChanges: Sendable {
    private let changes = SystemLock<[CommittedChanges]>([])
    func append(_ change: CommittedChanges) { changes.withLock { $0.append(change) } }
    var all: [CommittedChanges] { changes.withLock { $0 } }
}
