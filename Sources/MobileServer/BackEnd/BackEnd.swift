internal import MobileStore

/// A database of the enterprise: any SQLite file. Its journal mode is left alone, foreign keys are enforced.
///
/// Rows are loaded on the one reader of `database`, which stays open: so its `data_version` tells whether anybody has changed
/// the file since a load. Large values are read on connections of their own, because that can take long.
final class BackEnd: Sendable {
    /// The name in the model.
    let name: String
    let path: String
    let database: Database
    let contents: Database
    /// Operations may be repeated without harm, so their ids are not kept.
    let isIdempotent: Bool

    /// - Parameter timeout: how long anybody waits for a connection.
    init(name: String, path: String, isIdempotent: Bool, timeout: Duration) throws(ServerError) {
        self.name = name
        self.path = path
        self.isIdempotent = isIdempotent
        do {
            var profile = ConnectionProfile(path: path)
            profile.journal = .unchanged
            profile.foreignKeys = true
            profile.createsFile = false
            profile.connectionTimeout = timeout
            profile.maxConnections = 1
            database = try Database(profile)
            profile.maxConnections = 2
            contents = try Database(profile)
        } catch {
            let reason = error.code == .notFound ? "there is no file \(path)" : error.message
            throw ServerError(.missingBackEnd, "back end \"\(name)\": \(reason)", cause: error)
        }
    }

    func close() throws(StoreError) {
        try contents.close()
        try database.close()
    }

    /// A number that stays the same on the held reader until somebody else has changed the file. Begins the snapshot of a read.
    static func dataVersion(_ connection: Connection) throws(StoreError) -> Int64 {
        try connection.number("PRAGMA data_version")
    }
}
