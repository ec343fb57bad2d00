public import Foundation
internal import MobileExecution
public import MobileStore

/// An adapter: procedures under one name.
public struct WorklightAdapter: Sendable {
    /// The name.
    public var name: String
    /// The procedures by name.
    public var procedures: [String: WorklightProcedure]
    /// The names of its event sources.
    public var eventSources: Set<String>

    /// Describes an adapter.
    public init(_ name: String, procedures: [String: WorklightProcedure] = [:], eventSources: Set<String> = []) {
        self.name = name
        self.procedures = procedures
        self.eventSources = eventSources
    }
}

/// A procedure that clients call.
public struct WorklightProcedure: Sendable {
    /// The realm that the user must be logged in to; nil for none.
    public var realm: String?
    let run: @Sendable (WorklightInvocation) throws -> JSONValue

    /// A procedure in Swift.
    /// - Parameters:
    ///   - realm: the realm that the user must be logged in to; nil (default) for none.
    ///   - run: returns the result. An object is passed on as it is, with `isSuccessful` true if it has no such member; any other value becomes the
    ///     member `result`. If it throws, the client gets `isSuccessful` false with the error's text.
    public init(realm: String? = nil, _ run: @escaping @Sendable (WorklightInvocation) throws -> JSONValue) {
        self.realm = realm
        self.run = run
    }

    /// A procedure that runs one statement of SQL on a back end. A statement with rows returns them as `resultSet`; another one returns the number of
    /// changed rows as `updateStatementResult.updateCount`.
    /// - Parameters:
    ///   - statement: the statement, with `?1`, `?2` and so on for the parameters of the call; SQLite also takes `?` for the next one, PostgreSQL `$1`.
    ///   - backEnd: the back end.
    ///   - realm: as for ``init(realm:_:)``.
    public static func sql(_ statement: String, on backEnd: WorklightBackEnd, realm: String? = nil) -> WorklightProcedure {
        WorklightProcedure(realm: realm) { try backEnd.run(statement, $0.parameters) }
    }

    /// A procedure that runs one statement of SQL on an SQLite database; with the same rules.
    public static func sql(_ statement: String, on database: Database, realm: String? = nil) -> WorklightProcedure {
        .sql(statement, on: WorklightBackEnd(database), realm: realm)
    }
}

/// The failure of a procedure, whose text the client gets.
public struct WorklightProcedureError: Error, CustomStringConvertible {
    /// The text.
    public let message: String
    /// Creates a failure.
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

extension WorklightProcedureError: LocalizedError {
    /// The text.
    public var errorDescription: String? { message }
    /// The text.
    public var failureReason: String? { message }
    /// The remedy; only the procedure's author knows more.
    public var recoverySuggestion: String? { "Read the text, which is the procedure's; correct the parameters, or repeat later." }
}

/// One call of a procedure.
public final class WorklightInvocation: Sendable {
    /// The parameters.
    public let parameters: [JSONValue]
    /// The identities of the session by realm, those of the platform included.
    public let identities: JSONObject
    private let changed = SystemLock<[String: JSONObject?]>([:])

    init(_ parameters: [JSONValue], _ identities: JSONObject) {
        self.parameters = parameters
        self.identities = identities
    }

    /// The name of the user in a realm; nil without a login.
    public func user(in realm: String) -> String? { identities[realm]?["userId"]?.string }

    /// Logs a user in to a realm of this session, when the procedure has ended without an error.
    public func setUser(_ user: String, realm: String, attributes: JSONObject = [:]) {
        changed.withLock { $0[realm] = .some(WorklightIdentity.object(user, attributes)) }
    }

    /// Logs the user of this session out of a realm, when the procedure has ended without an error.
    public func removeUser(realm: String) { changed.withLock { $0[realm] = .some(nil) } }

    var changes: [String: JSONObject?] { changed.withLock { $0 } }
}

/// The objects that name a user or a device to clients.
enum WorklightIdentity {
    static func object(_ name: String, _ attributes: JSONObject = [:]) -> JSONObject {
        [
            "userId": .string(name), "userName": .string(name), "loginName": .string(name), "displayName": .string(name), "isUserAuthenticated": 1,
            "attributes": .object(attributes),
        ]
    }
}
