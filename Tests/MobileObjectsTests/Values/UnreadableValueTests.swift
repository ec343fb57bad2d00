import Foundation
import MobileObjects
import MobileStore
import Testing

/// The device cuts no value. Other programs, and models that were changed, leave values in a column that its attribute cannot have.
@Suite struct UnreadableValueTests {
    /// A column, an SQL expression that it is set to, and the reason in the message.
    struct Case: Sendable, CustomTestStringConvertible {
        let column: String, sql: String, reason: String
        var testDescription: String { "\(column) = \(sql)" }
        init(_ column: String, _ sql: String, _ reason: String) { (self.column, self.sql, self.reason) = (column, sql, reason) }
    }

    static let cases = [
        Case("int", "3000000000", "3000000000 does not fit int: -2147483648 to 2147483647"),
        Case("byte", "128", "128 does not fit byte: -128 to 127"),
        Case("short", "-32769", "-32769 does not fit short: -32768 to 32767"),
        Case("long", "1.5", "the double 1.5, expected long"),
        Case("integer", "'many'", "the text \"many\", expected integer"),
        Case("boolean", "2", "the integer 2, expected boolean"),
        Case("decimal", "0.5", "the double 0.5, expected decimal"),
        Case("wide", "'31.12.2020'", "the text \"31.12.2020\", expected decimal"),
        Case("wide", "'12 pieces'", "the text \"12 pieces\", expected decimal"),
        Case("wide", "'123456789012345678901234567890.1234567890'", "the text \"12345678901234567890...\", expected decimal"),
        Case("double", "'0,5'", "the text \"0,5\", expected double"),
        Case("date", "'31.12.2020'", "the text \"31.12.2020\", expected date"),
        Case("date", "'2021-02-30'", "the text \"2021-02-30\", expected date"),
        Case("time", "'8:00'", "the text \"8:00\", expected time"),
        Case("dateTime", "'yesterday'", "the text \"yesterday\", expected dateTime"),
        Case("string", "x'00ff'", "2 bytes, expected string"),
        Case("binary", "'text'", "the text \"text\", expected binary"),
        Case("days", "x'00'", "1 bytes, expected date[]"),
    ]

    private let samples: QueryDatabase
    private let objects: EntityClass

    init() throws {
        samples = try QueryDatabase()
        objects = try samples.database.entity("AllType")
    }

    private func set(_ column: String, _ sql: String) throws {
        try samples.database.write("set") { try $0.connection.execute("UPDATE \"AllType\" SET \"\(column)\" = \(sql) WHERE \"_sk\" = 22") }
    }

    private func fails(_ reading: String, with message: String, _ read: () throws -> Void) {
        let error = #expect(throws: ObjectError.self, "\(reading)") { try read() }
        #expect(error?.code == .corrupt, "\(reading)")
        #expect(error?.message.contains(message) == true, "\(reading): \(error?.message ?? "")")
    }

    @Test("every reader of objects throws an error with object, attribute and value", arguments: cases)
    func readers(of damage: Case) throws {
        try set(damage.column, damage.sql)
        let message = "AllType 22: the row's \(damage.column) cannot be read: \(damage.reason); correct it where the row comes from, and synchronize"
        let query = Query().sorted(by: .ascending("id"))
        fails("find", with: message) { _ = try objects.find(22) }
        fails("load", with: message) { _ = try objects.load(22) }
        fails("findByPrimaryKey", with: message) { _ = try objects.findByPrimaryKey(2) }
        fails("findAll", with: message) { _ = try objects.findAll() }
        fails("page", with: message) { _ = try objects.page(size: 2) }
        fails("findWithQuery", with: message) { _ = try objects.findWithQuery(query) }
        fails("list", with: message) { _ = try objects.list(query).object(at: 0) }
        fails("cursor", with: message) { _ = try objects.cursor(query).nextObject() }
        #expect(try objects.find(21) != nil && objects.find(23) != nil)
    }

    @Test("the result of a query throws an error with column and value", arguments: cases)
    func results(of damage: Case) throws {
        try set(damage.column, damage.sql)
        let query = Query().select("a.id, a.\(damage.column)").from("AllType", "a")
        fails("executeQuery", with: "\"a.\(damage.column)\" cannot be read: \(damage.reason); correct it where the row comes from") {
            _ = try samples.database.executeQuery(query)
        }
        #expect(try samples.database.executeQuery(query.where(.equal("a.id", 1))).count == 1)
    }

    @Test("NULL is nil, and is no error")
    func null() throws {
        for column in Set(Self.cases.map(\.column)) { try set(column, "NULL") }
        let object = try #require(try objects.find(22))
        for column in Set(Self.cases.map(\.column)) { #expect(try object.value(column).isNull, "\(column)") }
    }

    @Test("a refresh that cannot read the row leaves the object as it was")
    func refresh() throws {
        let object = try #require(try objects.find(22))
        try object.setValue("changed", "string")
        try set("int", "3000000000")
        fails("refresh", with: "AllType 22: the row's int") { try object.refresh() }
        #expect(try object.value("string") == "changed" && object.value("int") == -200 && object.isDirty)
        try set("int", "5")
        try object.refresh()
        #expect(try object.value("string") == "beta" && object.value("int") == 5 && !object.isDirty)
    }

    @Test("an observed query ends with the error", arguments: [Case("int", "3000000000", "3000000000"), Case("date", "'31.12.2020'", "31.12.2020")])
    func observation(of damage: Case) async throws {
        try set(damage.column, damage.sql)
        var snapshots = objects.observe(Query()).makeAsyncIterator()
        let error = await #expect(throws: ObjectError.self) { _ = try await snapshots.next() }
        #expect(error?.code == .corrupt && error?.message.contains("\(damage.column) cannot be read: ") == true)
        var results = samples.database.observe(Query().select("a.\(damage.column)").from("AllType", "a")).makeAsyncIterator()
        await #expect(throws: ObjectError.self) { _ = try await results.next() }
    }

    @Test("relatives that cannot be read are an error, now or at the next save")
    func relatives() throws {
        let shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importOrder(2, number: 7, customer: 1)
        try shop.database.write("set") { try $0.connection.execute("UPDATE \"SalesOrder\" SET \"status\" = x'00'") }
        fails("all", with: "SalesOrder 2: the row's status cannot be read: 1 bytes, expected string") { _ = try shop.customer(1)?.orders.all() }
        fails("prefetch", with: "SalesOrder 2: the row's status") { try shop.objects("Customer").findAll().prefetch("orders") }
        let customer = try #require(try shop.customer(1))
        #expect(customer.orders.isEmpty && customer.orders.error?.code == .corrupt)
        try customer.set("name", "Quay Books")
        fails("save", with: "its orders could not be read") { try customer.save() }
    }

    @Test("what an attribute cannot have reaches the server as it is")
    func outbox() throws {
        let object = try #require(try objects.find(22))
        try object.setValue("changed", "string")
        try object.setValue(true, "boolean")
        try object.setValue(.decimal(1), "wide")
        try object.update()
        try set("boolean", "7")
        try set("wide", "'31.12.2020'")
        try samples.database.submitPendingOperations()
        let sent = try #require(try samples.database.outbox.first).attributes
        #expect(sent["boolean"] == .integer(7) && sent["wide"] == .string("31.12.2020"))
    }

    @Test("a double beyond the range of a float is no float")
    func floats() {
        #expect(Float(attributeValue: .real(1e300)) == nil)
        #expect(Float(attributeValue: .real(0.1)) == 0.1)
        #expect(Float(attributeValue: .real(-.infinity)) == -.infinity)
    }
}
