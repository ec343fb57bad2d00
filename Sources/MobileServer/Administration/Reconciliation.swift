internal import MobileProtocol
internal import MobileStore

extension ServerAdministration {
    /// An entry of the reconciliation report: the fate of an operation that a restored backup, or the copy of a device's database, has put into doubt.
    public struct ReconciledOperation: Sendable, Hashable {
        /// The fate of an operation.
        public enum Fate: String, Sendable, CaseIterable {
            /// The back end accepted it before its backup was restored, and has it no longer. The device lists it with its values.
            case lost
            /// It had been settled before it came again: it was not done a second time.
            case settled
            /// The database of another device has it as well. Its recorded outcome was the answer.
            case recorded
            /// It came from a copied database under its old client id, and was done now.
            case accepted
            /// It came from a copied database under its old client id, and was rejected.
            case rejected
            /// It has the id of another operation, because a database was copied: the device sends it again under an id of its own.
            case renamed

            /// The fate as a phrase for people.
            public var text: String {
                switch self {
                case .lost: "lost with the backup of the back end"
                case .settled: "settled before"
                case .recorded: "done before"
                case .accepted: "done now"
                case .rejected: "rejected now"
                case .renamed: "sent again under another id"
                }
            }
        }

        /// Name and version of the package.
        public let package: String
        /// The client id that the operation has.
        public let client: String
        /// The operation's id.
        public let operation: Int64
        /// The user of the client.
        public let user: String
        /// The client id of the database that reported the operation; empty for the client itself.
        public let successor: String
        /// The object's name in the model.
        public let object: String
        /// The row's surrogate key.
        public let key: Int64
        /// The fate of the operation.
        public let fate: Fate
        /// The time of the entry, in milliseconds since 1970.
        public let noted: Int64
    }

    /// Returns the reconciliation report, the oldest entry first. Entries are kept for ``Retention/reconciliation``.
    /// - Parameter package: name and version; nil (default) for all.
    public func reconciliation(ofPackage package: String? = nil) throws -> [ReconciledOperation] {
        try stateStore.read { try ReconciliationTable.entries(package: package, in: $0) }
    }
}

/// The table of the reconciliation report.
enum ReconciliationTable {
    private enum Column: String, StoredColumn, CaseIterable {
        static let table = "_reconciled"
        case package = "name"
        case client, operation
        case user = "user_name"
        case successor, object, sk, fate, noted
    }

    static func entries(package: String?, in connection: any StateConnection) throws -> [ServerAdministration.ReconciledOperation] {
        try connection.rows(
            """
            SELECT p.name, r.client, r.operation, r.user_name, r.successor, r.object, r.sk, r.fate, r.noted
            FROM _reconciled AS r JOIN _package AS p ON p.id = r.package
            WHERE CAST(?1 AS TEXT) IS NULL OR p.name = CAST(?1 AS TEXT) ORDER BY r.id
            """, [Value(package)]
        ).map { values in
            let row = StoredRow(Column.allCases, values)
            return ServerAdministration.ReconciledOperation(
                package: try row.text(.package), client: try row.text(.client), operation: try row.integer(.operation), user: try row.text(.user),
                successor: try row.text(.successor), object: try row.text(.object), key: try row.integer(.sk), fate: try row.kind(.fate),
                noted: try row.integer(.noted))
        }
    }

    /// An operation with its fate.
    typealias Entry = (operation: Int64, object: String, key: Int64, fate: ServerAdministration.ReconciledOperation.Fate)

    /// Adds entries, each once.
    static func add(
        _ entries: [Entry], package: Int64, client: String, user: String, successor: String, now: Int64, in connection: any StateConnection
    ) throws {
        for entry in entries {
            try connection.execute(
                """
                INSERT INTO _reconciled (package, client, operation, user_name, successor, object, sk, fate, noted)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (package, client, operation, fate) DO NOTHING
                """,
                [
                    .integer(package), .text(client), .integer(entry.operation), .text(user), .text(successor), .text(entry.object),
                    .integer(entry.key), .text(entry.fate.rawValue), .integer(now),
                ])
        }
    }
}
