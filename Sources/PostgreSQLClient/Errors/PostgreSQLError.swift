/// The error of this module: it throws no other errors, except those of the caller's own closures.
package struct PostgreSQLError: Error, Sendable {
    /// The kind of the failure: stable, for programs.
    package let code: Code
    /// The failure and, where known, the remedy; one line, for people. The server's message may repeat values of the statement.
    package let message: String
    /// The five characters of the server's SQLSTATE; nil unless the server reported the failure.
    package let sqlState: String?
    /// The position in the statement, in characters from 1; nil without a position.
    package let position: Int?
    /// The constraint that refused a row; nil for other kinds than ``Code/constraint``.
    package let violation: Violation?
    /// The number of the statement in its batch, from 0; nil outside of a batch.
    package let batchIndex: Int?
    /// The server's second message, which often contains values of the row; nil without one.
    package let detail: String?
    /// The underlying failure; nil without one.
    package let cause: (any Error)?

    /// Whether a function of the database has raised the failure by RAISE, so that its owner has written the message.
    package var isRaised: Bool { routine == "exec_stmt_raise" }

    /// The name of the function of the server that reported the failure.
    let routine: String?
    /// Whether the server ended the session with this failure.
    let endsSession: Bool

    init(
        _ code: Code, _ message: String, sqlState: String? = nil, position: Int? = nil, violation: Violation? = nil, batchIndex: Int? = nil,
        detail: String? = nil, cause: (any Error)? = nil, routine: String? = nil, endsSession: Bool = false
    ) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
        self.position = position
        self.violation = violation
        self.batchIndex = batchIndex
        self.detail = detail
        self.cause = cause
        self.routine = routine
        self.endsSession = endsSession
    }

    /// The same failure with another kind, message or place.
    func with(code: Code? = nil, message: String? = nil, batchIndex: Int? = nil) -> PostgreSQLError {
        PostgreSQLError(
            code ?? self.code, message ?? self.message, sqlState: sqlState, position: position, violation: violation,
            batchIndex: batchIndex ?? self.batchIndex, detail: detail, cause: cause, routine: routine, endsSession: endsSession)
    }

    /// The same failure of a statement that is in no batch.
    var outsideOfBatch: PostgreSQLError {
        PostgreSQLError(
            code, message, sqlState: sqlState, position: position, violation: violation, detail: detail, cause: cause, routine: routine,
            endsSession: endsSession)
    }

    /// The kind of a failure. It is a struct, so that a new kind breaks no `switch`; the numbers are stable.
    package struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable number.
        package let rawValue: Int
        /// Makes a kind from its number.
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A call out of order, or an argument out of its range.
        package static let misuse = Code(rawValue: 1)
        /// No connection: no server at the address, no TLS, or a server that is too old.
        package static let connectionFailed = Code(rawValue: 2)
        /// The server refused user or password, or there is no password.
        package static let authentication = Code(rawValue: 3)
        /// The deadline passed, or the server's own limit for a statement. Outside of a transaction, a changing statement may have taken effect.
        package static let timeout = Code(rawValue: 4)
        /// Another thread cancelled the statement.
        package static let cancelled = Code(rawValue: 5)
        /// The connection broke, or the server ended it. An open transaction is undone; outside of a transaction, a changing statement
        /// may have taken effect.
        package static let connectionLost = Code(rawValue: 6)
        /// The connection broke during COMMIT: the transaction took effect completely or not at all, and only its data shows which.
        package static let commitUnknown = Code(rawValue: 7)
        /// The transaction conflicts with another one; it can be repeated.
        package static let serialization = Code(rawValue: 8)
        /// The server ended a deadlock by refusing this statement; its transaction can be repeated.
        package static let deadlock = Code(rawValue: 9)
        /// A lock did not become free within `lock_timeout`, or at once with NOWAIT.
        package static let lockNotAvailable = Code(rawValue: 10)
        /// A constraint refused a row, see ``PostgreSQLError/violation``.
        package static let constraint = Code(rawValue: 11)
        /// A table, column, function, schema or database does not exist.
        package static let undefinedObject = Code(rawValue: 12)
        /// A change in a reading transaction, or on a standby.
        package static let readOnly = Code(rawValue: 13)
        /// The server lacks disk space, memory or free connections.
        package static let outOfResources = Code(rawValue: 14)
        /// The server is shutting down or starting, or an administrator ended the session.
        package static let shuttingDown = Code(rawValue: 15)
        /// A text that PostgreSQL cannot store: U+0000, or a character outside of the database's encoding.
        package static let invalidText = Code(rawValue: 16)
        /// An earlier statement of the transaction failed: only a rollback is possible, and a commit has become one.
        package static let transactionFailed = Code(rawValue: 17)
        /// The columns of a prepared statement changed during its transaction; the transaction can be repeated.
        package static let staleStatement = Code(rawValue: 18)
        /// The connection or the pool was closed by this program.
        package static let closed = Code(rawValue: 19)
        /// A value does not fit its type: out of range, or no number, date or text of that type.
        package static let invalidValue = Code(rawValue: 20)
        /// The user lacks a privilege.
        package static let permission = Code(rawValue: 21)
        /// The server does not understand the statement.
        package static let syntax = Code(rawValue: 22)
        /// Any other failure; ``PostgreSQLError/sqlState`` has the server's kind.
        package static let other = Code(rawValue: 100)

        /// The kind's name, such as `commitUnknown`.
        package var description: String { Code.names[self] ?? "code \(rawValue)" }

        private static let names: [Code: String] = [
            .misuse: "misuse", .connectionFailed: "connectionFailed", .authentication: "authentication", .timeout: "timeout",
            .cancelled: "cancelled", .connectionLost: "connectionLost", .commitUnknown: "commitUnknown", .serialization: "serialization",
            .deadlock: "deadlock", .lockNotAvailable: "lockNotAvailable", .constraint: "constraint", .undefinedObject: "undefinedObject",
            .readOnly: "readOnly", .outOfResources: "outOfResources", .shuttingDown: "shuttingDown", .invalidText: "invalidText",
            .transactionFailed: "transactionFailed", .staleStatement: "staleStatement", .closed: "closed", .invalidValue: "invalidValue",
            .permission: "permission", .syntax: "syntax", .other: "other",
        ]
    }

    /// The constraint that refused a row.
    package struct Violation: Hashable, Sendable {
        /// The kinds of constraints.
        package enum Kind: Sendable {
            /// UNIQUE or PRIMARY KEY: there is such a row.
            case unique
            /// FOREIGN KEY: the other row does not exist, or is still referenced.
            case foreignKey
            /// NOT NULL.
            case notNull
            /// CHECK.
            case check
            /// EXCLUDE, RESTRICT, and others.
            case other
        }
        /// The kind of the constraint.
        package let kind: Kind
        /// The schema of the table; nil where the server does not name it.
        package let schema: String?
        /// The table; nil where the server does not name it.
        package let table: String?
        /// The column; the server names it for NOT NULL only.
        package let column: String?
        /// The name of the constraint; nil for NOT NULL.
        package let constraint: String?
    }
}

extension PostgreSQLError: CustomStringConvertible {
    /// The kind, the message and, where known, the SQLSTATE.
    package var description: String { "\(code): \(message)" + (sqlState.map { " (SQLSTATE \($0))" } ?? "") }
}

extension PostgreSQLError {
    /// Whether the same work can succeed when it is repeated, if need be on another connection: conflicts, deadlocks, locks, lost and refused connections,
    /// and servers that are about to start, stop or run out of something. It is false for ``Code/commitUnknown``: look for the outcome first.
    /// A single statement outside of a transaction may have taken effect before its connection broke; a transaction has not.
    package var canBeRepeated: Bool {
        [
            .serialization, .deadlock, .lockNotAvailable, .connectionFailed, .connectionLost, .shuttingDown, .outOfResources, .staleStatement,
        ].contains(code)
    }
}
