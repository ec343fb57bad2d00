import MobileStore

/// The reason for which the server refused a change of a row: the row changed in the back end since the device last saw it. Only objects whose model has
/// `"conflicts": "refuse"` have conflicts.
public struct RowConflict: Sendable, Hashable {
    /// The values of the back end's row at the refusal, by attribute, without large ones. Nil if the row was deleted, or is not among the rows that this
    /// device synchronizes any more.
    public let row: [String: AttributeValue]?

    /// Whether the back end had no row for this device any more.
    public var isGone: Bool { row == nil }
}

extension Entity {
    /// Returns the conflict that the server found in the last submission of this object's change; nil if it refused it for another reason or not at all,
    /// and after the change was submitted again or cancelled. It is there in ``CallbackHandler/onReplayFailure(_:)``.
    ///
    ///     if let conflict = try customer.conflict() {
    ///         print("You: \(customer.city). The office: \(conflict.row?["city"] ?? .null)")
    ///         try customer.cancelPending()  // the version of the office
    ///     }
    ///
    /// - Throws: ``ObjectError``: `.store`; `.corrupt` where an attribute cannot have the back end's value.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func conflict() throws -> RowConflict? {
        let metadata = metadata, key = surrogateKey
        guard metadata.refusesConflicts else { return nil }
        return try package.read { try RowConflict.find(metadata, key, $0) }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func conflict() async throws -> RowConflict? {
        let metadata = metadata, key = surrogateKey
        guard metadata.refusesConflicts else { return nil }
        return try await package.read { try RowConflict.find(metadata, key, $0) }
    }
}

extension RowConflict {
    fileprivate static func find(_ metadata: EntityMetadata, _ key: Int64, _ connection: Connection) throws -> RowConflict? {
        let row = try connection.storedRow(
            [BasisColumn.row], "WHERE \"entity\" = ?1 AND \"sk\" = ?2 AND \"refused\" = 1", [.text(metadata.name), .integer(key)])
        guard let row else { return nil }
        guard try row.optionalText(.row) != nil else { return RowConflict(row: nil) }
        let values = try row.object(.row).compactMap { member -> (String, AttributeValue)? in
            guard let attribute = metadata.attribute(ifNamed: member.key) else { return nil }
            guard let value = attribute.storage.attributeValue(member.value) else {
                throw ObjectError(
                    .corrupt, "conflict of \(metadata.name) \(key): the server's \(attribute.name) is \(member.value), expected \(attribute.type)")
            }
            return (attribute.name, value)
        }
        return RowConflict(row: Dictionary(values) { $1 })
    }
}

extension Transaction {
    /// Notes that the server refused a submission because of a conflict.
    func noteConflict(_ row: JSONObject?, of entity: EntityMetadata, _ key: Int64) throws {
        guard entity.refusesConflicts else { return }
        try connection.execute(
            "UPDATE \"_basis\" SET \"refused\" = 1, \"row\" = ?3 WHERE \"entity\" = ?1 AND \"sk\" = ?2",
            [.text(entity.name), .integer(key), row.map { .text(JSONValue.object($0).description) } ?? .null])
    }
}
