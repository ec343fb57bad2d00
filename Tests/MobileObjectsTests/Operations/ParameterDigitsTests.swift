import Foundation
import MobileModel
import MobileObjects
import Testing

/// Parameters of operations have length and digits as attributes have them.
@Suite struct ParameterDigitsTests {
    private let shop: Shop

    init() throws {
        let amount = ParameterModel(name: "amount", type: .decimal, precision: 24, scale: 6)
        let reason = ParameterModel(name: "reason", type: .string, length: 20, defaultValue: "\"none\"")
        shop = try Shop(
            PackageModel(
                name: "Desk",
                objects: [
                    ObjectModel(
                        name: "Bill", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string, length: 12)],
                        primaryKey: ["id"],
                        operations: [
                            OperationModel(
                                name: "pay", kind: .update,
                                parameters: [amount, reason, ParameterModel(name: "payer", type: .string, attribute: "name")]),
                            OperationModel(name: "payAll", kind: .other, parameters: [amount]),
                        ])
                ]))
        try shop.importRows("Bill", ["id", "name"], "[[1,1,\"Ada\"]]")
    }

    private func decimal(_ text: String) throws -> AttributeValue { .decimal(try #require(Decimal(string: text))) }

    @Test("a decimal has the digits of its parameter, and no others are taken")
    func digits() throws {
        let bill = try shop.objects("Bill").load(1)
        try bill.call("pay", ["amount": decimal("123456789012345678.000001")])
        try bill.submitPending()
        let record = try #require(try shop.database.outbox.last)
        #expect(JSONValue.object(record.parameters).description.contains(#""amount":123456789012345678.000001"#))
        for text in ["0.0000001", "1234567890123456789"] {
            let error = ObjectError.of { try bill.call("pay", ["amount": try self.decimal(text)]) }
            #expect(error?.code == .invalidValue, "\(text)")
            #expect(
                error?.message
                    == #"parameter "amount" of operation "pay": \#(text) does not fit decimal(24, 6): at most 18 digits before the point and 6 after it"#
            )
        }
    }

    @Test("of an operation that is an object, too")
    func otherOperation() throws {
        let bill = try shop.objects("Bill").load(1)
        let call = try bill.call("payAll", ["amount": decimal("123456789012345678.000001")])
        #expect(try shop.objects("BillPayAllOperation").load(call.surrogateKey).value("amount") == decimal("123456789012345678.000001"))
        #expect(ObjectError.of { try bill.call("payAll", ["amount": try self.decimal("0.0000001")]) }?.code == .invalidValue)
    }

    @Test("MET-05: a parameter tells its longest value, or that of the attribute which fills it")
    func length() throws {
        let pay = try shop.database.metadata.entity(named: "Bill").operation(named: "pay")
        #expect(pay.parameters.map(\.length) == [nil, 20, 12])
    }
}
