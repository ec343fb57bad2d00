internal import MobileCrypto
public import MobileObjects
internal import Synchronization

extension PackageDatabase {
    // MARK: Online

    /// Logs in on the server and begins a new session. Blocks.
    /// - Parameters:
    ///   - user: nil (default): user and password of the synchronization profile, or else of the registration.
    ///   - password: of `user`.
    /// - Throws: ``SyncError``, after `onLoginFailure`: 401 for a wrong user or password, ``SyncError/Code/serverNotReached``,
    ///   ``SyncError/Code/applicationNotRegistered``, ``SyncError/Code/connectionPropertyMissing`` when there are no credentials.
    /// SMP 2.3: `onlineLogin`, `onlineLogin:password:`.
    public final func onlineLogin(user: String? = nil, password: String? = nil) throws(SyncError) {
        try run { package throws(SyncError) in try package.performLogin(user, password) }
    }

    /// The same without blocking a cooperative thread.
    public final func onlineLogin(user: String? = nil, password: String? = nil) async throws(SyncError) {
        try await run { package throws(SyncError) in try package.performLogin(user, password) }
    }

    /// Logs in without waiting: `onLoginSuccess` or `onLoginFailure` tell the rest.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidState`` when the application is not connected; `onLoginFailure` has been
    ///   called then.
    /// SMP 2.3: `beginOnlineLogin:password:`; SMP 1.5.3: `asyncOnlineLogin:password:`.
    public final func beginOnlineLogin(user: String? = nil, password: String? = nil) throws(SyncError) {
        let (application, _) = try synchronizer.connected(self)
        guard application.connectionStatus == .connected else {
            let error = SyncError(
                .synchronize, .invalidState,
                "login to \(metadata.name): application \"\(application.identifier)\" is not connected; start its connection")
            reportLogin(false)
            throw error
        }
        begin { package throws(SyncError) in try package.performLogin(user, password) }
    }

    private final func performLogin(_ user: String?, _ password: String?) throws(SyncError) {
        do throws(SyncError) {
            let (application, profile) = try synchronizer.connected(self)
            let given = user.map { LoginCredentials(user: $0, password: password) }
            guard let credentials = given ?? profile.credentials ?? application.connectionProperties.loginCredentials, credentials.password != nil
            else {
                throw .property("login to \(metadata.name): there is no user with a password; set them in the synchronization profile")
            }
            do throws(SyncError) { try application.beginSession(credentials) } catch {
                application.connectionWasLost(error)
                throw error
            }
            synchronizer.state.withLock { $0.login = credentials }
            try OfflineVerifier(self).remember(credentials)
        } catch {
            reportLogin(false)
            throw error
        }
        reportLogin(true)
    }

    // MARK: Offline

    /// Whether these are the credentials that succeeded in the last online login of this database. No contact with the server.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/localDatabase``.
    /// SMP 1.5.3: `offlineLogin:password:`.
    public final func offlineLogin(user: String, password: String) throws(SyncError) -> Bool {
        try run { package throws(SyncError) in try OfflineVerifier(package).accepts(user, password) }
    }

    /// The same without blocking a cooperative thread.
    public final func offlineLogin(user: String, password: String) async throws(SyncError) -> Bool {
        try await run { package throws(SyncError) in try OfflineVerifier(package).accepts(user, password) }
    }

    private final func reportLogin(_ succeeded: Bool) {
        notify { if succeeded { $0.onLoginSuccess() } else { $0.onLoginFailure() } }
        synchronizer.events.send(.login(succeeded: succeeded))
    }

    /// Logs in with the profile's credentials, unless that is done or it has none.
    final func logInWithProfile(_ application: Application, _ profile: SynchronizationProfile) throws(SyncError) {
        guard let credentials = profile.credentials, credentials.password != nil,
            synchronizer.state.withLock({ $0.login }) != credentials,
            application.connectionProperties.loginCredentials != credentials
        else { return }
        try application.beginSession(credentials)
        synchronizer.state.withLock { $0.login = credentials }
    }
}
