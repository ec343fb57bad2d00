import MobileModel
import MobileObjects
import MobileStore

/// The package for tests of operations: tickets that are created with credentials and moved with a reason, contacts with plain operations, notes
/// without any.
enum Helpdesk {
    static let model = PackageModel(
        name: "Helpdesk",
        structures: [
            StructureModel(
                name: "AuthenticationInfo",
                attributes: [
                    AttributeModel(name: "userName", type: .string), AttributeModel(name: "password", type: .string),
                    AttributeModel(name: "locale", type: .string, isNullable: true),
                ])
        ],
        objects: [ticket, contact, notice])

    private static let credentials = ParameterModel(name: "auth", type: .structure("AuthenticationInfo"), isNullable: true)

    static let ticket = ObjectModel(
        name: "Ticket",
        attributes: [
            AttributeModel(name: "id", type: .long, isGenerated: true), AttributeModel(name: "company", type: .string),
            AttributeModel(name: "city", type: .string, isNullable: true),
            AttributeModel(name: "effort", type: .decimal, precision: 10, scale: 4, defaultValue: "0"),
        ],
        primaryKey: ["id"],
        operations: [
            OperationModel(
                name: "submit", kind: .create,
                parameters: [
                    credentials, ParameterModel(name: "groups", type: .nullableList(.string), isNullable: true),
                    ParameterModel(name: "firm", type: .string, attribute: "company"), ParameterModel(name: "action", type: .string),
                    ParameterModel(name: "day", type: .date, isNullable: true),
                ]),
            OperationModel(
                name: "move", kind: .update,
                parameters: [
                    ParameterModel(name: "reason", type: .string, defaultValue: "\"none\""),
                    ParameterModel(name: "hours", type: .decimal, attribute: "effort"), ParameterModel(name: "stops", type: .list(.int)),
                ]),
            OperationModel(name: "reopen", kind: .update, parameters: [ParameterModel(name: "reason", type: .string)]),
            OperationModel(name: "update", kind: .update),
            OperationModel(name: "delete", kind: .delete),
            OperationModel(name: "discard", kind: .delete, parameters: [ParameterModel(name: "reason", type: .string)]),
            OperationModel(
                name: "closeAll", kind: .other,
                parameters: [
                    ParameterModel(name: "P1", type: .string), ParameterModel(name: "P2", type: .int), ParameterModel(name: "P3", type: .dateTime),
                    ParameterModel(name: "tags", type: .nullableList(.string), isNullable: true),
                ]),
        ])

    private static let contact = ObjectModel(
        name: "Contact", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "name", type: .string)], primaryKey: ["id"],
        operations: OperationModel.plain)

    private static let notice = ObjectModel(
        name: "Notice", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "text", type: .string)], primaryKey: ["id"])
}

/// A database of the package.
final class HelpdeskDatabase {
    let shop: Shop
    var database: PackageDatabase { shop.database }

    init(_ model: PackageModel = Helpdesk.model, grantingKeys: Bool = true) throws { shop = try Shop(model, grantingKeys: grantingKeys) }

    /// Returns the index of an operation of an object by name, as generated methods know it.
    func index(_ operation: String, of object: String = "Ticket") throws -> Int {
        try database.metadata.entity(named: object).operation(named: operation).index
    }

    func newTicket(_ company: String = "Calbro Services") throws -> GenericEntity { try shop.new("Ticket", ["company": .string(company)]) }

    /// Finds a ticket as the server sends it.
    func importedTicket(_ key: Int64 = 1) throws -> GenericEntity {
        try shop.importRows("Ticket", ["id", "company", "city", "effort"], "[[\(key),\(key),\"Calbro\",\"Cork\",1.5]]")
        return try shop.objects("Ticket").load(key)
    }

    /// Returns the waiting operations of the outbox: change, object, operation, parameters.
    func outboxLines() throws -> [String] {
        try database.outbox.map { "\($0.change.rawValue) \($0.entity) \($0.operation) \(JSONValue.object($0.parameters))" }
    }

    /// Returns the name and the parameters in the original state of a row.
    func pendingOperation(_ key: Int64, of object: String = "Ticket") throws -> String? {
        try database.read { try $0.first("SELECT \"_on\" || ' ' || \"_pa\" FROM \"\(object)_os\" WHERE \"_sk\" = ?1", [.integer(key)])?.first?.text }
    }
}

extension ObjectError {
    /// Returns the error that `body` throws; nil where it throws none, or another.
    static func of(_ body: () throws -> Void) -> ObjectError? {
        do { try body() } catch { return error as? ObjectError }
        return nil
    }
}
