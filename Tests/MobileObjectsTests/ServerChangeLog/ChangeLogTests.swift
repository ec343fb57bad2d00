import MobileModel
import MobileObjects
import MobileStore
import SampleCRM
import Testing

/// The server's changes, for lists that the application shows already.
@Suite struct ChangeLogTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(10, number: 100, customer: 1)
        try shop.importLine(20, order: 10, number: 1, text: "tea")
        try shop.database.enableChangeLog()
    }

    /// Returns entries as `U Line 20 of Customer 1`.
    private func lines(_ query: Query = Query()) throws -> [String] {
        try shop.database.changeLogs(query).map(\.line)
    }

    /// Deletes rows of several objects in one transaction, in this order.
    private func importDeletions(_ rows: [(entity: String, key: Int64)]) throws {
        try shop.database.write("import") { transaction in
            for row in rows {
                let keys = try transaction.importSession(for: row.entity).deletions()
                try keys.push([UInt8]("[[\(row.key)]]".utf8))
                try keys.finish()
            }
        }
    }

    @Test("CHL-06 CHL-08: inserts and updates are U, deletions D; every affected row has one entry, with its latest change")
    func operations() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        try shop.importCustomer(3, id: "c3", name: "Corner Shop")
        try shop.importDeletions("Customer", 2, 77)
        #expect(try lines() == ["U Customer 1 of Customer 1", "D Customer 2 of Customer 2", "U Customer 3 of Customer 3"])
        try shop.importCustomer(2, id: "c2", name: "Castle Inn again")
        try shop.importDeletions("Customer", 3)
        #expect(try lines() == ["U Customer 1 of Customer 1", "U Customer 2 of Customer 2", "D Customer 3 of Customer 3"])
        #expect(ChangeLog.Operation.allCases.map(\.rawValue) == ["U", "D"])
    }

    @Test("CHL-07 CHL-08: a child of a composite is in the log, and the top of its tree as well")
    func roots() throws {
        try shop.importLine(20, order: 10, number: 1, text: "coffee")
        #expect(try lines() == ["U Customer 1 of Customer 1", "U Line 20 of Customer 1"])
        let entry = try #require(try shop.database.changeLogs(Query().where(.equal("entityType", 2))).first)
        #expect(entry.surrogateKey == 20 && entry.rootEntityType == 0 && entry.rootSurrogateKey == 1)
        #expect(entry.entity == "Line" && entry.rootEntity == "Customer")
    }

    @Test("CHL-07: the top is found although children come before their parents")
    func childrenFirst() throws {
        try shop.database.write("import") { transaction in
            for (entity, columns, row) in [
                ("Line", ["_sk", "orderNumber", "line", "text", "_ref_order"], "[[21,200,1,\"milk\",11]]"),
                ("SalesOrder", ["_sk", "number", "customerId", "status", "_ref_customer"], "[[11,200,\"c2\",\"NEW\",2]]"),
                ("Customer", ["_sk", "id", "name", "credit"], "[[2,\"c2\",\"Castle Inn\",1]]"),
            ] {
                let rows = try transaction.importSession(for: entity).rows(columns)
                try rows.push([UInt8](row.utf8))
                try rows.finish()
            }
        }
        #expect(try lines() == ["U Customer 2 of Customer 2", "U SalesOrder 11 of Customer 2", "U Line 21 of Customer 2"])
    }

    @Test(
        "CHL-07 CHL-08: the top is found although parents leave before their children",
        arguments: [["SalesOrder", "Line"], ["Line", "SalesOrder"]])
    func deletedTrees(order: [String]) throws {
        try importDeletions(order.map { ($0, $0 == "Line" ? 20 : 10) })
        #expect(try lines() == ["U Customer 1 of Customer 1", "D SalesOrder 10 of Customer 1", "D Line 20 of Customer 1"])
    }

    @Test("CHL-07: the top is found although the parent left in an earlier transaction; a top that is gone has no entry of its own")
    func deletedInSteps() throws {
        try shop.importDeletions("SalesOrder", 10)
        try shop.importDeletions("Line", 20)
        #expect(try lines() == ["U Customer 1 of Customer 1", "D SalesOrder 10 of Customer 1", "D Line 20 of Customer 1"])
        try shop.database.deleteChangeLogs()
        try shop.importOrder(11, number: 101, customer: 5)
        #expect(try lines() == ["U SalesOrder 11 of Customer 5"])
    }

    @Test("CHL-07: trees that have themselves as children are climbed to the top, and a circle does not hang")
    func recursion() throws {
        let category = ObjectModel(
            name: "Category", attributes: [AttributeModel(name: "name", type: .string)], primaryKey: ["name"],
            relationships: [
                RelationshipModel(name: "parts", target: "Category", cardinality: .oneToMany, isComposite: true, inverse: "whole"),
                RelationshipModel(name: "whole", target: "Category", cardinality: .manyToOne, inverse: "parts"),
            ])
        let shop = try Shop(PackageModel(name: "Tree", objects: [category]))
        try shop.importRows("Category", ["name", "_ref_whole"], "[[1,\"a\",null],[2,\"b\",1],[3,\"c\",2],[4,\"d\",3],[8,\"x\",9],[9,\"y\",8]]")
        try shop.database.enableChangeLog()
        try shop.importRows("Category", ["name", "_ref_whole"], "[[4,\"e\",3]]")
        #expect(try shop.database.changeLogs().map(\.line) == ["U Category 1 of Category 1", "U Category 4 of Category 1"])
        try shop.importRows("Category", ["name", "_ref_whole"], "[[8,\"z\",9]]")
        #expect(try shop.database.changeLogs(Query().where(.equal("operationType", "U"))).contains { $0.surrogateKey == 8 })
    }

    @Test("CHL-05: each object has a number, the same in generated code, metadata and log")
    func entityTypes() throws {
        #expect([Customer.entityType, SalesOrder.entityType] == [Customer.metadata.index, SalesOrder.metadata.index])
        let entities = CRM.metadata.entities
        #expect(Set(entities.map(\.entityType)).count == entities.count)
        try shop.importOrder(10, number: 100, customer: 1, status: "PAID")
        let types = try shop.database.changeLogs().map { shop.database.metadata.entities[$0.entityType].name }
        #expect(types == ["Customer", "SalesOrder"])
    }

    @Test("CHL-04: the log is off until it is enabled, stays on over a restart, and gets nothing once it is disabled")
    func switching() async throws {
        let other = try Shop()
        #expect(try !other.database.isChangeLogEnabled)
        try other.importCustomer(1, id: "c1", name: "Harbour Foods")
        #expect(try await other.database.changeLogs().isEmpty)
        try await other.database.enableChangeLog()
        try await other.database.close()
        try other.importCustomer(1, id: "c1", name: "Harbour")
        #expect(try await other.database.changeLogs().map(\.line) == ["U Customer 1 of Customer 1"])
        try await other.database.disableChangeLog()
        try other.importCustomer(2, id: "c2", name: "Castle Inn")
        try other.importDeletions("Customer", 1)
        #expect(try await other.database.changeLogs().map(\.line) == ["U Customer 1 of Customer 1"])
    }

    @Test("CHL-03: all entries are deleted at once; entries that are taken are those that were read and no others")
    func deleting() async throws {
        try shop.importLine(20, order: 10, number: 1, text: "coffee")
        try await shop.database.deleteChangeLogs()
        #expect(try lines().isEmpty)
        try shop.importLine(20, order: 10, number: 1, text: "tea")
        #expect(try await shop.database.takeChangeLogs(Query().where(.equal("entityType", 0))).map(\.line) == ["U Customer 1 of Customer 1"])
        #expect(try lines() == ["U Line 20 of Customer 1"])
        #expect(throws: Stop.self) { try takeAndFail() }
        #expect(try lines() == ["U Line 20 of Customer 1"])
        #expect(try await shop.database.takeChangeLogs().map(\.line) == ["U Line 20 of Customer 1"])
        #expect(try lines().isEmpty)
    }

    private struct Stop: Error {}

    private func takeAndFail() throws {
        try shop.database.transaction {
            #expect(try shop.database.takeChangeLogs().count == 1)
            throw Stop()
        }
    }

    @Test("an entry is written in the transaction of its import: none is left of one that fails, or of a part that is undone")
    func atomic() throws {
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try shop.importCustomer(1, id: "c1", name: "Lost")
                try shop.importDeletions("Line", 20)
                throw Stop()
            }
        }
        #expect(try lines().isEmpty)
        try shop.database.transaction {
            try shop.importDeletions("Line", 20)
            try? shop.database.transaction {
                try shop.importDeletions("SalesOrder", 10)
                throw Stop()
            }
            try shop.importCustomer(2, id: "c2", name: "Castle Inn")
            #expect(try lines() == ["U Customer 1 of Customer 1", "U Customer 2 of Customer 2", "D Line 20 of Customer 1"])
        }
        #expect(try lines() == ["U Customer 1 of Customer 1", "U Customer 2 of Customer 2", "D Line 20 of Customer 1"])
        // No part of it stays with the connection: a deletion by the user is not a change of the server's.
        try shop.database.deleteChangeLogs()
        try shop.objects("SalesOrder").load(10).delete()
        #expect(try lines().isEmpty)
    }

    @Test("what waits behind a pending change is not seen and not logged; the answer puts it in place and is")
    func pendingRows() throws {
        let customer = try shop.objects("Customer").load(1)
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        #expect(try lines().isEmpty)
        try shop.accept(customer.replayPending)
        #expect(try lines() == ["U Customer 1 of Customer 1"])
    }

    @Test("a row that the server deleted leaves with the answer to its pending change, and its top is told")
    func deletedBehindChange() throws {
        let line = try shop.objects("Line").load(20)
        try line.set("text", "coffee")
        try line.update()
        try line.submitPending()
        try shop.importDeletions("Line", 20)
        #expect(try lines().isEmpty)
        try shop.accept(line.replayPending)
        #expect(try lines() == ["U Customer 1 of Customer 1", "D Line 20 of Customer 1"])
    }

    @Test("a deletion of the user's that the server accepts, a rejection and a cancelled change change nothing that is seen")
    func unseen() throws {
        let customer = try shop.objects("Customer").load(1), line = try shop.objects("Line").load(20)
        try line.delete()
        try line.submitPending()
        try shop.accept(line.replayPending)
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        try shop.reject(customer.replayPending)
        try customer.cancelPending()
        #expect(try lines().isEmpty)
    }

    @Test("large values and the removal of all rows are logged as well")
    func otherImports() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[5,1,\"Tea\",2.50]]")
        try shop.database.deleteChangeLogs()
        try shop.database.write("import") { try $0.importSession(for: "Product").setLargeValue(nil, of: "picture", key: 5) }
        #expect(try lines() == ["U Product 5 of Product 5"])
        try shop.database.write("reset") { _ = try $0.importSession(for: "Line").removeAll() }
        #expect(try lines() == ["U Customer 1 of Customer 1", "D Line 20 of Customer 1", "U Product 5 of Product 5"])
    }

    @Test("CHL-02 CHL-09: entries are read with a query: its conditions on their attributes, its order, skip and take")
    func queries() async throws {
        try shop.importLine(20, order: 10, number: 1, text: "coffee")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
        try shop.importDeletions("Customer", 2)
        let customer = try shop.objects("Customer").metadata.entityType
        #expect(try lines(Query().where(.equal("entityType", customer))) == ["U Customer 1 of Customer 1", "D Customer 2 of Customer 2"])
        #expect(try lines(Query().where(.equal("entityType", 2))) == ["U Line 20 of Customer 1"])
        #expect(try lines(Query().where(.equal("operationType", "D"))) == ["D Customer 2 of Customer 2"])
        let below: TestCriteria = .equal("rootEntityType", 0) && .equal("c.rootSurrogateKey", 1)
        #expect(try lines(Query().from("ChangeLog", "c").where(below)) == ["U Customer 1 of Customer 1", "U Line 20 of Customer 1"])
        #expect(try lines(Query().sorted(by: .descending("surrogateKey")).skip(1).take(1)) == ["D Customer 2 of Customer 2"])
        #expect(try lines(Query().where(.equal("entityType", 99))).isEmpty)
        #expect(try await shop.database.changeLogs(Query().where(.equal("entity", "Line"))).map(\.surrogateKey) == [20])
        for (query, code) in [
            (Query().where(.equal("colour", 1)), ObjectError.Code.noSuchAttribute), (Query().where(.equal("entityType", "x")), .invalidValue),
            (Query().select("entity"), .invalidQuery), (Query().from("Customer"), .invalidQuery),
            (Query().join("Customer", "c", "c.surrogateKey", "ChangeLog.surrogateKey"), .invalidQuery),
        ] {
            #expect(#expect(throws: ObjectError.self) { try lines(query) }?.code == code)
        }
    }

    @Test("cleaning all data empties the log and leaves it enabled")
    func cleaning() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        try shop.database.cleanAllData()
        #expect(try lines().isEmpty && shop.database.isChangeLogEnabled)
    }
}

extension ChangeLog {
    fileprivate var line: String { "\(operationType.rawValue) \(entity) \(surrogateKey) of \(rootEntity) \(rootSurrogateKey)" }
}
