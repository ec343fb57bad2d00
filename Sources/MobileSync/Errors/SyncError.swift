public import MobileObjects

/// A failure between this device and the server: in registration, connection, login, subscription or synchronization.
///
/// ``kind`` identifies the documented exception, ``code`` is for programs, ``message`` for people.
/// A rejected operation is *not* an error: it is a result, visible in the object's replay failure and its log records.
/// SMP 2.3: `SUPSynchronizeException`, `SUPApplicationRuntimeException`, `SUPApplicationTimeoutException`, `SUPConnectionPropertyException`.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    /// The documented exception that this error represents.
    public let kind: Kind
    /// A documented number; see ``Code``. Codes of the server are passed on unchanged.
    public let code: Code
    /// A description in one line: the failure, the affected object, and the remedy if there is one.
    public let message: String
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?
    /// The delay before the next attempt that the server requested; nil without such a request. See ``RetryPolicy``.
    public let retryAfter: Duration?

    /// The documented exceptions. SMP 2.3, "Exceptions".
    public enum Kind: String, Sendable, CaseIterable {
        /// A failure of synchronization, login or subscription. SMP 2.3: `SUPSynchronizeException`.
        case synchronize
        /// Start, register or unregister could not be completed. SMP 2.3: `SUPApplicationRuntimeException`.
        case applicationRuntime
        /// Start, stop, register or unregister was not done in time; the work continues in the background. SMP 2.3: `SUPApplicationTimeoutException`.
        case applicationTimeout
        /// A wrong or missing connection property. SMP 2.3: `SUPConnectionPropertyException`.
        case connectionProperty
        /// A missing identifier, or a failure of the local database. SMP 2.3: `SUPPersistenceException`.
        case persistence
    }

    /// Creates an error of this module.
    public init(_ kind: Kind, _ code: Code, _ message: String, cause: (any Error)? = nil, retryAfter: Duration? = nil) {
        self.retryAfter = retryAfter
        self.kind = kind
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Message and number in one line.
    public var description: String { "\(message) (\(code.rawValue))" }

    /// Whether the same call can succeed later without any change: the documented recoverable codes of the back end (409 and 503), a server that was
    /// not reached, a stream that broke, and a timeout. For all other errors, a cause has to be removed first.
    public var isRecoverable: Bool { code.isRecoverable }

    /// Whether the server, or a proxy in front of it, was unreachable or busy: the connection is tried again in that case. A refusal is not
    /// temporary.
    var isTemporary: Bool { [.serverNotReached, .tooManyRequests, .badGateway, .unavailable, .gatewayTimeout].contains(code) }
}

extension SyncError: BaseError {
    public var errorCode: Int { code.rawValue }

    public var recovery: ErrorRecovery {
        if isRecoverable { return .retry }
        return (cause as? any BaseError)?.recovery == .restart ? .restart : .removeCause
    }
}

extension SyncError {
    /// The documented error numbers. A struct and not an enumeration, so that a new code breaks no switch.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The documented number.
        public let rawValue: Int
        /// Creates a code of this number, named or not.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The server does not accept the request.
        public static let refused = Code(rawValue: 400)
        /// Authentication failed, or the back end's credentials are wrong.
        public static let authenticationFailed = Code(rawValue: 401)
        /// Authenticated, but not authorized for this package, object or operation.
        public static let notAuthorized = Code(rawValue: 403)
        /// No such package, object, table or function.
        public static let notFound = Code(rawValue: 404)
        /// No valid licence for this client.
        public static let noLicence = Code(rawValue: 405)
        /// The back end deadlocked or was busy; recoverable.
        public static let backEndBusy = Code(rawValue: 409)
        /// The back end's constraints refused a change.
        public static let constraintViolated = Code(rawValue: 412)
        /// More than the server accepts at once.
        public static let tooLarge = Code(rawValue: 413)
        /// An internal failure of the server, or an error of the back end that the server cannot classify.
        public static let serverFailure = Code(rawValue: 500)
        /// The back end, or the server, is down; recoverable.
        public static let unavailable = Code(rawValue: 503)

        /// The server requires fewer requests of this device or user.
        public static let tooManyRequests = Code(rawValue: 429)
        /// A proxy received no valid answer from the server.
        public static let badGateway = Code(rawValue: 502)
        /// A proxy received no answer from the server in time.
        public static let gatewayTimeout = Code(rawValue: 504)

        /// The synchronization channel broke, or its contents are not a valid stream; recoverable.
        public static let synchronizationCommunication = Code(rawValue: 63)
        /// The server does not know this registration. SMP 2.3: `COMMUNICATION_DEVICEVAL_INVALID_ACTIVE_CODE`.
        public static let registrationUnknown = Code(rawValue: 580)
        /// The server supports only later versions of the protocol: the application must be updated.
        public static let outdatedApplication = Code(rawValue: 581)
        /// Cancelled: by `onSynchronize`, by the status listener or by the task that waited.
        public static let cancelled = Code(rawValue: 6600)
        /// The server refused the upload, because it was restored to an earlier state. SMP 2.3: `SYNC_UPLOAD_FAILED_AT_SERVER`.
        public static let uploadFailedAtServer = Code(rawValue: -794)

        /// No application identifier, or one that is too long.
        public static let identifierMissing = Code(rawValue: 14801)
        /// A connection property is missing or wrong.
        public static let connectionPropertyMissing = Code(rawValue: 14802)
        /// The call does not fit the present state, such as a synchronization before the subscription.
        public static let invalidState = Code(rawValue: 14810)
        /// Changes wait for the server, and the call would remove them.
        public static let pendingChanges = Code(rawValue: 14811)
        /// The server was not reached; recoverable.
        public static let serverNotReached = Code(rawValue: 14813)
        /// The local database failed.
        public static let localDatabase = Code(rawValue: 14816)
        /// The application is not registered. SMP 2.3: `ERR_APP_NOT_REGISTERED`.
        public static let applicationNotRegistered = Code(rawValue: 14871)
        /// Not done within the timeout; the work continues in the background.
        public static let timeout = Code(rawValue: 571)
        /// Any other error.
        public static let unknown = Code(rawValue: 14899)

        /// Whether the same call can succeed later; see ``SyncError/isRecoverable``.
        public var isRecoverable: Bool {
            switch self {
            case .backEndBusy, .unavailable, .synchronizationCommunication, .serverNotReached, .timeout: true
            default: false
            }
        }
    }
}
