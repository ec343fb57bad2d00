import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// Objects, relationships and indexes that a newer model adds or removes, and all data that is kept in addition to the rows.
@Suite struct ObjectUpgradeTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    private static let withoutProducts = shopModel { model in
        model.objects.removeAll { $0.name == "Product" }
        model.object("Customer") { $0.relationships.removeAll { $0.name == "favourite" } }
    }

    @Test("an object is added, empty; the others stay, and work")
    func added() throws {
        let customer = try shop.newCustomer("c2")
        try customer.create()
        let database = try shop.upgraded(
            to: shopModel { model in
                model.objects.insert(
                    ObjectModel(
                        name: "Region", attributes: [AttributeModel(name: "id", type: .string)], primaryKey: ["id"], operations: OperationModel.plain),
                    at: 0)
            })
        #expect(try database.value("SELECT count(*) FROM Region") == .integer(0))
        let upgraded = try database.load("Customer", customer.surrogateKey)
        #expect(upgraded.stateRow == customer.stateRow)
        try upgraded.submitPending()
        try database.accept(upgraded.replayPending)
        #expect(try database.load("Customer", customer.surrogateKey).pendingChange == .none)
        let region = try GenericEntity("Region", in: database)
        try region.setValue("north", "id")
        try region.create()
        #expect(region.surrogateKey == customer.surrogateKey + 1)
    }

    @Test("an object without changes that wait is removed with its rows, its subscriptions and its large values")
    func removed() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50]]")
        let tea = try shop.objects("Product").load(1)
        try tea.write([1, 2, 3], "picture")
        try tea.update()
        try tea.submitPending()
        let error = try #require(try shop.refusal(of: Self.withoutProducts))
        #expect(error.code == .version)
        #expect(error.message.contains("Product: it is removed, but 1 pending changes and 1 submitted operations of it wait for the server"))
        try shop.accept(tea.replayPending)
        let database = try shop.upgraded(to: Self.withoutProducts)
        #expect(try database.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'Product%'") == .integer(0))
        #expect(try database.value("SELECT count(*) FROM _mc_value WHERE state = 1") == .integer(0))
    }

    @Test("an object that was renamed keeps its rows and everything that names it")
    func renamed() throws {
        let customer = try shop.newCustomer("c2")
        try customer.save()
        try customer.submitPending()
        var record = customer.newLogRecord(level: .warn, message: "call back")
        try record.save()
        try shop.database.addSubscription(["region": "NORTH"], to: shop.objects("Customer").metadata)
        try shop.database.enableChangeLog()
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        let model = shopModel { model in
            model.object("Customer") { customer in
                (customer.name, customer.was, customer.queries) = ("Client", "Customer", [])
            }
            model.object("SalesOrder") { $0.relationships[0].target = "Client" }
        }
        let database = try shop.upgraded(to: model)
        let upgraded = try database.load("Client", customer.surrogateKey)
        #expect(upgraded.stateRow == customer.stateRow)
        #expect(try upgraded.logRecords().map(\.message) == ["call back"])
        #expect(try database.subscriptions(of: upgraded.metadata).map(\.parameters) == [["region": "NORTH"]])
        #expect(try database.changeLogs().map(\.entity) == ["Client"])
        #expect(try database.outbox.map(\.entity) == ["Client"])
        try database.accept(upgraded.replayPending)
        #expect(try database.load("Client", customer.surrogateKey).pendingChange == .none)
    }

    @Test("a new relationship finds its rows by their values, and a new composite parent is marked")
    func relationshipAdded() throws {
        let loose = shopModel { model in
            model.object("Customer") { $0.relationships.removeAll { $0.name == "orders" } }
            model.object("SalesOrder") { $0.relationships.removeAll { $0.name == "customer" } }
        }
        let before = try Shop(loose)
        try before.importCustomer(1, id: "c1", name: "Harbour Foods")
        try before.importRows("SalesOrder", ["number", "customerId", "status"], "[[7,7,\"c1\",\"NEW\"],[8,8,\"c9\",\"NEW\"]]")
        let order = try before.objects("SalesOrder").load(7)
        try order.set("status", "OPEN")
        try order.update()
        #expect(try before.customer(1)?.pendingChange == PendingChange.none)
        let database = try before.upgraded(to: ShopModel.model)
        let customer = try database.load("Customer", 1)
        #expect(customer.pendingChange == .parent && customer.orders.map(\.surrogateKey) == [7])
        try customer.cancelPending()
        #expect(try database.load("SalesOrder", 7).value("status") == "NEW")
        #expect(try database.load("Customer", 1).pendingChange == .none)
    }

    @Test("a relationship is removed where no change of it waits; parents lose their marks")
    func relationshipRemoved() throws {
        try shop.importOrder(7, number: 7, customer: 1)
        let order = try shop.objects("SalesOrder").load(7)
        try order.set("status", "OPEN")
        try order.update()
        #expect(try shop.customer(1)?.pendingChange == .parent)
        let loose = shopModel { model in
            model.object("Customer") { $0.relationships.removeAll { $0.name == "orders" } }
            model.object("SalesOrder") { $0.relationships.removeAll { $0.name == "customer" } }
        }
        let customer = try shop.objects("Customer").load(1)
        let new = try shop.newOrder(of: customer)
        try new.save()
        let error = try #require(try shop.refusal(of: loose))
        #expect(error.message.contains("SalesOrder.customer: the relationship is removed, but 1 pending changes"))
        try new.delete()
        let database = try shop.upgraded(to: loose)
        #expect(try database.load("Customer", 1).pendingChange == .none && database.load("SalesOrder", 7).pendingChange == .update)
    }

    @Test("keys, settings, log, personalization and what is synchronized are kept; groups that lack values begin again")
    func bookkeeping() throws {
        let database = shop.database
        try database.write("groups") { transaction in
            try transaction.setSubscribed(true)
            try transaction.setToken("t1", ofGroup: "default")
            try transaction.setToken("t2", ofGroup: "catalog")
        }
        var personalization = database.personalization
        try personalization.setValue("SOUTH", "region")
        try personalization.save()
        var record = database.newLogRecord(level: .info, message: "kept")
        try record.save()
        try database.enableChangeLog()
        let keysLeft = try database.keyGenerator.keysLeft, client = try database.clientID, local = try database.localKeyGenerator.generateID()
        let upgraded = try shop.upgraded(
            to: shopModel { $0.object("Customer") { $0.attributes.append(AttributeModel(name: "phone", type: .string, isNullable: true)) } })
        #expect(try upgraded.isSubscribedLocally && upgraded.isChangeLogEnabled && upgraded.clientID == client)
        #expect(try upgraded.keyGenerator.keysLeft == keysLeft && upgraded.localKeyGenerator.generateID() == local + 1)
        #expect(try upgraded.personalization.value("region") == "SOUTH" && upgraded.logRecords().map(\.message) == ["kept"])
        #expect(try upgraded.token(ofGroup: "default") == nil && upgraded.token(ofGroup: "catalog") == "t2")
        #expect(try upgraded.lastSynchronization(ofGroup: "default") != nil)
    }

    @Test("a newer version of the package begins all groups again")
    func newerVersion() throws {
        try shop.database.write("groups") { try $0.setToken("t2", ofGroup: "catalog") }
        let upgraded = try shop.upgraded(to: shopModel { $0.version = "1.10" })
        #expect(try upgraded.token(ofGroup: "catalog") == nil)
        try upgraded.close()
        let error = #expect(throws: ObjectError.self) { try shop.upgraded(to: shopModel { $0.version = "1.9" }) }
        #expect(error?.code == .version && error?.message.contains("version 1.9 is older than the database's, 1.10") == true)
    }

    @Test("parameter sets follow their model; sets that are equal then are one")
    func subscriptions() throws {
        let two = shopModel { model in
            model.object("Customer") { $0.synchronizationParameters.append(ParameterModel(name: "year", type: .int)) }
        }
        let before = try Shop(two)
        for year in [2025, 2026] {
            try before.database.addSubscription(["region": "NORTH", "year": .integer(Int64(year))], to: before.objects("Customer").metadata)
        }
        let database = try before.upgraded(to: ShopModel.model)
        #expect(try database.subscriptions(of: database.entity("Customer").metadata).map(\.parameters) == [["region": "NORTH"]])
    }

    @Test("indexes of the application's own stay with the attributes that they are made of")
    func indexes() throws {
        let customer = try shop.objects("Customer").metadata
        for (name, attribute) in [("byName", "name"), ("byCity", "city"), ("bySince", "since")] {
            try shop.database.createIndex(IndexMetadata(name: name, attributes: [try customer.attribute(named: attribute)]), on: customer)
        }
        let database = try shop.upgraded(
            to: shopModel { model in
                model.object("Customer") { customer in
                    customer.attributes[1].name = "title"
                    customer.attributes[1].was = "name"
                    customer.attributes.removeAll { $0.name == "since" }
                    customer.queries = []
                }
                model.attribute("Customer", "city") { $0.type = .bigString }
            })
        let own = try database.indexes(of: database.entity("Customer").metadata).filter { !$0.isModelled }
        #expect(own.map(\.name) == ["byName"] && own.first?.attributes.map(\.name) == ["title"])
    }
}
