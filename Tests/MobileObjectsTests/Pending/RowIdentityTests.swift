import MobileStore
import Testing

@testable @_spi(GeneratedCode) import MobileObjects

/// Rows that come under other surrogate keys than the device's pending rows with the same modelled keys have: after an upgrade, a lost state of the server,
/// and where another device created the row, too.
@Suite struct RowIdentityTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Quay Stores")
        try shop.importOrder(11, number: 5, customer: 1)
    }

    /// Sends all rows of an object again, under other keys.
    private func reset(_ name: String, _ columns: [String], _ json: String) throws {
        try shop.database.write("reset") { transaction in
            let session = try transaction.importSession(for: name)
            _ = try session.removeAll()
            let rows = try session.rows(["_sk"] + columns)
            try rows.push([UInt8](json.utf8))
            try rows.finish()
        }
    }

    private func resetCustomers() throws {
        try reset("Customer", ["id", "name", "city", "credit"], #"[[71,"c1","Harbour Foods","Galway",1],[72,"c2","Quay Stores","Dublin",1]]"#)
    }

    private func changed(_ key: Int64) throws -> GenericEntity {
        let customer = try #require(try shop.customer(key))
        try customer.set("name", "Harbour")
        try customer.update()
        return customer
    }

    @Test("a pending update takes the key under which its row comes; its operation, log records and objects in memory follow")
    func update() throws {
        let customer = try changed(1)
        try customer.submitPending()
        var record = customer.newLogRecord(level: .warn, message: "call back")
        try record.save()
        try resetCustomers()
        #expect(try shop.count("Customer") == 2 && shop.count("Customer_os") == 1)
        let row = try #require(try shop.customer(71))
        #expect(row.name == "Harbour" && row.pendingChange == .update)
        #expect(try shop.outboxLines() == ["U Customer 71"])
        #expect(try shop.customer(1)?.surrogateKey == 71 && shop.database.logRecords().map(\.entityKey) == ["71"])
        #expect(throws: ObjectError.self) { try customer.delete() }
        try customer.refresh()
        #expect(customer.surrogateKey == 71)
        try customer.cancelPending()
        #expect(customer.name == "Harbour Foods" && customer.city == "Galway")
    }

    @Test("a row that was deleted here stays so, and its delete is that of the row that came")
    func delete() throws {
        try #require(try shop.customer(2)).delete()
        try resetCustomers()
        #expect(try shop.count("Customer") == 1)
        try shop.database.submitPendingOperations()
        #expect(try shop.outboxLines() == ["D Customer 72"])
        try shop.database.cancelPendingOperations(of: shop.objects("Customer").metadata)
        #expect(try shop.customer(72)?.name == "Quay Stores")
    }

    @Test("a new row has what another device created as the server's version; when that is gone, it is new again, under a key of its own")
    func create() throws {
        let customer = try shop.newCustomer("c9", name: "Pier")
        try customer.create()
        let own = customer.surrogateKey
        try shop.importCustomer(80, id: "c9", name: "Elsewhere")
        #expect(try shop.count("Customer") == 3)
        let row = try #require(try shop.customer(own))
        #expect(row.surrogateKey == 80 && row.name == "Pier" && row.pendingChange == .create)
        try shop.importDeletions("Customer", 80)
        let free = try #require(try shop.customer(own))
        #expect(free.surrogateKey != 80 && free.name == "Pier" && free.pendingChange == .create)
        #expect(try shop.value("SELECT \"_sv\" FROM \"Customer_os\"") == .integer(0))
        try shop.importCustomer(81, id: "c9", name: "Again elsewhere")
        try shop.database.cancelPendingOperations()
        #expect(try shop.customer(81)?.name == "Again elsewhere" && shop.count("Customer") == 3)
    }

    @Test("a new row that the server has taken and that has left the device's partitions is not created once more")
    func takenAndGone() throws {
        let own = try shop.newCustomer("c9")
        try own.create()
        try own.submitPending()
        let create = own.replayPending
        try own.set("city", "Cork")
        try own.update()
        try own.submitPending()
        try shop.accept(create)
        try shop.reject(own.replayPending)
        try shop.importDeletions("Customer", own.surrogateKey)
        try own.refresh()
        try own.set("city", "Cobh")
        try own.update()
        try own.submitPending()
        #expect(try shop.database.outbox.map(\.change) == [.update])
    }

    @Test("pending rows and operations refer to a parent under its new key, although the parent itself had no change")
    func parent() throws {
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        try order.submitPending()
        try resetCustomers()
        let parent: GenericEntity? = try shop.objects("SalesOrder").load(11).parent(0)
        #expect(parent?.surrogateKey == 71 && parent?.pendingChange == .parent)
        #expect(try shop.database.outbox.first?.references["customer"] == .integer(71))
    }

    @Test("a number that the back end has given to another row is not the pending row, but where all rows are sent again")
    func generated() throws {
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        try shop.importDeletions("SalesOrder", 11)
        let number = try shop.value("SELECT \"number\" FROM \"SalesOrder\" WHERE \"_sk\" = 11")
        try shop.importOrder(12, number: 5, customer: 2)
        // No two rows have one key: the pending one, which the server has deleted, is without.
        #expect(try shop.count("SalesOrder") == 2 && number == .integer(5))
        #expect(try shop.value("SELECT \"number\" FROM \"SalesOrder\" WHERE \"_sk\" = 11") == .null)
        #expect(try shop.objects("SalesOrder").load(11).pendingChange == .update)
        try shop.importDeletions("SalesOrder", 12)
        try shop.importOrder(11, number: 5, customer: 1)
        #expect(try shop.value("SELECT \"number\" FROM \"SalesOrder\" WHERE \"_sk\" = 11") == .integer(5))
        try reset("SalesOrder", ["number", "customerId", "status", "_ref_customer"], #"[[31,5,"c1","NEW",1]]"#)
        #expect(try shop.count("SalesOrder") == 1)
        #expect(try shop.objects("SalesOrder").load(31).pendingChange == .update)
    }

    @Test("a row without its number is not the one that has the number now, also where all rows are sent again")
    func withoutNumber() throws {
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        try shop.importDeletions("SalesOrder", 11)
        try shop.importOrder(12, number: 5, customer: 2)
        try reset("SalesOrder", ["number", "customerId", "status", "_ref_customer"], #"[[31,5,"c2","NEW",2]]"#)
        #expect(try shop.count("SalesOrder") == 2 && shop.objects("SalesOrder").load(31).pendingChange == .none)
        try shop.database.cancelPendingOperations()
        #expect(try shop.count("SalesOrder") == 1)
    }

    @Test("large values of the row that comes are its server's version; a value that is pending here stays")
    func largeValues() throws {
        try shop.importRows("Product", ["id", "name", "price"], #"[[40,7,"Tea",2]]"#)
        try shop.importPicture([1, 2, 3], key: 40)
        let product = try shop.objects("Product").load(40)
        try product.write("Pour water.", "manual")
        try product.update()
        let picture = try {
            let writer = try LargeValueWriter(in: shop.database.store, unit: .bytes)
            try writer.write([4, 5])
            return try writer.finish()
        }()
        try shop.database.write("reset") { transaction in
            let session = try transaction.importSession(for: "Product")
            _ = try session.removeAll()
            let rows = try session.rows(["_sk", "id", "name", "price"])
            try rows.push([UInt8](#"[[90,7,"Tea",2]]"#.utf8))
            try rows.finish()
            try session.setLargeValue(picture, of: "picture", key: 90)
        }
        let row = try shop.objects("Product").load(90)
        #expect(try shop.picture(of: row) == [4, 5] && row.pendingChange == .update)
        #expect(try shop.count("_mc_value") == 2)
        try row.cancelPending()
        #expect(try shop.picture(of: row) == [4, 5] && shop.count("_mc_value") == 1)
    }

    private struct Broken: Error {}

    @Test("an import that breaks off after it has found rows again leaves everything as it was, and the next one does all of it")
    func rolledBack() throws {
        let customer = try changed(1)
        try customer.submitPending()
        let order = try shop.objects("SalesOrder").load(11)
        try order.set("status", "PAID")
        try order.update()
        func tables() throws -> [String] {
            try ["Customer", "Customer_os", "SalesOrder", "_outbox"].flatMap { table in
                try shop.database.read { try $0.rows("SELECT * FROM \"\(table)\" ORDER BY 1") }.map { "\(table) \($0)" }
            }
        }
        let before = try tables()
        #expect(throws: Broken.self) {
            try shop.database.write("reset") { transaction in
                let session = try transaction.importSession(for: "Customer")
                _ = try session.removeAll()
                let rows = try session.rows(["_sk", "id", "name", "credit"])
                try rows.push([UInt8](#"[[71,"c1","Harbour Foods",1]]"#.utf8))
                try rows.finish()
                try transaction.close()
                throw Broken()
            }
        }
        #expect(try tables() == before && shop.customer(1)?.name == "Harbour")
        try resetCustomers()
        #expect(try shop.outboxLines() == ["U Customer 71"] && shop.customer(71)?.name == "Harbour")
    }

    @Test("thousands of pending rows find theirs, and rows that are not sent are known by those that refer to them")
    func many() throws {
        let count = 3000
        try shop.database.write("import") { transaction in
            let rows = try transaction.importSession(for: "Customer").rows(["_sk", "id", "name", "credit"])
            try rows.push([UInt8](("[" + (100..<100 + count).map { "[\($0),\"k\($0)\",\"Before\",1]" }.joined(separator: ",") + "]").utf8))
            try rows.finish()
        }
        try shop.database.write("update all") { transaction in
            for customer in try shop.objects("Customer").findAll() {
                try customer.set("name", "Mine")
                try customer.update()
            }
        }
        let pending = try shop.count("Customer_os")
        // The first half comes again; orders of the others come alone, in a download that has all rows of both objects.
        try shop.database.write("reset") { transaction in
            let customers = try transaction.importSession(for: "Customer"), orders = try transaction.importSession(for: "SalesOrder")
            _ = try (customers.removeAll(), orders.removeAll())
            let rows = try customers.rows(["_sk", "id", "name", "credit"])
            try rows.push([UInt8](("[" + (100..<100 + count / 2).map { "[\($0 + 500_000),\"k\($0)\",\"Now\",1]" }.joined(separator: ",") + "]").utf8))
            try rows.finish()
            let children = try orders.rows(["_sk", "number", "customerId", "status", "_ref_customer"])
            let texts = (100 + count / 2..<100 + count).map { "[\($0 + 900_000),\($0),\"k\($0)\",\"NEW\",\($0 + 500_000)]" }
            try children.push([UInt8](("[" + texts.joined(separator: ",") + "]").utf8))
            try children.finish()
        }
        #expect(try shop.count("Customer") == pending && shop.count("Customer_os") == pending)
        #expect(try shop.value("SELECT count(*) FROM \"Customer\" WHERE \"_sk\" > 500000 AND \"name\" = 'Mine'") == .integer(Int64(count)))
        let last: GenericEntity? = try shop.objects("SalesOrder").load(900_000 + 99 + Int64(count)).parent(0)
        #expect(last?.name == "Mine")
    }

    @Test("the change log has no entry of a row that is pending here, and those of removed rows")
    func changeLog() throws {
        try shop.database.enableChangeLog()
        _ = try changed(1)
        try resetCustomers()
        let entries = try shop.database.takeChangeLogs().map { "\($0.operationType) \($0.entity) \($0.surrogateKey)" }
        #expect(Set(entries) == ["delete Customer 2", "update Customer 72"])
    }
}
