import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import Testing

/// The examples in the comments of `Entity` and of the protocols of generated classes are the code between the marks below, and they run.
@Suite struct EntityExampleTests {
    private let example: ExampleCRM
    private let crm: CRM
    private let customer: Customer
    private let order: SalesOrder

    init() throws {
        example = try ExampleCRM()
        crm = example.crm
        customer = try Customer.load(1, in: crm)
        order = try SalesOrder.load(11, in: crm)
    }

    private func print(_ value: Any) { example.add(value) }

    // MARK: Saving

    @Test func `new objects`() throws {
        do {
            // Example: ModelledEntity.init(in:)
            let customer = Customer(in: crm)
            customer.name = "Quay Books"
            print(customer.isNew)  // true until `create()` or `save()`
            // Example: end
            #expect(example.take() == ["true"])
        }
        do {
            // Example: Entity.create()
            let customer = Customer(in: crm)
            customer.name = "Quay Books"
            customer.city = "Galway"
            customer.since = LocalDate(Date())  // today
            try customer.create()
            // Example: end
            #expect(!customer.isNew && customer.isCreated && customer.surrogateKey == 1000)
        }
        do {
            // Example: GenericEntity.init(_:in:)
            let customer = try GenericEntity("Customer", in: crm)
            try customer.setValue("Bridge Street Café", "name")
            try customer.setValue(.date(LocalDate(Date())), "since")  // today
            try customer.save()
            // Example: end
            #expect(try Customer.load(customer.surrogateKey, in: crm).name == "Bridge Street Café")
        }
        do {
            // Example: ModelledEntity.init(from:configuration:)
            let data = Data(#"{"name": "Station Hotel", "city": "Galway", "since": "2026-11-23"}"#.utf8)
            let customer = try JSONDecoder().decode(Customer.self, from: data, configuration: crm)
            try customer.create()
            // Example: end
            #expect(try Customer.findByCity(city: "Galway", in: crm).map(\.name) == ["Quay Books", "Station Hotel"])
        }
        do {
            // Example: Entity.copyAll(_:)
            let copy = Customer(in: crm)
            try copy.copyAll(customer)
            copy.name = "Harbour Foods, second shop"
            try copy.create()
            // Example: end
            #expect(copy.surrogateKey != customer.surrogateKey && copy.city == "Dublin" && copy.creditLimit == 1500)
        }
    }

    @Test func `changed objects`() throws {
        do {
            // Example: Entity.update()
            if let customer = try Customer.findByName(name: "Harbour Foods", in: crm) {
                customer.city = "Galway"
                try customer.update()
            }
            // Example: end
        }
        // Example: Entity.refresh()
        customer.phone = "not to be saved"
        try customer.refresh()
        print("\(customer.city), \(customer.phone ?? "no phone")")
        // Example: end
        #expect(example.take() == ["Galway, no phone"])
        // Example: Entity.refresh(keepingChanges:)
        customer.phone = "+353 1 555 0100"
        try customer.refresh(keepingChanges: true)
        try customer.update()
        // Example: end
        #expect(try Customer.load(customer.surrogateKey, in: crm).phone == "+353 1 555 0100")

        do {
            // Example: SavableEntity.save()
            let order = SalesOrder(in: crm)
            order.orderDate = LocalDate(Date())  // today
            customer.orders.append(order)
            try customer.save()
            // Example: end
            #expect(try SalesOrder.load(order.surrogateKey, in: crm).customer?.surrogateKey == 1)
        }
        do {
            let shop = Customer(in: crm, name: "Quay Books", street: "Quay 1", city: "Galway", since: LocalDate(Date()))
            let order = SalesOrder(in: crm, orderDate: LocalDate(Date()))  // today
            order.customer = shop
            try crm.save([shop, order])
            #expect(try SalesOrder.load(order.surrogateKey, in: crm).customer?.name == "Quay Books")
            try shop.delete()
        }
        // Example: Entity.delete()
        for customer in try Customer.findByCity(city: "Cork", in: crm) {
            try customer.delete()
        }
        // Example: end
        #expect(try Customer.findAll(in: crm).map(\.surrogateKey) == [1])
    }

    @Test func `pending changes`() throws {
        // Example: Entity.submitPending()
        customer.creditLimit = 2500
        try customer.save()
        try customer.submitPending()
        print(customer.state)  // submitted, until the server answers
        // Example: end
        #expect(example.take() == ["submitted"])
        #expect(try crm.outbox.map(\.entity) == ["Customer"])
        // Example: Entity.conflict()
        if let conflict = try customer.conflict() {
            print("You: \(customer.city). The office: \(conflict.row?["city"] ?? .null)")
            try customer.cancelPending()  // the version of the office
        }
        // Example: end
        #expect(example.take().isEmpty && customer.isPending, "the server has not answered yet")

        do {
            let castle = try Customer.load(3, in: crm)
            castle.city = "Galway"
            try castle.update()
            // Example: Entity.cancelPending()
            for customer in try Customer.findByCity(city: "Galway", in: crm) where customer.isPending {
                try customer.cancelPending()
            }
            // Example: end
            #expect(try Customer.findByCity(city: "Cork", in: crm).map(\.name) == ["Castle Inn", "Mill & Sons"])
        }
        // Example: Entity.call(_:_:)
        let raise = try customer.call("raiseCreditLimit", ["amount": .decimal(250)])
        try raise.submitPending()
        // Example: end
        #expect(try crm.outbox.map(\.operation).contains("raiseCreditLimit"))
    }

    @Test func `pending changes of a class`() throws {
        customer.city = "Galway"
        try customer.save()
        // Example: ModelledEntity.cancelPendingOperations(in:onProgress:)
        try Customer.cancelPendingOperations(in: crm)
        try customer.refresh()  // objects in memory are as they were
        // Example: end
        #expect(customer.city == "Dublin" && !customer.isPending)

        customer.city = "Galway"
        try customer.save()
        // Example: ModelledEntity.submitPendingOperations(in:onProgress:)
        try Customer.submitPendingOperations(in: crm)
        try print(crm.hasPendingOperations())  // true until the server has answered
        // Example: end
        #expect(example.take() == ["true"])
        #expect(try crm.outbox.map(\.entity) == ["Customer"])
    }

    // MARK: Members

    @Test func `attributes by name`() throws {
        // Example: Entity.value(_:)
        for attribute in customer.metadata.attributes {
            try print("\(attribute.name): \(customer.value(attribute.name))")
        }
        // Example: end
        #expect(example.take().prefix(2) == ["id: 101", "name: Harbour Foods"])

        // Example: Entity.setValue(_:_:)
        let changes: [String: AttributeValue] = ["city": "Galway", "creditLimit": .decimal(500)]
        for (name, value) in changes { try customer.setValue(value, name) }
        try customer.save()
        // Example: end
        #expect(customer.city == "Galway" && customer.creditLimit == 500 && !customer.isDirty)

        // Example: Entity.json()
        let attributes = try customer.json()
        print(JSONValue.object(attributes))
        // Example: end
        #expect(example.take()[0].hasPrefix(#"{"id":101,"name":"Harbour Foods","#))

        // Example: Entity.encode(to:)
        let data = try JSONEncoder().encode(customer)
        print(String(decoding: data, as: UTF8.self))
        // Example: end
        #expect(example.take()[0].contains(#""name":"Harbour Foods""#))
    }

    @Test func `large attributes by name`() throws {
        let product = try Product.load(31, in: crm)
        let file = example.folder.appending(path: "tea.bmp").path
        try Data([1, 2, 3]).write(to: URL(filePath: file))
        // Example: Entity.bigBinary(_:)
        let picture = try product.bigBinary("picture")
        try picture.copyFromFile(file)
        try product.update()
        // Example: end
        let saved = try Product.load(31, in: crm)
        #expect(try saved.picture.length == 3)

        // Example: Entity.bigString(_:)
        let notes = try customer.bigString("notes")
        try notes.openForWrite()
        try notes.write("Call before noon.")
        try notes.close()
        try customer.update()
        // Example: end
        let again = try Customer.load(1, in: crm)
        try again.notes.openForRead()
        #expect(try again.notes.read(100) == "Call before noon.")
        try again.notes.close()
    }

    @Test func `relationships by name`() throws {
        // Example: Entity.children(_:)
        let orders: Children<SalesOrder> = try customer.children("orders")
        for order in orders { print("\(order.orderDate): \(order.total)") }
        // Example: end
        #expect(example.take() == ["2026-05-06: 120"])

        // Example: Entity.parent(_:)
        let buyer: Customer? = try order.parent("customer")
        print(buyer?.name ?? "no customer")
        // Example: end
        #expect(example.take() == ["Harbour Foods"])

        // Example: Entity.setParent(_:_:)
        let mill = try Customer.findByName(name: "Mill & Sons", in: crm)
        try order.setParent(mill, "customer")
        try order.save()
        // Example: end
        #expect(try SalesOrder.load(11, in: crm).customer?.surrogateKey == 2)
    }

    @Test func `relationships of a class, without blocking a thread`() async throws {
        // Example: ModelledEntity.load(_:)
        let buyer = try await order.load(\.customer)
        print(buyer?.name ?? "no customer")
        // Example: end
        #expect(example.take() == ["Harbour Foods"])

        // Example: ModelledEntity.load(_:)
        for order in try await customer.load(\.orders) {
            print("\(order.orderDate): \(order.total)")
        }
        // Example: end
        #expect(example.take() == ["2026-05-06: 120"])
    }

    @Test func `log records and keys`() throws {
        // Example: Entity.newLogRecord(level:message:)
        var record = customer.newLogRecord(level: .info, message: "called, nobody there")
        try record.save()
        // Example: end
        #expect(try customer.logRecords().map(\.message) == ["called, nobody there"])

        let folder = example.folder
        // Example: Entity.keyToString()
        let file = folder.appending(path: "customer-\(customer.keyToString()).json")
        try JSONEncoder().encode(customer).write(to: file)
        // Example: end
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "customer-1.json").path))
    }

    // MARK: Finders

    @Test func `objects by key`() throws {
        let key: Int64 = 1
        do {
            // Example: ModelledEntity.find(_:in:)
            if let customer = try Customer.find(key, in: crm) {
                print(customer.name)
            }
            // Example: end
        }
        do {
            // Example: ModelledEntity.load(_:in:)
            let customer = try Customer.load(key, in: crm)
            print(customer.name)
            // Example: end
        }
        #expect(example.take() == ["Harbour Foods", "Harbour Foods"])

        // Example: ModelledEntity.findByPrimaryKey(values:in:)
        let line = try SalesOrderLine.findByPrimaryKey(values: [17, 1], in: crm)  // order and line
        print("\(line?.quantity ?? 0) pieces")
        // Example: end
        #expect(example.take() == ["4 pieces"])
    }

    @Test func `all objects`() throws {
        let names = ["Harbour Foods", "Mill & Sons", "Castle Inn"]
        do {
            // Example: ModelledEntity.findAll(in:)
            for customer in try Customer.findAll(in: crm) {
                print(customer.name)
            }
            // Example: end
        }
        #expect(example.take() == names)

        // Example: ModelledEntity.findAll(skip:take:in:)
        let second = try Customer.findAll(skip: 2, take: 2, in: crm)  // the second two customers
        print(second.map(\.name))
        // Example: end
        #expect(example.take() == ["[\"Castle Inn\"]"])

        // Example: ModelledEntity.page(after:size:in:)
        var page = try Customer.page(size: 100, in: crm)
        while let last = page.last {
            for customer in page { print(customer.name) }
            page = try Customer.page(after: last.surrogateKey, size: 100, in: crm)
        }
        // Example: end
        #expect(example.take() == names)

        // Example: ModelledEntity.cursor(pageSize:readsAhead:in:)
        let customers = try Customer.cursor(pageSize: 50, in: crm)
        while let customer = try customers.nextObject() { print(customer.name) }
        // Example: end
        #expect(example.take() == names)
    }

    @Test func `queries of the model, and lists`() throws {
        do {
            // Example: ModelledEntity.query(_:_:sortedBy:skip:take:in:)
            let customers = try Customer.query("findByCity", ["Cork"], sortedBy: [.descending("creditLimit")], in: crm)
            for customer in customers { print("\(customer.name): \(customer.creditLimit)") }
            // Example: end
            #expect(example.take() == ["Castle Inn: 2000", "Mill & Sons: 500"])
        }
        do {
            // Example: ModelledEntity.list(pageSize:keptPages:in:)
            let customers = try Customer.list(pageSize: 50, in: crm)
            let last = try customers.object(at: customers.count() - 1)
            // Example: end
            #expect(last.name == "Castle Inn")
        }
        // Example: ModelledEntity.list(_:_:sortedBy:pageSize:keptPages:in:)
        let customers = try Customer.list("findByCity", ["Cork"], pageSize: 50, in: crm)
        for customer in customers { print(customer.name) }
        // Example: end
        #expect(example.take() == ["Castle Inn", "Mill & Sons"])
    }
}
