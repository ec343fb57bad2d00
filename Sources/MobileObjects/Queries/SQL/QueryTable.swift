import MobileModel

/// A source that a query selects from, after its name was looked up: the columns by the names that queries use.
enum QueryTable {
    case entity(EntityMetadata)
    /// A subquery, and its columns.
    case select(NestedSelect)

    /// Returns the name for messages.
    func description(alias: String) -> String {
        guard case .entity(let entity) = self, entity.name != alias else { return "\"\(alias)\"" }
        return "\(entity.name) \"\(alias)\""
    }
}

/// A column of a query's result.
struct QueryResultColumn: Sendable, Equatable {
    /// The name it was given, or the item as written: `c.name`.
    let name: String
    /// The attribute's name alone: `name`; nil where the item is not an attribute.
    let attribute: String?
    let type: QueryType

    func isNamed(_ text: String) -> Bool { name == text || attribute == text }
}

/// The attributes that every object has in addition to the modelled ones, from the state columns of its row.
enum SyntheticAttribute: String, CaseIterable {
    case surrogateKey, pending, isPending, isNew, isDirty, isCreated, isUpdated, isDeleted, pendingChange, replayCounter, replayPending
    case replayFailure, hasLogRecords

    var type: QueryType {
        switch self {
        case .surrogateKey, .replayCounter, .replayPending, .replayFailure: QueryType(.long)
        case .pendingChange: QueryType(.char)
        default: QueryType(.boolean)
        }
    }

    /// - Parameters:
    ///   - source: the name that the row's table has in the statement.
    ///   - component: returns the place where the object's name is bound.
    func sql(of entity: EntityMetadata, source: String, component: (String) -> String) -> String {
        switch self {
        case .surrogateKey: "\(source).\"_sk\""
        case .pending, .isPending: "(\(source).\"_pc\" <> 0)"
        // Both describe objects in memory: a row exists, and is as it was saved.
        case .isNew, .isDirty: "(0 <> 0)"
        case .isCreated: "(\(source).\"_pc\" = \(PendingChange.create.rawValue))"
        case .isUpdated: "(\(source).\"_pc\" = \(PendingChange.update.rawValue))"
        case .isDeleted: "(\(source).\"_pc\" = \(PendingChange.delete.rawValue))"
        case .pendingChange: "substr('NCUDP', \(source).\"_pc\" + 1, 1)"
        case .replayCounter: "\(source).\"_rc\""
        case .replayPending: "\(source).\"_rp\""
        case .replayFailure: "\(source).\"_rf\""
        case .hasLogRecords:
            """
            EXISTS (SELECT 1 FROM "_log_record" WHERE "component" = \(component(entity.serverName)) \
            AND "entity_key" = CAST(\(source)."_sk" AS TEXT) AND "state" < 3)
            """
        }
    }
}
