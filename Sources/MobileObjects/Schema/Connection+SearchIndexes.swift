import MobileStore

extension Connection {
    /// Makes the index of a new or renewed table with all of its rows.
    func makeSearchIndex(of entity: EntityMetadata) throws {
        guard let search = entity.search else { return }
        try withoutReporting {
            for statement in search.tableStatements + search.rebuild + search.triggerStatements { try execute(statement) }
        }
    }

    func dropSearchIndex(of entity: EntityMetadata) throws {
        guard let search = entity.search else { return }
        try withoutReporting { for statement in search.dropTriggers + search.dropTables { try execute(statement) } }
    }
}
