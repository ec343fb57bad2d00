package import MobileStore

/// The state store of the server as the faces of other protocols use it: for tables of their own, with names that begin with an underscore and the
/// protocol's name. SQL is written in the subset that ``StateStore`` describes.
package final class FaceState: Sendable {
    private let store: any StateStore

    /// One transaction.
    package struct Transaction {
        fileprivate let connection: any StateConnection

        /// Runs a statement.
        /// - Returns: the number of rows that it changed.
        @discardableResult
        package func execute(_ sql: String, _ values: [Value] = []) throws -> Int { try connection.execute(sql, values) }

        /// Returns all rows of a query.
        package func rows(_ sql: String, _ values: [Value] = []) throws -> [[Value]] { try connection.rows(sql, values) }
    }

    /// The parts of SQL that depend on the engine.
    package struct Dialect {
        /// The type of a key that the engine counts up.
        package let id: String
        /// The type of bytes.
        package let bytes: String
        /// The end of the definition of a table that is ordered by its primary key.
        package let ordered: String
    }

    /// Opens the store of a configuration, next to the server that may use it too, and creates missing tables.
    /// - Parameters:
    ///   - createsFile: whether a store in a file that is missing is made; default true.
    ///   - tables: the statements that create the tables and indices, each with `IF NOT EXISTS`.
    /// - Throws: ``ServerError``.
    package init(_ configuration: ServerConfiguration, createsFile: Bool = true, tables: (Dialect) -> [String]) throws {
        store = try configuration.openStateStore(createsFile: createsFile)
        let dialect = Dialect(id: store.dialect.id, bytes: store.dialect.bytes, ordered: store.dialect.ordered)
        try store.write(label: "tables of a face") { connection in
            for statement in tables(dialect) { try connection.execute(statement) }
        }
    }

    /// Runs `body` on one snapshot.
    /// - Parameter body: may run again, when the connection to the engine breaks.
    package func read<R>(_ body: (Transaction) throws -> R) throws -> R { try store.read { try body(Transaction(connection: $0)) } }

    /// Runs `body` in a transaction, and commits it.
    /// - Parameter body: may run again after a conflict with another process; only the last run takes effect.
    @discardableResult
    package func write<R>(label: String, _ body: (Transaction) throws -> R) throws -> R {
        try store.write(label: label) { try body(Transaction(connection: $0)) }
    }

    /// Closes the connections.
    package func close() throws { try store.close() }

    /// The accounts of the same store.
    package func accounts(_ configuration: ServerConfiguration) -> FaceAccounts {
        FaceAccounts(Accounts(stateStore: store, configuration: configuration))
    }
}

/// The users of the server, for logins over the protocols of faces. Failed logins are slowed down as those of the server itself.
package struct FaceAccounts: Sendable {
    private let accounts: Accounts

    init(_ accounts: Accounts) { self.accounts = accounts }

    /// The result of a login.
    package enum Login: Sendable, Equatable {
        case accepted
        /// The name or the password is wrong, or the user is locked; the text does not say which of the first two.
        case refused(String)
        /// The name or the address has to wait, or the server is busy.
        case later(String)
    }

    /// Creates a user, or sets the password of one.
    package func setUser(_ name: String, password: String) throws { try accounts.setUser(name, password: password) }

    /// Checks a password.
    /// - Parameter address: that of the client.
    package func login(user: String, password: String, from address: String) throws -> Login {
        do {
            try accounts.verify(user: user, password: password, from: address)
            return .accepted
        } catch let failure as RequestFailure {
            return failure.code == RequestFailure.Kind.unavailable.rawValue ? .later(failure.message) : .refused(failure.message)
        }
    }
}
