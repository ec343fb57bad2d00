import Foundation
import MobileObjects
import MobileStore
import Testing

/// Texts are equal when their bytes are, in Swift as in SQL. Swift's own `==` finds "é" as one scalar and as two equal.
@Suite struct ExactComparisonTests {
    static let composed = "Caf\u{e9}", decomposed = "Cafe\u{301}"

    @Test("equal as strings of Swift, the two texts are different values, members and keys")
    func types() throws {
        #expect(Self.composed == Self.decomposed)
        #expect(Value.text(Self.composed) != Value.text(Self.decomposed) && Value.text(Self.composed) == Value.text("Caf\u{e9}"))
        #expect(AttributeValue.string(Self.composed) != AttributeValue.string(Self.decomposed))
        #expect(AttributeValue.json("[\"\(Self.composed)\"]") != AttributeValue.json("[\"\(Self.decomposed)\"]"))
        #expect(JSONValue.string(Self.composed) != JSONValue.string(Self.decomposed))
        #expect(Set([Value.text(Self.composed), Value.text(Self.decomposed), Value.text(Self.composed)]).count == 2)
        #expect(Set([AttributeValue.string(Self.composed), AttributeValue.string(Self.decomposed)]).count == 2)
        #expect(Set([JSONValue.string(Self.composed), JSONValue.string(Self.decomposed)]).count == 2)
        let object = JSONObject(uniqueKeys: [(Self.composed, JSONValue.integer(1)), (Self.decomposed, JSONValue.integer(2))])
        #expect(object[Self.composed] == .integer(1) && object[Self.decomposed] == .integer(2))
        #expect(object == JSONObject(uniqueKeys: [(Self.decomposed, JSONValue.integer(2)), (Self.composed, JSONValue.integer(1))]))
        #expect(JSONObject(uniqueKeys: [(Self.composed, JSONValue.integer(1))]) != JSONObject(uniqueKeys: [(Self.decomposed, JSONValue.integer(1))]))
        #expect(Set(Array(object)).count == 2)
        #expect(ExactText(Self.composed) != ExactText(Self.decomposed) && Set([ExactText(Self.composed), ExactText(Self.decomposed)]).count == 2)
    }

    @Test("numbers are equal as they are in the database: 0 and -0, and NaN, which is stored as NULL, with itself; 1 and 1.0 are two values")
    func numbers() {
        #expect(Value.real(0) == Value.real(-0.0) && Value.real(.nan) == Value.real(.nan) && Value.real(1) != Value.integer(1))
        #expect(Set([Value.real(0), Value.real(-0.0), Value.real(.nan), Value.real(-.nan)]).count == 2)
        #expect(AttributeValue.real(0) == AttributeValue.real(-0.0) && AttributeValue.real(.nan) == AttributeValue.real(.nan))
        #expect(Set([AttributeValue.real(0), AttributeValue.real(-0.0), AttributeValue.real(.nan), AttributeValue.real(-.nan)]).count == 2)
        #expect(AttributeValue.integer(1) != AttributeValue.large(1) && AttributeValue.string("1") != AttributeValue.json("1"))
    }

    @Test("a list of values has both forms of a text")
    func membership() throws {
        let samples = try QueryDatabase()
        for (key, name) in [(1, Self.composed), (2, Self.decomposed), (3, "Cafe")] {
            try samples.database.write("set") {
                try $0.connection.execute("UPDATE \"Customer\" SET \"lname\" = ?1 WHERE \"_sk\" = ?2", [.text(name), .integer(Int64(key))])
            }
        }
        #expect(try samples.customers(.in("lname", [Self.composed, Self.decomposed])) == [1, 2])
        #expect(try samples.customers(.in("lname", [Self.decomposed])) == [2])
        #expect(try samples.customers(.notIn("lname", [Self.composed, Self.decomposed])) == [3, 4, 5, 6])
        #expect(try samples.customers(.equal("lname", Self.composed)) == [1])
    }

    @Test("a change from one form to the other is a change, and reaches the server")
    func change() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: Self.composed)
        let customer = try #require(try shop.customer(1))
        try customer.set("name", .string(Self.decomposed))
        try customer.update()
        try customer.submitPending()
        let record = try #require(try shop.database.outbox.first)
        #expect(record.attributes["name"] == .string(Self.decomposed) && record.attributes["name"] != .string(Self.composed))
        #expect(try shop.value("SELECT name FROM Customer") == .text(Self.decomposed))
        // The same change again is not submitted again; the other form is.
        try customer.set("name", .string(Self.composed))
        try customer.update()
        try customer.submitPending()
        #expect(try shop.database.outbox.count == 2)
    }

    @Test("two parameter sets that differ in the form of a text are two subscriptions")
    func subscriptions() throws {
        let shop = try Shop(), customers = try shop.objects("Customer").metadata
        for region in [Self.composed, Self.decomposed, Self.composed] {
            _ = try shop.database.addSubscription(["region": .string(region)], to: customers)
        }
        let sets = try shop.database.subscriptions(of: customers).map(\.parameters)
        #expect(Set(sets).count == 2)
    }

    @Test("queries whose texts differ in the form of a literal are prepared apart")
    func prepared() throws {
        let samples = try QueryDatabase(), database = samples.database
        try database.write("set") {
            try $0.connection.execute("UPDATE \"Customer\" SET \"lname\" = ?1 WHERE \"_sk\" = 1", [.text(Self.composed)])
        }
        // The alias is a part of the SQL.
        for alias in [Self.composed, Self.decomposed] {
            let query = Query().from("Customer", alias).where(.equal("\(alias).id", 1))
            #expect(try database.entity("Customer").findWithQuery(query).map(\.surrogateKey) == [1])
        }
    }
}
