import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// The database of a package as a file, and several of them at once.
@Suite struct PackageDatabaseTests {
    @Test("DBL-01 DBL-03 DBL-02 DBL-07: a database is created, exists, and is deleted with all of its files")
    func lifeCycle() throws {
        let shop = try Shop()
        let database = shop.database
        #expect(database.databaseExists && database.databasePath == shop.directory.appending(path: "shop.db").path)
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try database.deleteDatabase()
        #expect(!database.databaseExists)
        #expect(try FileManager.default.contentsOfDirectory(atPath: shop.directory.path).isEmpty)
        try database.createDatabase()
        #expect(try database.databaseExists && shop.count("Customer") == 0)
    }

    @Test("DBL-04 DBL-05 DBL-06: an operation opens a closed database again, with everything in it")
    func reopen() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        try customer.create()
        try customer.submitPending()
        try shop.database.closeConnection()
        try customer.refresh()
        #expect(try customer.state == .submitted && shop.database.outbox.count == 1)
    }

    @Test("DBP-01 DBP-03 DBP-04: settings take effect when the database is opened next; the page size of a file wins")
    func settings() throws {
        let shop = try Shop()
        let pageSize = try shop.database.store.settings.pageSize
        let cacheSize = try shop.database.store.settings.cacheSize
        shop.database.connectionProfile.cacheSize = .kilobytes(3072)
        shop.database.connectionProfile.pageSize = 16_384
        #expect(try shop.database.store.settings.cacheSize == cacheSize)
        try shop.database.closeConnection()
        #expect(try shop.database.store.settings.cacheSize == .kilobytes(3072))
        #expect(try shop.database.store.settings.pageSize == pageSize)
    }

    @Test("ARC: two databases in one process know nothing of each other")
    func twoDatabases() throws {
        let first = try Shop(), second = try Shop()
        try first.newCustomer("c1").create()
        try first.database.submitPendingOperations()
        #expect(try !second.database.hasPendingOperations() && second.count("Customer") == 0)
        #expect(try first.database.clientID != second.database.clientID)
        let foreign = try first.newCustomer("c2")
        let order = try second.new("SalesOrder", [:])
        foreign.orders.append(order)
        #expect(#expect(throws: ObjectError.self) { try foreign.save() }?.code == .misuse)
        #expect(try first.count("Customer") == 1)
    }

    @Test("a database of another package, an older model or a newer release is refused, and left as it is")
    func foreignFiles() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.database.closeConnection()
        let profile = shop.database.connectionProfile
        var other = ShopModel.model
        other.name = "Other"
        #expect(#expect(throws: ObjectError.self) { _ = try PackageDatabase(model: other, profile: profile) }?.code == .version)
        other = ShopModel.model
        other.version = "0.9"
        let error = #expect(throws: ObjectError.self) { _ = try PackageDatabase(model: other, profile: profile) }
        #expect(error?.code == .version && error?.message.contains("version 0.9 is older than the database's, 1.0") == true)
        try shop.database.store.write { try $0.execute("PRAGMA user_version = 99") }
        try shop.database.closeConnection()
        #expect(#expect(throws: ObjectError.self) { try shop.database.openConnection() }?.code == .version)
        let store = try Database(profile)
        #expect(try store.read { try $0.first("SELECT count(*) FROM \"Customer\"")?.first } == .integer(1))
        try store.close()
    }

    @Test("a file that holds other tables is not taken for ours")
    func strangeFile() throws {
        let shop = try Shop()
        let profile = ConnectionProfile(path: shop.directory.appending(path: "strange.db").path)
        let store = try Database(profile)
        try store.write { try $0.execute("CREATE TABLE diary (day TEXT)") }
        try store.close()
        #expect(#expect(throws: ObjectError.self) { _ = try PackageDatabase(model: ShopModel.model, profile: profile) }?.code == .version)
    }

    @Test("DBL-13: cleanAllData empties the client data; keys, personalization and local objects stay")
    func cleanAllData() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let customer = try shop.newCustomer("c2")
        try customer.create()
        try customer.submitPending()
        try shop.new("Note", ["title": "kept"]).create()
        try shop.database.write("subscribe") { transaction in
            try transaction.setSubscribed(true)
            try transaction.setToken("t1", ofGroup: "default")
        }
        try shop.database.cleanAllData()
        #expect(try shop.count("Customer") == 0 && !shop.database.hasPendingOperations())
        #expect(try !shop.database.isSubscribedLocally && shop.database.token(ofGroup: "default") == nil)
        #expect(try shop.count("Note") == 1 && shop.database.keyGenerator.keysLeft > 0)
    }

    @Test("tokens of groups are written in the transaction of their rows")
    func tokens() throws {
        struct Stop: Error {}
        let shop = try Shop()
        #expect(try shop.database.token(ofGroup: "default") == nil && shop.database.lastSynchronization(ofGroup: "default") == nil)
        #expect(throws: Stop.self) {
            try shop.database.write("import") { transaction in
                try transaction.setToken("t1", ofGroup: "default")
                throw Stop()
            }
        }
        #expect(try shop.database.token(ofGroup: "default") == nil)
        try shop.database.write("import") { try $0.setToken("t2", ofGroup: "default") }
        #expect(try shop.database.token(ofGroup: "default") == "t2")
        #expect(try shop.database.lastSynchronization(ofGroup: "default") == Date(timeIntervalSince1970: 1_000_000))
    }

    @Test("the ids below the oldest waiting operation are settled")
    func settledBelow() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        try customer.create()
        try customer.submitPending()
        #expect(try shop.database.settledBelow == customer.replayPending)
        try shop.accept(customer.replayPending)
        #expect(try shop.database.settledBelow == customer.replayPending + 1)
    }
}
