import MobileModel

/// The package of these tests: customers who own orders, which own lines; products with large attributes; a local object.
enum ShopModel {
    static let model = PackageModel(
        name: "Shop", personalizationKeys: personalizationKeys,
        synchronizationGroups: [SynchronizationGroupModel(name: "default"), SynchronizationGroupModel(name: "catalog")],
        objects: [customer, order, line, product, note])

    private static let personalizationKeys = [
        PersonalizationKeyModel(name: "region", type: .string, defaultValue: "\"NORTH\""),
        PersonalizationKeyModel(name: "password", type: .string, isNullable: true, storage: .session),
    ]

    private static let customer = ObjectModel(
        name: "Customer",
        attributes: [
            AttributeModel(name: "id", type: .string, length: 20),
            AttributeModel(name: "name", type: .string, length: 80),
            AttributeModel(name: "city", type: .string, isNullable: true),
            AttributeModel(name: "credit", type: .decimal, precision: 12, scale: 2, defaultValue: "0"),
            AttributeModel(name: "since", type: .date, isNullable: true),
        ],
        primaryKey: ["id"],
        relationships: [
            RelationshipModel(
                name: "orders", target: "SalesOrder", cardinality: .oneToMany, isComposite: true, inverse: "customer",
                mapping: [.init(source: "id", target: "customerId")]),
            RelationshipModel(name: "favourite", target: "Product", cardinality: .manyToOne),
        ],
        synchronizationParameters: [ParameterModel(name: "region", type: .string, personalizationKey: "region")],
        queries: [
            QueryModel(
                name: "findByCity", parameters: [ParameterModel(name: "city", type: .string)],
                sql: "SELECT x.* FROM Customer x WHERE x.city = :city ORDER BY x.name"),
            QueryModel(
                name: "findRich", parameters: [ParameterModel(name: "least", type: .decimal)],
                sql: "SELECT x.* FROM Customer AS x WHERE x.credit >= :least AND credit < 1000.50 ORDER BY x.credit, x.id"),
            QueryModel(
                name: "findFirstOf", parameters: [ParameterModel(name: "status", type: .string)], isSingle: true,
                sql: "SELECT DISTINCT x.* FROM Customer x JOIN SalesOrder o ON o.customerId = x.id WHERE o.status = :status ORDER BY x.name LIMIT 1"),
        ], operations: OperationModel.plain)

    private static let order = ObjectModel(
        name: "SalesOrder",
        attributes: [
            AttributeModel(name: "number", type: .long, isGenerated: true),
            AttributeModel(name: "customerId", type: .string),
            AttributeModel(name: "status", type: .string, defaultValue: "\"NEW\""),
        ],
        primaryKey: ["number"],
        relationships: [
            RelationshipModel(name: "customer", target: "Customer", cardinality: .manyToOne, inverse: "orders"),
            RelationshipModel(
                name: "lines", target: "Line", cardinality: .oneToMany, isComposite: true, inverse: "order",
                mapping: [.init(source: "number", target: "orderNumber")]),
        ], operations: OperationModel.plain)

    private static let line = ObjectModel(
        name: "Line",
        attributes: [
            AttributeModel(name: "orderNumber", type: .long),
            AttributeModel(name: "line", type: .int),
            AttributeModel(name: "text", type: .string),
        ],
        primaryKey: ["orderNumber", "line"],
        relationships: [RelationshipModel(name: "order", target: "SalesOrder", cardinality: .manyToOne, inverse: "lines")],
        operations: OperationModel.plain)

    private static let product = ObjectModel(
        name: "Product",
        attributes: [
            AttributeModel(name: "id", type: .long),
            AttributeModel(name: "name", type: .string),
            AttributeModel(name: "price", type: .decimal, precision: 10, scale: 2),
            AttributeModel(name: "released", type: .dateTime, isNullable: true),
            AttributeModel(name: "picture", type: .bigBinary, isNullable: true),
            AttributeModel(name: "manual", type: .bigString, isNullable: true),
        ],
        primaryKey: ["id"], operations: OperationModel.plain, synchronizationGroup: "catalog")

    private static let note = ObjectModel(
        name: "Note", isLocal: true,
        attributes: [AttributeModel(name: "title", type: .string), AttributeModel(name: "body", type: .string, isNullable: true)],
        primaryKey: ["title"])
}
