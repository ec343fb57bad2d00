import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Several changes in one local transaction.
@Suite struct TransactionTests {
    struct Stop: Error {}
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    @Test("TXN-01 TXN-02 TXN-03: what happens inside is committed together, and submitted afterwards or inside")
    func commit() throws {
        let customer = try shop.objects("Customer").load(1), other = try shop.newCustomer("c2")
        try shop.database.transaction {
            try customer.set("city", "Cork")
            try customer.save()
            try other.save()
            // Another reader does not see the change yet; this thread does.
            #expect(try shop.customer(1)?.value("city") == "Cork")
        }
        try customer.submitPending()
        #expect(try shop.count("Customer_os") == 2 && shop.database.outbox.count == 1)
    }

    @Test("TXN-04: what is thrown rolls everything back, in the database and in the objects")
    func rollback() throws {
        let updated = try shop.objects("Customer").load(1), created = try shop.newCustomer("c2")
        let before = updated.stateRow
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try updated.set("city", "Cork")
                try updated.save()
                try updated.submitPending()
                try created.create()
                throw Stop()
            }
        }
        #expect(try !shop.database.hasPendingOperations() && shop.count("Customer") == 1)
        #expect(created.isNew && created.isDirty && created.surrogateKey == 0)
        // The change in memory is unsaved again, as it was before the save.
        #expect(updated.isDirty && updated.stateRow == before.replacing("F F F", with: "F F T", maxReplacements: 1))
        try updated.update()
        #expect(try shop.customer(1)?.value("city") == "Cork")
    }

    @Test("counters go on behind the last one: after a rollback, and when another object of the same file drew some")
    func counters() throws {
        let other = try PackageDatabase(
            model: ShopModel.model, profile: ConnectionProfile(path: shop.database.databasePath), environment: shop.database.environment)
        defer { try? other.close() }
        let customer = try shop.objects("Customer").load(1)
        func change(_ city: String) throws -> Int64 {
            try customer.set("city", .string(city))
            try customer.update()
            return customer.replayCounter
        }
        let first = try change("Cork")
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                #expect(try change("Galway") == first + 1)
                throw Stop()
            }
        }
        // The object, or another one, may have been read with the counter.
        #expect(try change("Sligo") == first + 2)
        let twin = try #require(try other.entity("Customer").find(1))
        try twin.set("city", "Ennis")
        try twin.update()
        #expect(twin.replayCounter == first + 3)
        try customer.refresh()
        #expect(try change("Tralee") == first + 4)
        shop.clock.seconds += 1_000_000
        #expect(try change("Kerry") == shop.clock.seconds)
    }

    @Test func `an object that was read in a transaction which was rolled back is stale after another change of its row`() throws {
        let writer = try shop.objects("Customer").load(1), reader = try shop.objects("Customer").load(1), other = try shop.objects("Customer").load(1)
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try writer.set("city", "never")
                try writer.update()
                try reader.refresh()
                throw Stop()
            }
        }
        try other.set("city", "Cork")
        try other.update()
        try reader.set("name", "Castle Inn")
        #expect(ObjectError.of { try reader.update() }?.code == .stale)
    }

    @Test("no counter is drawn twice, whether its change is pending, was taken back, accepted or cleaned away, and the database closed meanwhile")
    func countersOfChangesThatAreGone() throws {
        let database = shop.database
        func customer() throws -> GenericEntity { try shop.objects("Customer").load(1) }
        func change() throws -> Int64 {
            let customer = try customer()
            try customer.set("city", .string(customer.value("city") == "Cork" ? "Galway" : "Cork"))
            try customer.update()
            return customer.replayCounter
        }
        let first = try change()
        try customer().cancelPending()
        #expect(try change() == first + 1)
        try database.closeConnection()
        #expect(try change() == first + 2)
        try customer().cancelPending()
        try database.closeConnection()
        #expect(try change() == first + 3 && database.settledBelow == first + 4)
        try customer().submitPending()
        try shop.accept(first + 4)
        try database.closeConnection()
        #expect(try database.settledBelow == first + 5)
        #expect(try change() == first + 5)
        try database.cleanAllData()
        try database.closeConnection()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        #expect(try change() == first + 6)
        let created = try shop.newCustomer("c2")
        try created.create()
        #expect(created.replayCounter == first + 7)
        try created.delete()
        try customer().cancelPending()
        #expect(try change() == first + 8)
        let note = try shop.new("Note", ["title": "shopping", "body": "tea"])
        try note.create()
        try database.closeConnection()
        #expect(try change() == first + 10)
    }

    @Test("a rolled back delete and cancel leave the object as it was")
    func rollbackDelete() throws {
        let customer = try shop.objects("Customer").load(1)
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try customer.delete()
                throw Stop()
            }
        }
        #expect(!customer.isDeleted && !customer.isPending)
        try customer.refresh()
        #expect(customer.name == "Harbour Foods")
    }

    @Test("closing inside of a transaction is refused, and nothing is closed")
    func close() throws {
        let customer = try shop.newCustomer("c2")
        try shop.database.transaction {
            try customer.create()
            #expect(throws: ObjectError.self) { try shop.database.closeConnection() }
        }
        #expect(try shop.count("Customer") == 2)
    }

    @Test("a nested transaction that fails is undone alone")
    func nested() throws {
        let outer = try shop.newCustomer("c2"), inner = try shop.newCustomer("c3")
        try shop.database.transaction {
            try outer.create()
            #expect(throws: Stop.self) {
                try shop.database.transaction {
                    try inner.create()
                    throw Stop()
                }
            }
        }
        #expect(!outer.isNew && inner.isNew)
        #expect(try shop.count("Customer") == 2)
    }

    @Test("a task that is started inside of a transaction does not join it")
    func task() async throws {
        let database = shop.database
        var task: Task<Bool, any Error>?
        try startTask(database) { task = $0 }
        #expect(try await task?.value == true)
    }

    private func startTask(_ database: PackageDatabase, _ started: (Task<Bool, any Error>) -> Void) throws {
        try database.transaction {
            started(
                Task {
                    // Its write waits for the writer, and begins a transaction of its own.
                    try await database.write("task") { _ in true }
                })
        }
    }
}

/// Objects that go to the thread of a transaction and back.
@Suite struct HandedOverTransactionTests {
    private let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
    }

    /// Makes objects to which nothing else refers.
    private static func customers(in database: PackageDatabase) throws -> [GenericEntity] {
        var customers: [GenericEntity] = []
        for number in 2...4 {
            let customer = try GenericEntity("Customer", in: database)
            try customer.set("id", .string("c\(number)"))
            try customer.set("name", "Harbour Foods")
            customers.append(customer)
        }
        return customers
    }

    @Test func `objects are changed in the transaction, and come back with their state`() async throws {
        let found = try await shop.objects("Customer").load(1)
        let customer = try await shop.database.transaction(with: found) { customer in
            try customer.set("city", "Cork")
            try customer.save()
            try customer.submitPending()
            return customer
        }
        #expect(try customer.state == .submitted && shop.database.outbox.count == 1)
        let (name, city) = try await shop.database.transaction(with: customer) { (try $0.value("name"), try $0.value("city")) }
        #expect(name == "Harbour Foods" && city == "Cork")
    }

    @Test func `several objects go as a list, and a failure leaves their rows as they were`() async throws {
        let new = try Self.customers(in: shop.database)
        var error: ObjectError?
        do {
            try await shop.database.transaction(with: new) { customers in
                for customer in customers { try customer.create() }
                try customers[0].create()
            }
        } catch let failure as ObjectError { error = failure }
        #expect(error?.code == .alreadySaved)
        #expect(try shop.count("Customer") == 1)
        let others = try Self.customers(in: shop.database)
        let saved = try await shop.database.transaction(with: others) { customers in
            for customer in customers { try customer.create() }
            return customers
        }
        #expect(saved.allSatisfy { $0.state == .pending })
        #expect(try shop.count("Customer") == 4)
    }
}
