import Foundation
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// The index of words follows every change of a row, in the change's own transaction.
@Suite struct SearchIndexTests {
    let shop: Shop

    static let model = shopModel { model in
        model.attribute("Customer", "name") { $0.isSearchable = true }
        model.attribute("Customer", "city") { $0.isSearchable = true }
        model.attribute("Note", "title") { $0.isSearchable = true }
        model.attribute("Note", "body") { $0.isSearchable = true }
    }

    init() throws { shop = try Shop(Self.model) }

    private func keys(_ text: String, of name: String = "Customer") throws -> [Int64] {
        try shop.objects(name).findWithQuery(Query().where(.matching(text))).map(\.surrogateKey)
    }

    @Test("create, update, delete and cancel")
    func edits() throws {
        let customer = try shop.newCustomer("c1")
        try customer.create()
        #expect(try keys("harbour") == [customer.surrogateKey])
        try customer.set("name", "Castle Inn")
        try customer.update()
        #expect(try keys("harbour") == [] && keys("castle") == [customer.surrogateKey])
        try customer.set("credit", .decimal(5))
        try customer.update()
        #expect(try keys("castle").count == 1)
        try customer.cancelPending()
        #expect(try keys("castle") == [])
        try shop.database.checkSearchIndexes()
    }

    @Test("a delete that waits has left the index, and its cancellation brings it back")
    func waitingDelete() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        let customer = try shop.objects("Customer").load(1)
        try customer.delete()
        #expect(try keys("harbour") == [])
        #expect(try shop.objects("Customer").findWithQuery(Query().where(.matching("harbour")).filter(.deleted)).count == 0)
        try customer.cancelPending()
        #expect(try keys("harbour") == [1])
        try shop.database.checkSearchIndexes()
    }

    @Test("imports: into an empty table, into a full one, equal values, deletions, and the whole object removed")
    func imports() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour", city: "Dublin")
        #expect(try keys("harbour dublin") == [1])
        try shop.importCustomer(1, id: "c1", name: "Castle", city: "Dublin")
        try shop.importCustomer(2, id: "c2", name: "Harbour", city: "Cork")
        try shop.importCustomer(2, id: "c2", name: "Harbour", city: "Cork")
        #expect(try keys("harbour") == [2] && keys("castle") == [1])
        try shop.database.checkSearchIndexes()
        try shop.importDeletions("Customer", 1)
        #expect(try keys("dublin") == [])
        try shop.database.checkSearchIndexes()
        try shop.database.write("reset") { _ = try $0.importSession(for: "Customer").removeAll() }
        #expect(try keys("harbour") == [])
        try shop.database.checkSearchIndexes()
        try shop.importCustomer(3, id: "c3", name: "Mill")
        #expect(try keys("mill") == [3])
        try shop.database.checkSearchIndexes()
    }

    @Test("an import of 10,000 rows into an empty table, and one that comes after it")
    func largeImport() throws {
        func rows(_ keys: Range<Int>) -> String { "[" + keys.map { "[\($0),\"c\($0)\",\"n\($0 % 100)\",\"Cork\"]" }.joined(separator: ",") + "]" }
        try shop.importRows("Customer", ["id", "name", "city"], rows(1..<10_001))
        #expect(try keys("n7").count == 1100)
        try shop.importRows("Customer", ["id", "name", "city"], rows(9_001..<20_001))
        #expect(try shop.objects("Customer").countWithQuery(Query().where(.search(TextSearch("n7", beginnings: .none)))) == 200)
        try shop.database.checkSearchIndexes()
    }

    @Test("observers of other objects are not called for imports, into an empty table and into a full one")
    func observers() throws {
        let seen = RecordedLines()
        let observation = try shop.database.store.observe(["Product"]) { _ in seen.add("Product") }
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        #expect(seen.take() == [], "into an empty table")
        try shop.importCustomer(2, id: "c2", name: "Castle")
        try shop.importCustomer(2, id: "c2", name: "Mill")
        #expect(seen.take() == [], "into a full one")
        try shop.importDeletions("Customer", 1, 2)
        #expect(seen.take() == [], "deletions")
        // So many that the import makes the indexes of the table at its end.
        try shop.importRows("Customer", ["id", "name"], "[\((10...9000).map { "[\($0),\"c\($0)\",\"n\"]" }.joined(separator: ","))]")
        #expect(seen.take() == [], "many rows")
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Saw\",1]]")
        #expect(seen.all == ["Product"])
        withExtendedLifetime(observation) {}
    }

    @Test("the server's version of a pending row comes into the index when it becomes the row's")
    func pendingRow() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        let customer = try shop.objects("Customer").load(1)
        try customer.set("name", "Castle")
        try customer.update()
        try shop.importCustomer(1, id: "c1", name: "Mill")
        #expect(try keys("castle") == [1] && keys("mill") == [])
        try customer.submitPending()
        try shop.reject(customer.replayPending)
        try customer.refresh()
        try customer.cancelPending()
        #expect(try keys("mill") == [1] && keys("castle") == [])
        try shop.database.checkSearchIndexes()
    }

    @Test("a search inside a transaction finds what it has changed; a transaction that is undone leaves nothing")
    func transactions() throws {
        struct Undone: Error {}
        try shop.importCustomer(1, id: "c1", name: "Harbour")
        #expect(throws: Undone.self) {
            try shop.database.transaction {
                let customer = try shop.objects("Customer").load(1)
                try customer.set("name", "Castle")
                try customer.update()
                #expect(try keys("castle") == [1] && keys("harbour") == [])
                try shop.newCustomer("c2", name: "Castle").create()
                #expect(try keys("castle").count == 2)
                #expect(try shop.objects("Customer").list(Query().where(.matching("castle"))).count() == 2)
                throw Undone()
            }
        }
        #expect(try keys("castle") == [] && keys("harbour") == [1])
        try shop.database.checkSearchIndexes()
    }

    @Test("a nested transaction that is undone takes its import into an empty table back")
    func nestedImport() throws {
        struct Undone: Error {}
        try shop.database.transaction {
            #expect(throws: Undone.self) {
                try shop.database.transaction {
                    try shop.importCustomer(1, id: "c1", name: "Harbour")
                    throw Undone()
                }
            }
            try shop.newCustomer("c2", name: "Castle").create()
        }
        #expect(try keys("harbour") == [] && keys("castle").count == 1)
        try shop.database.checkSearchIndexes()
        try shop.newCustomer("c3", name: "Castle").create()
        #expect(try keys("castle").count == 2)
    }

    @Test("local objects have an index as well")
    func local() throws {
        let note = try shop.new("Note", ["title": "Shopping", "body": "milk and honey"])
        try note.create()
        #expect(try keys("honey", of: "Note") == [note.surrogateKey])
        try note.delete()
        #expect(try keys("honey", of: "Note") == [])
        try shop.database.checkSearchIndexes()
    }

    @Test("a renumbered key stays in the index")
    func renumbering() throws {
        let own = try Shop(Self.model, grantingKeys: false)
        let customer = try own.newCustomer("c1")
        try customer.create()
        let key = customer.surrogateKey
        try own.database.write("renumber") {
            _ = try $0.connection.execute("UPDATE \"Customer\" SET \"_sk\" = 7 WHERE \"_sk\" = ?1", [.integer(key)])
        }
        try own.database.checkSearchIndexes()
        #expect(try own.objects("Customer").findWithQuery(Query().where(.matching("harbour"))).map(\.surrogateKey) == [7])
    }

    @Test("attributes with names that SQLite's index reserves, and objects with awkward names")
    func names() throws {
        let object = ObjectModel(
            name: "A \"quoted\" name", isLocal: true,
            attributes: ["rank", "rowid", "c1", "key", "a\"b"].map { AttributeModel(name: $0, type: .string, isNullable: true, isSearchable: true) })
        let own = try Shop(PackageModel(name: "Names", objects: [object]), grantingKeys: false)
        let row = try own.new(object.name, ["rank": "first", "a\"b": "second"])
        try row.create()
        let found = try own.objects(object.name).findWithQuery(Query().where(.matching("second", in: "a\"b") && .matching("first", in: "rank")))
        #expect(found.map(\.surrogateKey) == [row.surrogateKey])
    }

    @Test("an upgrade makes, changes and drops the index")
    func upgrades() throws {
        try shop.importCustomer(1, id: "c1", name: "Harbour", city: "Cork")
        func found(_ database: PackageDatabase, _ text: String) throws -> Int {
            try database.entity("Customer").countWithQuery(Query().where(.matching(text)))
        }
        let less = try shop.upgraded(to: shopModel { $0.attribute("Customer", "city") { $0.isSearchable = true } })
        #expect(try found(less, "cork") == 1 && found(less, "harbour") == 0)
        try less.checkSearchIndexes()
        try less.close()
        let none = try shop.upgraded(to: ShopModel.model)
        #expect(try none.value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '\\_search%' ESCAPE '\\'") == .integer(0))
        try none.close()
        let all = try shop.upgraded(
            to: shopModel { model in
                model.attribute("Customer", "name") { $0.isSearchable = true }
                model.object("Customer") { ($0.name, $0.was) = ("Client", "Customer") }
                for object in model.objects.indices {
                    for index in model.objects[object].relationships.indices where model.objects[object].relationships[index].target == "Customer" {
                        model.objects[object].relationships[index].target = "Client"
                    }
                    model.objects[object].queries = []
                }
            })
        #expect(try all.entity("Client").countWithQuery(Query().where(.matching("harbour"))) == 1)
        try all.checkSearchIndexes()
        try all.close()
    }
}
