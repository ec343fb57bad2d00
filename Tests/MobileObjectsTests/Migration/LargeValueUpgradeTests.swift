import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// Strings and binaries that leave their rows, and large values that come into them.
@Suite struct LargeValueUpgradeTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods", city: "Dún Laoghaire")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn", city: "")
    }

    private static let largeCity = shopModel { model in
        model.attribute("Customer", "city") { $0.type = .bigString }
        model.object("Customer") { $0.queries = [] }
    }

    private static let smallManual = shopModel { model in
        model.attribute("Product", "manual") { $0.type = .string }
        model.attribute("Product", "picture") { $0.type = .binary }
    }

    @Test("BIG: a string that leaves its rows is read as a stream; what nobody changed does not look changed")
    func outOfRow() throws {
        let customer = try shop.objects("Customer").load(1)
        try customer.set("name", "Harbour")
        try customer.update()
        let database = try shop.upgraded(to: Self.largeCity)
        #expect(try database.text("Customer", 1, "city") == "Dún Laoghaire" && database.text("Customer", 2, "city") == "")
        try database.load("Customer", 1).submitPending()
        #expect(try database.outbox.first?.largeValues == [])
        // One value for the row and its original state.
        #expect(try database.value("SELECT count(*) FROM _mc_value WHERE state = 1") == .integer(2))
        let upgraded = try database.load("Customer", 1)
        try upgraded.write("Galway", "city")
        try upgraded.update()
        try upgraded.cancelPending()
        #expect(try database.text("Customer", 1, "city") == "Dún Laoghaire")
    }

    @Test("a changed string travels with its operation as a large value, and is the row's when it is accepted", arguments: [true, false])
    func submittedOutOfRow(isChangedSince: Bool) throws {
        let customer = try shop.objects("Customer").load(1)
        try customer.set("city", "Galway")
        try customer.update()
        try customer.submitPending()
        let id = customer.replayPending
        if isChangedSince {
            try customer.set("city", "Sligo")
            try customer.update()
        }
        let database = try shop.upgraded(to: Self.largeCity)
        let record = try #require(try database.outbox.first)
        #expect(record.attributes.isEmpty && record.largeValues.map(\.attribute) == ["city"])
        let value = try LargeValueReader(try #require(record.largeValues.first?.id), in: database.store)
        #expect(try value.text(upTo: 100) == "Galway")
        try database.accept(id)
        #expect(try database.text("Customer", 1, "city") == (isChangedSince ? "Sligo" : "Galway"))
        let upgraded = try database.load("Customer", 1)
        #expect(upgraded.pendingChange == (isChangedSince ? .update : .none))
        try upgraded.cancelPending()
        #expect(try database.text("Customer", 1, "city") == "Galway")
    }

    @Test("a string of a new object that was submitted, and one that was set to nothing")
    func createdOutOfRow() throws {
        let new = try shop.new("Customer", ["id": "c3", "name": "Mill", "city": "Sligo"])
        try new.create()
        try new.submitPending()
        let emptied = try shop.objects("Customer").load(1)
        try emptied.set("city", .null)
        try emptied.update()
        try emptied.submitPending()
        let database = try shop.upgraded(to: Self.largeCity)
        let records = try database.outbox
        #expect(records[0].attributes["city"] == nil && records[0].largeValues.count == 1)
        #expect(records[1].largeValues.map(\.attribute) == ["city"] && records[1].largeValues[0].id == nil)
        for record in records { try database.accept(record.id) }
        #expect(try database.text("Customer", new.surrogateKey, "city") == "Sligo" && database.text("Customer", 1, "city") == nil)
        #expect(try database.value("SELECT count(*) FROM Customer_os") == .integer(0))
    }

    @Test("BIG: large values come into their rows, in pending changes and submitted operations too")
    func intoRow() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50],[2,2,\"Milk\",1]]")
        let tea = try shop.objects("Product").load(1)
        try tea.write("Pour water.", "manual")
        try tea.write([1, 2, 3], "picture")
        try tea.update()
        try tea.submitPending()
        let id = tea.replayPending
        try tea.write("Pour hot water.", "manual")
        try tea.update()
        let database = try shop.upgraded(to: Self.smallManual)
        let record = try #require(try database.outbox.first)
        #expect(record.attributes == ["picture": "AQID", "manual": "Pour water."] && record.largeValues.isEmpty)
        let upgraded = try database.load("Product", 1)
        #expect(try upgraded.value("manual") == "Pour hot water." && upgraded.value("picture") == .binary([1, 2, 3]))
        #expect(try database.load("Product", 2).value("manual") == .null)
        try database.accept(id)
        try upgraded.refresh()
        #expect(upgraded.pendingChange == .update)
        try upgraded.submitPending()
        #expect(try database.outbox.last?.attributes["manual"] == "Pour hot water.")
        try upgraded.cancelPending()
        #expect(try upgraded.value("manual") == "Pour water.")
        #expect(try database.value("SELECT count(*) FROM _mc_value WHERE state = 1") == .integer(0))
    }

    @Test("a large value that is too long for its row is refused, and nothing is changed")
    func tooLong() throws {
        try shop.importRows("Product", ["id", "name", "price"], "[[1,1,\"Tea\",2.50]]")
        let tea = try shop.objects("Product").load(1)
        try tea.write("Pour water.", "manual")
        try tea.update()
        let error = try #require(
            try shop.refusal(of: shopModel { $0.attribute("Product", "manual") { ($0.type, $0.length) = (.string, 10) } }))
        #expect(error.code == .version && error.message.contains("Product.manual: at most 10 long now, and 1 values are longer"))
    }

    @Test("a value of 50 MB leaves its row in bounded memory")
    func bounded() throws {
        try shop.new("Note", ["title": "long", "body": .string(String(repeating: "abcdefghij", count: 100))]).create()
        try shop.database.store.write {
            try $0.execute("UPDATE \"Note\" SET \"body\" = replace(hex(zeroblob(25000000)), '0', 'x')")
        }
        let model = shopModel { $0.attribute("Note", "body") { $0.type = .bigString } }
        let database = try shop.upgraded(to: model)
        let value = try #require(try database.value("SELECT \"body\" FROM \"Note\"")?.integer)
        let reader = try LargeValueReader(value, in: database.store)
        #expect(reader.length == 50_000_000)
        try reader.seek(to: 49_999_990)
        #expect(try reader.text(upTo: 100) == "xxxxxxxxxx")
    }
}
