import Foundation
import MobileObjects
import MobileStore
import Testing

/// The async twins, from an actor: objects stay in its isolation, and work waits without a thread.
private actor Desk {
    let database: PackageDatabase
    private var customer: GenericEntity?

    init(_ database: PackageDatabase) { self.database = database }

    func run() async throws -> [String] {
        let customer = try GenericEntity("Customer", in: database)
        try customer.setValue("c1", "id")
        try customer.setValue("Harbour Foods", "name")
        let order = try GenericEntity("SalesOrder", in: database)
        customer.orders.append(order)
        var states: [String] = []
        try await customer.save()
        states.append("\(customer.pendingChange.letter)\(order.pendingChange.letter)")
        try await customer.submitPending()
        states.append("\(customer.state) \(order.state)")
        try await customer.cancelPending()
        states.append("\(customer.state)")
        self.customer = customer
        return states
    }

    /// Changes an object while its save is under way, as another task of the same actor may.
    func changeWhileSaving() async throws -> (isDirty: Bool, saved: AttributeValue) {
        let customer = try GenericEntity("Customer", in: database)
        self.customer = customer
        try customer.setValue("c2", "id")
        try customer.setValue("before", "name")
        let change = Task { try self.change() }
        try await customer.save()
        try await change.value
        let dirty = customer.isDirty
        let saved = try await database.entity("Customer").load(customer.surrogateKey).value("name")
        return (dirty, saved)
    }

    private func change() throws { try customer?.setValue("after", "name") }
}

@Suite struct AsyncTests {
    @Test("the async twins of save, submit and cancel do what the blocking forms do")
    func twins() async throws {
        let shop = try Shop()
        let states = try await Desk(shop.database).run()
        #expect(states == ["CC", "submitted submitted", "new"])
        #expect(try shop.outboxLines() == ["C Customer 1000", "C SalesOrder 1001"])
    }

    @Test("a change that is made while a save is under way is not lost: it is unsaved afterwards, or was saved along")
    func changeWhileSaving() async throws {
        let shop = try Shop()
        let (isDirty, saved) = try await Desk(shop.database).changeWhileSaving()
        #expect(isDirty ? saved == "before" : saved == "after")
    }

    @Test("a failed async save leaves the object as it was")
    func failure() async throws {
        let shop = try Shop(grantingKeys: false)
        try await shop.newCustomer("c1").create()
        let customer = try shop.newCustomer("c1")
        await #expect(throws: ObjectError.self) { try await customer.save() }
        #expect(customer.isNew && customer.isDirty)
    }

    @Test("many tasks write at once, each change is there once, and every key differs")
    func manyTasks() async throws {
        let shop = try Shop()
        let database = shop.database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let customer = try GenericEntity("Customer", in: database)
                    try customer.setValue(.string("c\(number)"), "id")
                    try await customer.save()
                    try await customer.submitPending()
                }
            }
            try await group.waitForAll()
        }
        let outbox = try shop.database.outbox
        #expect(try shop.count("Customer") == 50 && outbox.count == 50)
        #expect(Set(outbox.map(\.surrogateKey)).count == 50)
    }
}
