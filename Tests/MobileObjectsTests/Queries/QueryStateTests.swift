import MobileObjects
import Testing

/// Queries about the state of objects.
@Suite struct QueryStateTests {
    let shop: Shop

    /// Customers: 1 unchanged, 2 changed, 3 deleted, 4 parent of a new order, 1000 created; order 1001.
    init() throws {
        shop = try Shop()
        for key in 1...4 as ClosedRange<Int64> { try shop.importCustomer(key, id: "c\(key)", name: "Customer \(key)") }
        let changed = try #require(try shop.customer(2))
        try changed.set("city", "Cork")
        try changed.update()
        try shop.customer(3)?.delete()
        let created = try shop.newCustomer("c5")
        try created.save()
        let parent = try #require(try shop.customer(4))
        try shop.newOrder(of: parent).save()
    }

    private func keys(_ query: Query) throws -> [Int64] { try shop.objects("Customer").findWithQuery(query).map(\.surrogateKey) }

    @Test(
        "QRY-19: objects are found by their state; several states are alternatives, several negations all hold",
        arguments: [
            ([], [1, 2, 4, 1000]), (.all, [1, 2, 4, 1000]), (.pending, [2, 4, 1000]), (.notPending, [1]), (.created, [1000]),
            (.notCreated, [1, 2, 4]), (.updated, [2]), (.notUpdated, [1, 4, 1000]), (.deleted, [3]), (.notDeleted, [1, 2, 4, 1000]),
            ([.created, .updated], [2, 1000]), ([.pending, .notCreated], [2, 4]), ([.pending, .deleted], [2, 3, 4, 1000]),
            ([.notCreated, .notUpdated], [1, 4]),
        ] as [(EntityFilter, [Int64])])
    func states(filter: EntityFilter, expected: [Int64]) throws {
        #expect(try keys(Query().filter(filter)) == expected)
        #expect(try shop.objects("Customer").countWithQuery(Query().filter(filter)) == expected.count)
        let select = Query().select("surrogateKey").from("Customer").filter(filter).sorted(by: .ascending("surrogateKey"))
        #expect(try shop.database.executeQuery(select).map { $0[0] } == expected.map { .integer($0) })
    }

    @Test("QRY-19: the filters have the documented numbers")
    func numbers() {
        let filters: [EntityFilter] = [.pending, .notPending, .created, .notCreated, .updated, .notUpdated, .deleted, .notDeleted]
        #expect(filters.map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64, 128])
    }

    @Test("QRY-19: a filter goes with tests; it is for objects alone")
    func filterAndTest() throws {
        #expect(try keys(Query().filter(.pending).where(.equal("city", "Cork"))) == [2])
        let inner = Query().select("id").from("Customer")
        let error = #expect(throws: ObjectError.self) { try shop.database.executeQuery(Query().from(inner, "x").filter(.pending)) }
        #expect(error?.code == .invalidQuery)
    }

    @Test("QRY-19: an object that was deleted here is found as such, and comes back when its delete is cancelled")
    func deleted() throws {
        let deleted = try #require(try shop.objects("Customer").findWithQuery(Query().filter(.deleted)).first)
        #expect(deleted.isDeleted && deleted.isPending && deleted.pendingChange == .delete)
        #expect(try deleted.value("name") == "Customer 3")
        try deleted.cancelPending()
        #expect(!deleted.isDeleted && !deleted.isPending)
        #expect(try keys(Query().filter(.deleted)) == [])
        #expect(try keys(Query()) == [1, 2, 3, 4, 1000])
    }

    @Test("QRY-19: the state attributes can be tested and selected like others")
    func stateAttributes() throws {
        #expect(try keys(Query().where(.equal("isPending", true))) == [2, 4, 1000])
        #expect(try keys(Query().where(.equal("pending", false))) == [1])
        #expect(try keys(Query().where(.equal("isCreated", true))) == [1000])
        #expect(try keys(Query().where(.equal("isUpdated", true) || .equal("isCreated", true))) == [2, 1000])
        #expect(try keys(Query().where(.equal("isDeleted", true))) == [3])
        #expect(try keys(Query().where(.equal("isNew", true) || .equal("isDirty", true))) == [])
        #expect(try keys(Query().where(.equal("pendingChange", "P"))) == [4])
        #expect(try keys(Query().where(.in("surrogateKey", [2, 1000])).sorted(by: .descending("replayCounter"))) == [1000, 2])
        let query = Query().select("c.surrogateKey, c.pendingChange, c.isPending, c.isNew, c.replayPending, c.replayFailure").from("Customer", "c")
            .sorted(by: .ascending("isNew"), .ascending("surrogateKey"))
        let rows = try shop.database.executeQuery(query).map(Array.init)
        #expect(rows == [[1, "N", false, false, 0, 0], [2, "U", true, false, 0, 0], [4, "P", true, false, 0, 0], [1000, "C", true, false, 0, 0]])
        let updated = try #require(try shop.customer(2))
        try updated.submitPending()
        #expect(try keys(Query().where(.equal("replayPending", updated.replayPending))) == [2])
        try shop.reject(updated.replayPending)
        #expect(try keys(Query().where(.greaterThan("replayFailure", 0))) == [2])
    }

    @Test("QRY-35: hasLogRecords tells of each row whether it has log records")
    func hasLogRecords() throws {
        var record = try #require(try shop.customer(2)).newLogRecord(level: .error, message: "refused")
        try record.save()
        let query = Query().select("x.surrogateKey,x.name,x.hasLogRecords").from("Customer", "x").sorted(by: .ascending("surrogateKey"))
        let results = try shop.database.executeQuery(query)
        #expect(results.columnNames == ["x.surrogateKey", "x.name", "x.hasLogRecords"])
        #expect(results.map { [$0[0], $0[2]] } == [[1, false], [2, true], [4, false], [1000, false]])
        #expect(try keys(Query().where(.equal("hasLogRecords", true))) == [2])
        #expect(try shop.database.executeQuery(Query().from("SalesOrder").where(.equal("hasLogRecords", true))).isEmpty, "rows of other objects")
        let groups = Query().select("x.hasLogRecords, count(*) as n").from("Customer", "x").groupBy("x.hasLogRecords").sorted(by: .ascending("n"))
        #expect(try shop.database.executeQuery(groups).map(Array.init) == [[true, 1], [false, 3]])
        try record.delete()
        #expect(try keys(Query().where(.equal("hasLogRecords", true))) == [])
    }
}
