import MobileModel

/// Persons and their one-to-one objects: parts that may or must have a person, and objects that are not parts.
enum StaffModel {
    static let model = PackageModel(
        name: "Staff",
        objects: [person, thing("Passport", "holder", "passport"), thing("Badge", "holder", "badge", isNullable: false), locker, permit, desk])

    private static func one(_ name: String, _ target: String, inverse: String?, isComposite: Bool = true) -> RelationshipModel {
        RelationshipModel(
            name: name, target: target, cardinality: .oneToOne, isComposite: isComposite, inverse: inverse,
            mapping: [.init(source: "id", target: "personId")])
    }

    private static let person = ObjectModel(
        name: "Person",
        attributes: [
            AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string),
            AttributeModel(name: "deskId", type: .long, isNullable: true),
        ], primaryKey: ["id"],
        relationships: [
            one("passport", "Passport", inverse: "holder"), one("badge", "Badge", inverse: "holder"),
            one("locker", "Locker", inverse: "user", isComposite: false), one("permit", "Permit", inverse: "user", isComposite: false),
            RelationshipModel(name: "desk", target: "Desk", cardinality: .oneToOne, mapping: [.init(source: "deskId", target: "id")]),
        ], operations: OperationModel.plain)

    private static func thing(_ name: String, _ back: String, _ inverse: String, isNullable: Bool = true) -> ObjectModel {
        ObjectModel(
            name: name,
            attributes: [
                AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string),
                AttributeModel(name: "personId", type: .long, isNullable: isNullable),
            ], primaryKey: ["id"],
            relationships: [RelationshipModel(name: back, target: "Person", cardinality: .oneToOne, inverse: inverse)],
            operations: OperationModel.plain)
    }

    private static let locker = thing("Locker", "user", "locker")
    private static let permit = thing("Permit", "user", "permit", isNullable: false)

    private static let desk = ObjectModel(
        name: "Desk", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string)], primaryKey: ["id"],
        operations: OperationModel.plain)
}
