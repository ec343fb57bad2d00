import MobileModel

/// Objects that refer to each other in both directions of the model's order, to themselves, and as parts of trees.
enum SupplyModel {
    static let model = PackageModel(name: "Supply", objects: [contact, product, part])

    private static func reference(_ name: String, _ target: String, inverse: String? = nil) -> RelationshipModel {
        RelationshipModel(name: name, target: target, cardinality: .manyToOne, inverse: inverse)
    }

    private static let contact = ObjectModel(
        name: "Contact", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string)], primaryKey: ["id"],
        relationships: [reference("product", "Product")], operations: OperationModel.plain)

    private static let product = ObjectModel(
        name: "Product", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string)], primaryKey: ["id"],
        relationships: [
            reference("supplier", "Contact"), reference("substitute", "Product"),
            RelationshipModel(
                name: "parts", target: "Part", cardinality: .oneToMany, isComposite: true, inverse: "product",
                mapping: [.init(source: "id", target: "productId")]),
        ], operations: OperationModel.plain)

    private static let part = ObjectModel(
        name: "Part",
        attributes: [
            AttributeModel(name: "id", type: .long), AttributeModel(name: "productId", type: .long, isNullable: true),
            AttributeModel(name: "name", type: .string),
        ], primaryKey: ["id"],
        relationships: [reference("product", "Product", inverse: "parts"), reference("twin", "Part")], operations: OperationModel.plain)
}
