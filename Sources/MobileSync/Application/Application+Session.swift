internal import MobileExecution
internal import MobileObjects
internal import MobileTransport

extension Application {
    /// The context of a request to the server: the server's address, and the proof of the registration.
    struct Session: Sendable {
        let properties: ConnectionProperties
        let token: String
    }

    /// - Throws: ``SyncError/Code/applicationNotRegistered``; ``SyncError/Code/connectionPropertyMissing`` if ``connectionProperties`` have another
    ///   server than the registration.
    func session() throws(SyncError) -> Session {
        let session = try registeredSession()
        try state.withLock { state throws(SyncError) in try state.checkProperties() }
        return session
    }

    /// The user whose session is the application's; nil where it is not registered, or the user is not known.
    var sessionUser: String? { state.withLock { $0.registration?.sessionUser } }

    /// Does the same for the end of the registration, which needs its server alone.
    func registeredSession() throws(SyncError) -> Session {
        guard let registration = state.withLock({ $0.registration }) else {
            throw SyncError(.synchronize, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        return Session(properties: registration.properties, token: registration.token)
    }

    /// Logs in again because the server did not know `token`, and stores the new session. If another request has already renewed the session, that
    /// one is used.
    /// - Parameters:
    ///   - credentials: the credentials of the login; nil for those of ``connectionProperties``.
    ///   - cancellation: ends the request; nil for one that runs to its end.
    /// - Throws: ``SyncError/Code/authenticationFailed`` if there is no password to log in with, or a wrong one.
    func renewSession(
        insteadOf token: String, credentials: LoginCredentials? = nil, cancellation: TransportCancellation? = nil
    ) throws(SyncError) -> String {
        let (registration, properties) = state.withLock { ($0.registration, $0.properties) }
        guard let registration else {
            throw SyncError(.synchronize, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        if registration.token != token { return registration.token }
        guard let credentials = credentials ?? properties.loginCredentials, credentials.password != nil else {
            throw SyncError(
                .synchronize, .authenticationFailed,
                "the server does not know the session of \"\(identifier)\", and there is no password to log in with: set the credentials")
        }
        return try beginSession(credentials, cancellation: cancellation)
    }

    /// Logs in and stores the session.
    /// - Parameter package: the package that logs in, and the trace level of its console for the exchange; nil for the application itself.
    @discardableResult
    func beginSession(
        _ credentials: LoginCredentials, for package: (database: PackageDatabase, trace: MessageTraceLevel)? = nil,
        cancellation: TransportCancellation? = nil
    ) throws(SyncError) -> String {
        guard let registration = state.withLock({ $0.registration }) else {
            throw SyncError(.synchronize, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        let server = Server(
            self, registration.properties, for: package?.database, trace: package?.trace ?? .off,
            cancellation: cancellation ?? package?.database.synchronizer.cancellation)
        let (token, settings) = try server.login(credentials)
        let changed = try remember { remembered in
            // Unregistered in the meantime, or already in another session: this session is not stored.
            guard remembered?.registration == registration else { return }
            remembered?.registration.token = token
            remembered?.registration.sessionUser = credentials.user
            remembered?.settings = settings
        }
        if !changed.isEmpty { work.run { [self] in reportSettings(changed: changed) } }
        return token
    }

    /// The stored facts about the registration, for this run and the next one.
    struct Remembered: Equatable {
        var registration: ApplicationStore.Registration
        var settings: ApplicationSettings?
    }

    /// Changes the stored facts, in memory and in the store. Each change starts from the result of the previous one.
    /// - Returns: the names of the settings that are new or different.
    func remember(_ change: (inout Remembered?) -> Void) throws(SyncError) -> [String] {
        try registrationChanges.withLock { _ throws(SyncError) in
            let known = state.withLock { state in state.registration.map { Remembered(registration: $0, settings: state.settings) } }
            var next = known
            change(&next)
            guard next != known else { return [] }
            if let next { try store.save(next.registration, settings: next.settings) } else { try store.forget() }
            state.withLock { ($0.registration, $0.settings) = (next?.registration, next?.settings) }
            return next?.settings.map { ApplicationSettings.changedNames(from: known?.settings, to: $0) } ?? []
        }
    }
}
