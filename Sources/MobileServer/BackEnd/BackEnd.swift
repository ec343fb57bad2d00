internal import MobileStore

/// A database of the enterprise: any SQLite file. Its journal mode stays unchanged; foreign keys are enforced.
///
/// Rows are loaded on the single reader of `database`, which stays open. Its `data_version` therefore shows whether another connection has changed
/// the file since a load. Large values are read on separate connections, because reading them can take long.
final class BackEnd: Sendable {
    /// The name in the model.
    let name: String
    let path: String
    let database: Database
    let contents: Database
    /// Whether operations may be repeated without harm. Their ids are not recorded in that case.
    let isIdempotent: Bool

    /// - Parameter timeout: the time to wait for a connection.
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

    /// Returns a number that stays the same on the held reader until another connection changes the file. Begins the snapshot of a read.
    static func dataVersion(_ connection: Connection) throws(StoreError) -> Int64 {
        try connection.number("PRAGMA data_version")
    }
}
