import MobileModel
import MobileObjects
import MobileStore
import Testing

/// The rows that pending changes are based on, for objects that refuse conflicts, through renumberings and upgrades.
@Suite struct EditBasisTests {
    private static let model = shopModel { $0.object("Customer") { $0.conflicts = .refuse } }

    /// Submits a change of customer 1, imports another version, edits again and returns the customer.
    private func edited(_ shop: Shop) throws -> GenericEntity {
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dublin")
        let customer = try shop.objects("Customer").load(1)
        try customer.set("name", "Quay")
        try customer.update()
        try customer.submitPending()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Galway")
        try customer.refresh()
        try customer.set("name", "Pier")
        try customer.update()
        return customer
    }

    private func conflict(_ id: Int64, _ row: JSONObject?, in database: PackageDatabase) throws {
        _ = try database.write("settle") { try $0.settle([ReplayAnswer(id: id, .conflict(row))]) }
    }

    @Test("a new row that gets another surrogate key keeps what its next change follows, and its conflict")
    func renumbered() throws {
        let shop = try Shop(Self.model, grantingKeys: false), customer = try shop.newCustomer("c1")
        try customer.create()
        try customer.submitPending()
        let create = customer.replayPending, old = customer.surrogateKey
        try customer.set("city", "Cork")
        try customer.update()
        // The grant comes, the server refuses the range of the key.
        try shop.grant(first: 10, last: 99)
        let range = try #require(try shop.database.keyClaims.first)
        #expect(try shop.database.write("renumber") { try $0.renumberKeys(ofRefusedRanges: [range]) } == 1)
        let now = try #require(try shop.customer(old))
        #expect(now.surrogateKey != old)
        #expect(try shop.value("SELECT count(*) FROM \"_basis\" WHERE \"sk\" = \(old)") == .integer(0))
        try now.submitPending()
        let update = try #require(try shop.database.outbox.last)
        #expect(update.surrogateKey == now.surrogateKey && update.change == .update && update.follows == create && update.original == [:])
        try shop.accept(create)
        try conflict(update.id, ["city": "Galway"], in: shop.database)
        try now.refresh()
        #expect(try now.conflict()?.row == ["city": "Galway"])
    }

    @Test("a renamed attribute is renamed in the original of a submission, in the basis of a change and in the row of a conflict; a removed one goes")
    func renamedAttribute() throws {
        let shop = try Shop(Self.model), customer = try edited(shop), first = customer.replayPending
        let digests = try shop.database.outbox.map(\.digest)
        let database = try shop.upgraded(
            to: shopModel { model in
                model.object("Customer") {
                    $0.conflicts = .refuse
                    $0.queries.removeAll { $0.name == "findByCity" }
                    $0.attributes.removeAll { $0.name == "since" }
                }
                model.attribute("Customer", "city") { ($0.name, $0.was) = ("town", "city") }
            })
        let submitted = try #require(try database.outbox.first?.original)
        #expect(submitted["town"] == "Dublin" && submitted["name"] == "Harbour Foods" && submitted["city"] == nil && submitted["since"] == nil)
        #expect(try database.outbox.map(\.digest) == digests)
        try database.load("Customer", 1).submitPending()
        let second = try #require(try database.outbox.last)
        #expect(second.follows == first && second.original?["town"] == "Galway" && second.original?["city"] == nil)
    }

    @Test("an object under another name keeps its bases, and the row of its conflict has the new names of its attributes")
    func renamedObject() throws {
        let shop = try Shop(Self.model), customer = try edited(shop)
        try customer.submitPending()
        for record in try shop.database.outbox { try conflict(record.id, ["name": "Office", "city": "Sligo"], in: shop.database) }
        let follows = try customer.refreshed().replayFailure
        let database = try shop.upgraded(
            to: shopModel { model in
                model.object("Customer") {
                    $0.conflicts = .refuse
                    $0.queries = []
                    ($0.name, $0.was) = ("Client", "Customer")
                }
                for index in model.objects.indices {
                    for position in model.objects[index].relationships.indices where model.objects[index].relationships[position].target == "Customer"
                    {
                        model.objects[index].relationships[position].target = "Client"
                    }
                }
                model.attribute("Client", "city") { ($0.name, $0.was) = ("town", "city") }
            })
        let client = try database.load("Client", 1)
        #expect(try client.conflict()?.row == ["name": "Office", "town": "Sligo"])
        try client.submitPending()
        let again = try #require(try database.outbox.last)
        #expect(again.entity == "Client" && again.follows == follows && again.original?["town"] == "Galway")
    }

    @Test("an object that refuses conflicts no longer has neither bases nor originals; one that begins to has the server's version")
    func rule() throws {
        let shop = try Shop(Self.model), customer = try edited(shop)
        try customer.submitPending()
        let database = try shop.upgraded(to: ShopModel.model)
        #expect(try database.outbox.map(\.original) == [nil, nil] && database.value("SELECT count(*) FROM \"_basis\"") == .integer(0))
        try database.load("Customer", 1).cancelPending()
        try database.close()
        // Both operations still wait.
        let again = try PackageDatabase(model: Self.model, profile: ConnectionProfile(path: database.databasePath))
        let last = try #require(try again.outbox.last)
        let row = try again.load("Customer", 1)
        try row.set("name", "Once more")
        try row.update()
        try row.submitPending()
        #expect(try again.outbox.last?.follows == last.id && again.outbox.last?.original?["city"] == "Galway")
        try again.close()
    }

    @Test("a change that was made while the last writer won has a basis as soon as an earlier operation of its row is answered")
    func unnoted() throws {
        let shop = try Shop(), customer = try edited(shop), first = customer.replayPending
        let database = try shop.upgraded(to: Self.model)
        try database.accept(first)
        try database.load("Customer", 1).submitPending()
        let record = try #require(try database.outbox.last)
        #expect(record.follows == first && record.original?["city"] == "Galway")
    }
}

extension GenericEntity {
    fileprivate func refreshed() throws -> GenericEntity {
        try refresh()
        return self
    }
}
