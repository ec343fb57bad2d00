internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The values of references in the form of the rows that they refer to.
///
/// **A reference repeats the key of its row as the back end has stored it.** Devices have one form of each time, back ends have others in columns of text, and
/// compare texts. *If you break it*: "2024-03-02 10:10" is a row, the reference "2024-03-02T10:10:00.000Z" leads nowhere, and the operation is refused.
struct ReferenceForms {
    let connection: any BackEndConnection
    /// Returns the object of a name; nil if it has no table in this back end.
    let target: (String) -> SQLObject?

    /// Returns the stored forms of references that an operation writes, by the attributes that hold them. Where the row is not there, or has the given form, the
    /// values stay as they are.
    /// - Parameter values: the values to write, in the form of the back end.
    func stored(_ operation: BackEndOperation, _ object: SQLObject, _ values: [String: Value]) throws -> [String: Value] {
        var stored: [String: Value] = [:]
        for reference in object.plan.references {
            let given = reference.pairs.compactMap { values[$0.source.name] }
            guard given.count == reference.pairs.count, !given.contains(.null), let target = target(reference.target) else { continue }
            let columns = reference.pairs.map { target.column($0.key.name) }
            guard zip(reference.pairs, columns).contains(where: { target.expressions.hasSeveralForms($0.key, $1) }) else { continue }
            let key = reference.pairs.map { ($0.key.name, operation.values[$0.source.name] ?? .null) }
            guard let row = RowKey(wire: JSONObject(uniqueKeys: key), of: target.plan) else { continue }
            // With an index, where the row has the form of devices.
            let isSame = columns.enumerated().map { "\($0.element.sql) = ?\($0.offset + 1)" }.joined(separator: " AND ")
            guard try !connection.exists("SELECT 1 FROM \(target.table.sql) WHERE \(isSame)", given) else { continue }
            let condition = target.condition(row), names = columns.map(\.sql).joined(separator: ", ")
            let found = try connection.first("SELECT \(names) FROM \(target.table.sql) WHERE \(condition.sql) LIMIT 1", condition.values)
            for (pair, value) in zip(reference.pairs, found ?? []) { stored[pair.source.name] = value }
        }
        return stored
    }
}
