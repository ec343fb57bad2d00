import MobileObjects
import SampleCRM
import Testing

/// The examples in the comments of methods that change all found objects, and of `observe()` of an object, are the code between the marks below, and they run.
@Suite struct BatchExampleTests {
    private let example: ExampleCRM
    private let crm: CRM

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
    }

    private func print(_ value: Any) { example.add(value) }

    @Test func `updates`() throws {
        do {
            // Example: EntityQuery.update(in:_:)
            let moved = try Customer.where(\.city == "Cork").update(in: crm) { $0.city = "Dublin" }
            print("\(moved) customers have moved")
            // Example: end
        }
        do {
            // Example: EntitySet.update(_:)
            let inDublin = crm.customers.where(\.city == "Dublin")
            try inDublin.update { $0.city = "Galway" }
            // Example: end
        }
        let customers = try crm.entity("Customer")
        do {
            // Example: EntityClass.update(_:_:)
            let inGalway = Query().where(.equal("city", "Galway"))
            try customers.update(inGalway) { try $0.setValue("Cork", "city") }
            // Example: end
        }
        #expect(example.take() == ["2 customers have moved"])
        #expect(try crm.customers.where(\.city == "Cork").count() == 3)
    }

    @Test func `submits`() throws {
        try crm.customers.update { $0.city = "Cork" }
        do {
            // Example: EntityQuery.submit(in:)
            let submitted = try Customer.where(\.name == "Castle Inn").submit(in: crm)
            print("\(submitted) changes are on their way")
            // Example: end
        }
        do {
            // Example: EntitySet.submit()
            let mills = crm.customers.where { $0.name.contains("Mill") }
            try mills.submit()
            // Example: end
        }
        #expect(try crm.outbox.count == 2)
        let customers = try crm.entity("Customer")
        do {
            // Example: EntityClass.submit(_:)
            let inCork = Query().where(.equal("city", "Cork"))
            try customers.submit(inCork)
            // Example: end
        }
        #expect(try example.take() == ["1 changes are on their way"] && crm.outbox.count == 3)
    }

    @Test func `deletes`() throws {
        do {
            // Example: EntityQuery.delete(in:)
            let deleted = try Customer.where(\.name == "Castle Inn").delete(in: crm)
            print("\(deleted) customers are gone")
            // Example: end
        }
        do {
            // Example: EntitySet.delete()
            let mills = crm.customers.where { $0.name.contains("Mill") }
            try mills.delete()
            // Example: end
        }
        #expect(try crm.customers.count() == 1)
        let customers = try crm.entity("Customer")
        do {
            // Example: EntityClass.delete(_:)
            let inDublin = Query().where(.equal("city", "Dublin"))
            try customers.delete(inDublin)
            // Example: end
        }
        #expect(try example.take() == ["1 customers are gone"] && crm.customers.isEmpty())
    }

    private func generic(_ customer: GenericEntity) async throws {
        // Example: GenericEntity.observe()
        for try await snapshot in try customer.observe() {
            try print(snapshot.first?.value("city") ?? "deleted")
            break  // ends the observation
        }
        // Example: end
    }

    @Test func `one object`() async throws {
        let found = try await Customer.where(\.name == "Harbour Foods").first(in: crm)
        let customer = try #require(found)
        // Example: ModelledEntity.observe()
        for try await snapshot in try customer.observe() {
            print(snapshot.first?.city ?? "deleted")
            break  // ends the observation
        }
        // Example: end
        #expect(example.take() == ["Dublin"])
        try await generic(crm.entity("Customer").load(customer.surrogateKey))
        #expect(example.take() == ["Dublin"])
    }
}
