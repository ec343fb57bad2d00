import MobileStore

/// Opens a file to look at it: nothing is made, switched or changed.
/// - Throws: `StoreError` when there is no such file, or when it is no database.
func withInspectedDatabase<R>(_ path: String, _ body: (Database) throws -> R) throws -> R {
    var profile = ConnectionProfile(path: path)
    profile.isReadOnly = true
    profile.createsFile = false
    profile.journal = .unchanged
    profile.maxConnections = 1
    let database = try Database(profile)
    defer { try? database.close() }  // it was only read
    return try body(database)
}

extension Database {
    /// Space by table, the largest first; empty where SQLite was built without `dbstat`.
    func tableSpaceWhereKnown() throws -> [TableSpace] {
        do { return try tableSpace() } catch let error as StoreError where error.code == .notFound { return [] }
    }
}
