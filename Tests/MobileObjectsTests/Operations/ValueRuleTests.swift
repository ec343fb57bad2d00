import Foundation
import MobileModel
import MobileObjects
import Testing

/// Rules of the model for the values that a device saves.
@Suite struct ValueRuleTests {
    private let shop: Shop

    init() throws {
        shop = try Shop(
            PackageModel(
                name: "Desk",
                objects: [
                    ObjectModel(
                        name: "Ticket",
                        attributes: [
                            AttributeModel(name: "id", type: .long),
                            AttributeModel(name: "state", type: .string, isNullable: true, values: ["\"open\"", "\"closed\""]),
                            AttributeModel(name: "level", type: .int, defaultValue: "1", minimum: "1", maximum: "5"),
                            AttributeModel(name: "price", type: .decimal, isNullable: true, precision: 24, scale: 4, minimum: "0.0001"),
                            AttributeModel(name: "weight", type: .double, isNullable: true, maximum: "1.5"),
                            AttributeModel(name: "share", type: .float, isNullable: true, minimum: "0.1", maximum: "0.3"),
                            AttributeModel(name: "height", type: .decimal, isNullable: true, precision: 8, scale: 2, minimum: "1E+1", maximum: "2e2"),
                            AttributeModel(name: "rate", type: .decimal, isNullable: true, precision: 5, scale: 2, values: ["7", "19.50"]),
                        ], primaryKey: ["id"],
                        operations: [OperationModel(name: "create", kind: .create), OperationModel(name: "update", kind: .update)])
                ]))
        try shop.importRows(
            "Ticket", ["id", "state", "level", "price", "weight", "rate"], "[[1,1,\"archived\",0,-1,2,3],[2,2,\"open\",1,null,null,null]]")
    }

    private func decimal(_ text: String) throws -> AttributeValue { .decimal(try #require(Decimal(string: text))) }

    private func refusal(_ attribute: String, _ value: AttributeValue) throws -> String? {
        let ticket = try shop.objects("Ticket").load(2)
        try ticket.set(attribute, value)
        let error = ObjectError.of { try ticket.update() }
        #expect(error == nil || error?.code == .invalidValue)
        return error?.message
    }

    @Test func `a value outside of the rule is refused, and the message says which ones are allowed`() throws {
        #expect(try refusal("state", .string("Open")) == #"Ticket.state: "Open" is not allowed: one of "open", "closed""#)
        #expect(try refusal("level", .integer(0)) == "Ticket.level: 0 is not allowed: 1 to 5")
        #expect(try refusal("level", .integer(6)) == "Ticket.level: 6 is not allowed: 1 to 5")
        #expect(try refusal("price", decimal("0")) == "Ticket.price: 0 is not allowed: at least 0.0001")
        #expect(try refusal("weight", .real(1.5.nextUp)) == "Ticket.weight: 1.5000000000000002 is not allowed: at most 1.5")
        #expect(try refusal("weight", .integer(2)) == "Ticket.weight: 2 is not allowed: at most 1.5", "an integer in a double")
        #expect(try refusal("rate", decimal("7.01")) == "Ticket.rate: 7.01 is not allowed: one of 7, 19.50")
        #expect(try shop.objects("Ticket").load(2).value("level") == .integer(1) && !shop.database.hasPendingOperations())
    }

    @Test func `a value within the rule, and none, are saved`() throws {
        #expect(try refusal("state", .string("closed")) == nil && refusal("state", .null) == nil)
        #expect(try refusal("level", .integer(1)) == nil && refusal("level", .integer(5)) == nil)
        #expect(try refusal("price", decimal("0.0001")) == nil && refusal("price", .null) == nil)
        #expect(try refusal("weight", .real(1.5)) == nil && refusal("weight", .real(-7)) == nil)
        #expect(try refusal("rate", decimal("19.5")) == nil && refusal("rate", .integer(7)) == nil)
    }

    @Test func `a bound is allowed in any notation, also as the nearest float`() throws {
        for bound in [0.1, 0.3] {
            #expect(try refusal("share", .real(bound)) == nil && refusal("share", .real(Double(Float(bound)))) == nil)
        }
        #expect(try refusal("share", .real(0.0999)) != nil && refusal("share", .real(0.3001)) != nil)
        #expect(try refusal("height", decimal("10")) == nil && refusal("height", decimal("200")) == nil)
        #expect(try refusal("height", decimal("9.99")) != nil && refusal("height", decimal("200.01")) != nil)
    }

    @Test func `a new object is checked as well, and rows of the server are not`() throws {
        let old = try shop.objects("Ticket").load(1)
        #expect(try old.value("state") == .string("archived") && old.value("level") == .integer(0))
        try old.set("weight", .real(1))
        try old.update()
        let new = try GenericEntity("Ticket", in: shop.database)
        try new.set("id", .integer(3))
        try new.set("level", .integer(9))
        #expect(ObjectError.of { try new.create() }?.message == "Ticket.level: 9 is not allowed: 1 to 5")
        try new.set("level", .integer(2))
        try new.create()
    }
}
