import MobileModel
import MobileObjects
import MobileStore
import Testing

/// The objects of the random test: customers own orders and refer to products.
enum Kind: String, CaseIterable, Comparable {
    case customer = "Customer"
    case order = "SalesOrder"
    case product = "Product"

    static func < (left: Kind, right: Kind) -> Bool { allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)! }

    /// The columns that a device may change, apart from the reference.
    var texts: [String] {
        switch self {
        case .customer: ["name", "city"]
        case .order: ["status", "note"]
        case .product: ["name"]
        }
    }

    /// The relationship to one other object.
    var reference: (name: String, target: Kind, attribute: String)? {
        switch self {
        case .customer: ("favourite", .product, "favouriteId")
        case .order: ("customer", .customer, "customerId")
        case .product: nil
        }
    }

    /// All columns that are compared. `revision` is the back end's own.
    var columns: [String] { texts + ["revision"] + (reference.map { [$0.name] } ?? []) }
}

/// One version of a row: its columns, a reference as the key that it leads to; empty for NULL.
struct Version: Equatable, CustomStringConvertible {
    let kind: Kind
    var values: [String: String]

    /// The row that this one refers to; 0 where there is none.
    var target: Int64 { Int64(values[kind.reference?.name ?? ""] ?? "") ?? 0 }

    /// The customer of an order; 0 where there is none.
    var parent: Int64 { kind == .order ? target : 0 }

    var description: String { kind.columns.map { "\($0)=\(values[$0] ?? "")" }.joined(separator: " ") }
}

extension Shop {
    /// Makes a shop whose rows have the columns that the random test needs.
    static func random() throws -> Shop {
        func text(_ name: String) -> AttributeModel {
            AttributeModel(name: name, type: .string, isNullable: true, isSearchable: ["name", "city", "note"].contains(name))
        }
        let revision = AttributeModel(name: "revision", type: .long, isNullable: true)
        let customer = ObjectModel(
            name: "Customer",
            attributes: [AttributeModel(name: "id", type: .string), text("name"), text("city"), revision, text("favouriteId")], primaryKey: ["id"],
            relationships: [
                RelationshipModel(
                    name: "orders", target: "SalesOrder", cardinality: .oneToMany, isComposite: true, inverse: "customer",
                    mapping: [.init(source: "id", target: "customerId")]),
                RelationshipModel(
                    name: "favourite", target: "Product", cardinality: .manyToOne, mapping: [.init(source: "favouriteId", target: "id")]),
            ], operations: OperationModel.plain)
        let order = ObjectModel(
            name: "SalesOrder",
            attributes: [
                AttributeModel(name: "number", type: .long, isGenerated: true), text("customerId"), text("status"), text("note"), revision,
            ], primaryKey: ["number"],
            relationships: [RelationshipModel(name: "customer", target: "Customer", cardinality: .manyToOne, inverse: "orders")],
            operations: OperationModel.plain)
        let product = ObjectModel(
            name: "Product", attributes: [AttributeModel(name: "id", type: .string), text("name"), revision], primaryKey: ["id"],
            operations: OperationModel.plain)
        return try Shop(PackageModel(name: "RandomShop", objects: [customer, order, product]))
    }

    /// Returns the rows that the application sees: `key values letter counter submitted failed`.
    func visible() throws -> [String] {
        try rows {
            "SELECT \"_sk\", \($0), \"_pc\", \"_rc\", \"_rp\", \"_rf\" FROM \"\($1.rawValue)\""
        } line: { kind, row in
            let state = row.dropFirst(1 + kind.columns.count)
            return "\(Self.version(kind, row)) \(Self.letter(state.first)) " + state.dropFirst().map { "\($0.integer ?? 0)" }.joined(separator: " ")
        }
    }

    /// Returns rows with a pending change of their own.
    func pending() throws -> [String] {
        try rows { _, kind in
            "SELECT \"_sk\", \"_pc\", \"_rc\", \"_rp\", \"_rf\" FROM \"\(kind.rawValue)_os\""
        } line: { _, row in
            "\(Self.letter(row[1])) " + row.dropFirst(2).map { "\($0.integer ?? 0)" }.joined(separator: " ")
        }
    }

    /// Returns only the rows.
    func contents() throws -> [String] {
        try rows {
            "SELECT \"_sk\", \($0) FROM \"\($1.rawValue)\""
        } line: { kind, row in
            "\(Self.version(kind, row))"
        }
    }

    /// Returns the waiting operations of the outbox: `id change key values`.
    func waiting() throws -> [String] {
        try database.outbox.map { record in
            let kind = try #require(Kind(rawValue: record.entity))
            let sent = kind.columns.sorted().compactMap { column in ReferenceServer.sent(column, in: record, kind).map { "\(column)=\($0)" } }
            return "\(record.id) \(record.change.rawValue) \(record.surrogateKey) \(sent.joined(separator: " "))"
        }
    }

    private func rows(_ sql: (_ columns: String, Kind) -> String, line: (Kind, [Value]) -> String) throws -> [String] {
        var lines: [(Int64, String)] = []
        for kind in Kind.allCases {
            let columns = kind.columns.map { $0 == kind.reference?.name ? "\"_ref_\($0)\"" : "\"\($0)\"" }.joined(separator: ", ")
            for row in try database.read({ try $0.rows(sql(columns, kind)) }) {
                let key = row[0].integer ?? 0
                lines.append((key, "\(key) \(line(kind, row))"))
            }
        }
        return lines.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private static func version(_ kind: Kind, _ row: [Value]) -> Version {
        let values = zip(kind.columns, row.dropFirst()).map { ($0, $1.text ?? $1.integer.map { String($0) } ?? "") }
        return Version(kind: kind, values: Dictionary(uniqueKeysWithValues: values))
    }

    private static func letter(_ value: Value?) -> Character { (PendingChange(rawValue: Int(value?.integer ?? 0)) ?? .none).letter }
}
