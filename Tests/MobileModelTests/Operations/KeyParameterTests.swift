import MobileModel
import Testing

/// The parameters of an operation of the kind `other` that are the primary key of an object.
@Suite struct KeyParameterTests {
    private static func object(_ parameters: [ParameterModel], key: [String] = ["id"]) -> ObjectModel {
        ObjectModel(
            name: "Customer",
            attributes: [
                AttributeModel(name: "name", type: .string), AttributeModel(name: "id", type: .long), AttributeModel(name: "line", type: .int),
            ], primaryKey: key, operations: [OperationModel(name: "raise", kind: .other, parameters: parameters)])
    }

    private static let amount = ParameterModel(name: "amount", type: .decimal)

    @Test(
        "they have the name of a key's attribute, or the object's name before it, and its type",
        arguments: [
            ([ParameterModel(name: "id", type: .long)], [0: 1]), ([amount, ParameterModel(name: "customerId", type: .long)], [1: 1]),
            ([ParameterModel(name: "customerId", type: .int)], [:]), ([ParameterModel(name: "customerid", type: .long)], [:]),
            ([ParameterModel(name: "id", type: .long, isNullable: true)], [:]), ([ParameterModel(name: "orderId", type: .long)], [:]),
            ([amount], [:]), ([], [:]),
        ] as [([ParameterModel], [Int: Int])])
    func names(parameters: [ParameterModel], expected: [Int: Int]) {
        let object = Self.object(parameters)
        #expect(object.keyParameters(of: object.operations[0]) == expected)
    }

    @Test func `a key of several attributes is named as a whole`() {
        let id = ParameterModel(name: "customerId", type: .long), line = ParameterModel(name: "line", type: .int)
        let whole = Self.object([line, Self.amount, id], key: ["id", "line"]), part = Self.object([id, Self.amount], key: ["id", "line"])
        #expect(whole.keyParameters(of: whole.operations[0]) == [2: 1, 0: 2])
        #expect(part.keyParameters(of: part.operations[0]) == [:])
        let without = Self.object([id], key: [])
        #expect(without.keyParameters(of: without.operations[0]) == [:])
    }

    @Test func `an update fills its parameters by itself`() {
        let object = Self.object([ParameterModel(name: "id", type: .long)])
        let update = OperationModel(name: "rename", kind: .update, parameters: [ParameterModel(name: "id", type: .long)])
        #expect(object.keyParameters(of: update) == [:])
    }
}
