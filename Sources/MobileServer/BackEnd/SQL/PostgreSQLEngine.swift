internal import Foundation
internal import MobileModel
internal import MobileProtocol
internal import MobileStore
internal import PostgreSQLClient

/// An error of a back end in PostgreSQL. Errors of the server's own state are ``PostgreSQLError`` themselves.
struct PostgreSQLBackEndError: Error, CustomStringConvertible {
    let error: PostgreSQLError
    /// The statement that failed; nil at the begin and the end of a transaction.
    let statement: String?

    /// The beginning of the statement and the engine's own message, for the operator.
    var description: String { (statement.map { "\"\($0.prefix(200))\": " } ?? "") + "\(error)" }

    /// Whether another session has created the same object first.
    var isCollision: Bool { error.code == .constraint || ["42P07", "42710"].contains(error.sqlState) }  // duplicate_table, duplicate_object

    /// Runs `body`, and marks its error.
    static func marking<R>(_ statement: String? = nil, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as PostgreSQLError { throw PostgreSQLBackEndError(error: error, statement: statement) }
    }
}

/// The places of back ends.
package enum PostgreSQLPlace {
    /// Whether a place is the address of a PostgreSQL database, rather than a file.
    package static func isAddress(_ place: String) -> Bool { place.hasPrefix("postgresql://") || place.hasPrefix("postgres://") }
}

/// A back end in a PostgreSQL database.
final class PostgreSQLEngine: SQLEngine {
    let place: String
    private let pool: PostgreSQLPool
    /// The time to wait for a connection. Opening one has a second at least.
    private let timeout: Duration

    /// The time for one load of a partition, or one replay of a batch.
    private static let timeLimit = Duration.seconds(900)

    /// Connects once.
    /// - Parameters:
    ///   - name: the name in the model, for messages.
    ///   - timeout: the time to wait for a connection, and for a lock that other sessions hold.
    init(name: String, address: String, timeout: Duration) throws {
        place = address
        self.timeout = max(timeout, .seconds(1))
        var settings = PostgreSQLConfiguration(address, applicationName: "MobileServer", connectionTimeout: self.timeout)
        settings.timeLimit = Self.timeLimit
        settings.lockTimeout = max(timeout, .milliseconds(1))
        pool = PostgreSQLPool(settings)
        do { try pool.withConnection { _ = try $0.first("SELECT 1") } } catch {
            pool.close()
            // The message does not repeat an address that contains a password.
            guard (error as? PostgreSQLError)?.code != .misuse else {
                throw ServerError(.configuration, "back end \"\(name)\": \((error as? PostgreSQLError)?.message ?? "")", cause: error)
            }
            throw ServerError(.missingBackEnd, "back end \"\(name)\" (\(address)): \(error)", cause: error)
        }
    }

    func read<R>(_ body: (any BackEndConnection) throws -> R) throws -> R {
        try transaction(.repeatableRead, .readOnly) { connection in
            // While rows go to the cache, the session waits inside of its transaction. It holds no lock.
            try PostgreSQLBackEndError.marking { try connection.run(script: "SET LOCAL idle_in_transaction_session_timeout = 0") }
            return try body(PostgreSQLBackEndConnection(connection: connection))
        }
    }

    func readContents<R>(_ body: (any BackEndConnection) throws -> R) throws -> R { try read(body) }

    /// Where the connection breaks during COMMIT, the outcome is read from the engine's own record of transactions, and never guessed.
    func write<R>(label: String, _ body: (any BackEndConnection) throws -> R) throws -> R {
        var result: R?
        var number: Int64?
        do {
            return try transaction(.readCommitted, .readWrite) { connection in
                let value = try body(PostgreSQLBackEndConnection(connection: connection))
                // NULL for a transaction that has changed nothing.
                number = try PostgreSQLBackEndError.marking {
                    try connection.first("SELECT txid_current_if_assigned()")?.first?.integer
                }
                result = value
                return value
            }
        } catch let error as PostgreSQLBackEndError where error.error.code == .commitUnknown {
            let outcome = try PostgreSQLBackEndError.marking { try pool.recordedOutcome(of: number, until: .now + .seconds(10)) }
            guard outcome == "committed", let result else { throw error }
            return result
        }
    }

    /// Runs `body` in a transaction. Errors of the engine at its begin and end are marked, those of `body` stay as they are.
    private func transaction<R>(
        _ isolation: PostgreSQLIsolation, _ access: PostgreSQLAccess, _ body: (PostgreSQLConnection) throws -> R
    ) throws -> R {
        var failure: (any Error)?
        do {
            return try pool.withConnection(deadline: .now + timeout) { connection in
                try connection.transaction(isolation: isolation, access: access, deadline: .now + Self.timeLimit) { connection in
                    do { return try body(connection) } catch {
                        failure = error
                        throw error
                    }
                }
            }
        } catch {
            if let failure { throw failure }
            return try PostgreSQLBackEndError.marking { throw error }
        }
    }

    let positionInterval: Duration = .milliseconds(250)

    func close() throws { pool.close() }

    /// Maps a failure to a code by its SQLSTATE, to the same codes as failures of SQLite: 412 constraint, 409 busy, 404 no such table, 503 down, 500 all
    /// others.
    func classify(_ error: any Error, _ sentence: RejectionSentence) -> BackEndFailure? {
        guard let failure = error as? PostgreSQLBackEndError else { return nil }
        let error = failure.error, state = error.sqlState ?? "", detail = "\(failure)"
        // RAISE in a trigger: a sentence that the back end's owner has written for people, with a code of his choice.
        let isQuoted = error.isRaised && !state.hasPrefix("XX")
        func refused(_ message: @autoclosure () -> String, _ code: Int64 = ResultCode.constraint) -> BackEndFailure {
            .refused(isQuoted ? error.message : message(), code: code, backEndCode: state, detail: detail)
        }
        if isQuoted, [.constraint, .invalidValue, .other].contains(error.code) { return refused(error.message) }
        switch error.code {
        case .constraint: return refused(Self.sentence(of: error, sentence))
        case .invalidValue, .invalidText: return refused(sentence.text(ofInvalidValue: error.message))
        // Such as a value of a type that has no form in texts, and one of an identity that the database alone gives.
        case _ where ["0A000", "428C9"].contains(state): return refused(sentence.text(ofInvalidValue: error.message))
        case .permission: return refused(sentence.text(ResultCode.forbidden), ResultCode.forbidden)
        case .serialization, .deadlock, .lockNotAvailable: return .busy(backEndCode: state, detail: detail)
        case .commitUnknown: return .outcomeUnknown(backEndCode: state, detail: detail)
        case .connectionFailed, .connectionLost, .authentication, .timeout, .cancelled, .outOfResources, .shuttingDown, .closed, .staleStatement,
            .readOnly:
            return .outOfReach(backEndCode: state, detail: detail)
        case .undefinedObject where state == "42P01": return refused(sentence.text(ResultCode.notFound), ResultCode.notFound)
        default: return refused(sentence.text(ResultCode.failure), ResultCode.failure)
        }
    }

    private static func sentence(of error: PostgreSQLError, _ sentence: RejectionSentence) -> String {
        guard let violation = error.violation else { return sentence.text(.other([])) }
        let table = sentence.object?.table, isOwn = violation.table.map { $0 == table?.name || table?.parts.contains($0) == true } ?? false
        let columns = violation.constraint.flatMap { sentence.object?.table.constraints[$0] } ?? [violation.column].compactMap { $0 }
        let attributes = isOwn ? sentence.attributes(ofColumns: columns) : []
        let kind: RejectionSentence.Constraint =
            switch violation.kind {
            case .unique: .unique(attributes)
            case .foreignKey: .foreignKey
            case .notNull: .notNull(attributes)
            case .check: .check(attributes)
            case .other: .other(attributes)
            }
        // PostgreSQL makes names of table, columns and kind for constraints without one.
        let name = violation.constraint ?? "",
            isMade = name.hasPrefix("\(violation.table ?? "")_") && name.contains(/_(check|fkey|key|pkey|excl)[0-9]*$/)
        if table != nil, violation.table != nil, !isOwn, violation.kind != .foreignKey { return sentence.text(.ofOtherTable, rule: name) }
        return sentence.text(kind, rule: isMade ? "" : name)
    }
}
