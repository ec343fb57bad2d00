import MobileStore

/// Opens a file for reading: no file is created, no mode switched, no data changed.
/// - Throws: `StoreError` if there is no such file, or it is not a database.
func withInspectedDatabase<R>(_ path: String, _ body: (Database) throws -> R) throws -> R {
    let database = try Database(.inspecting(path))
    defer { try? database.close() }  // no result to lose: the database was only read
    return try body(database)
}

extension ConnectionProfile {
    /// Opens a file for reading only, and leaves it as it is.
    static func inspecting(_ path: String) -> ConnectionProfile {
        var profile = ConnectionProfile(path: path)
        profile.isReadOnly = true
        profile.createsFile = false
        profile.journal = .unchanged
        profile.maxConnections = 1
        return profile
    }
}

extension Database {
    /// Space by table, the largest first; empty if SQLite was built without `dbstat`.
    func tableSpaceWhereKnown() throws -> [TableSpace] {
        do { return try tableSpace() } catch let error as StoreError where error.code == .notFound { return [] }
    }
}
