internal import MobileObjects
internal import Synchronization

extension Application {
    /// What a request to the server needs: where it is, and the proof of the registration.
    struct Session: Sendable {
        let properties: ConnectionProperties
        let token: String
    }

    /// - Throws: ``SyncError/Code/applicationNotRegistered``.
    func session() throws(SyncError) -> Session {
        guard let registration = state.withLock({ $0.registration }) else {
            throw SyncError(.synchronize, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        return Session(properties: registration.properties, token: registration.token)
    }

    /// Logs in again because the server did not know `token`, and remembers the new session. If another request has renewed it
    /// already, that one's is used.
    /// - Parameter credentials: whose; nil for those of the registration.
    /// - Throws: ``SyncError/Code/authenticationFailed`` when there is no password to log in with, or a wrong one.
    func renewSession(insteadOf token: String, credentials: LoginCredentials? = nil) throws(SyncError) -> String {
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
        return try beginSession(credentials)
    }

    /// Logs in and remembers the session.
    /// - Parameter package: on whose behalf, and how much of the exchange goes to its console; nil for the application's own.
    @discardableResult
    func beginSession(
        _ credentials: LoginCredentials, for package: (database: PackageDatabase, trace: MessageTraceLevel)? = nil
    ) throws(SyncError) -> String {
        guard var registration = state.withLock({ $0.registration }) else {
            throw SyncError(.synchronize, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        let (token, settings) = try Server(self, registration.properties, for: package?.database, trace: package?.trace ?? .off).login(credentials)
        registration.token = token
        try store.save(registration, settings: settings)
        let changed = state.withLock { state in
            // Unregistered meanwhile: then there is nothing to remember.
            guard state.registration != nil else { return [String]() }
            defer { (state.registration, state.settings) = (registration, settings) }
            return ApplicationSettings.changedNames(from: state.settings, to: settings)
        }
        if !changed.isEmpty { work.run { [self] in reportSettings(changed: changed) } }
        return token
    }

    /// Reports that a message found no server, and looks for it in the background. The synchronization channel does not come here.
    func connectionWasLost(_ error: SyncError) {
        guard error.code == .serverNotReached else { return }
        work.run { [self] in
            guard connectionStatus == .connected else { return }
            apply { $0.lost(code: error.code.rawValue, message: error.message) }
            retryLater()
        }
    }
}
