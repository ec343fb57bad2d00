internal import MobileCrypto
internal import MobileExecution
public import MobileObjects
internal import MobileStore

extension PackageDatabase {
    // MARK: Online

    /// Logs in on the server and begins a new session. Blocks.
    /// - Parameters:
    ///   - user: the user's name; nil (default): user and password of the synchronization profile, otherwise of the registration.
    ///   - password: the password of `user`.
    /// - Throws: ``SyncError``, after `onLoginFailure`: 401 for a wrong user or password, ``SyncError/Code/serverNotReached``,
    ///   ``SyncError/Code/applicationNotRegistered``, ``SyncError/Code/connectionPropertyMissing`` if there are no credentials.
    /// SMP 2.3: `onlineLogin`, `onlineLogin:password:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func onlineLogin(user: String? = nil, password: String? = nil) throws(SyncError) {
        try run { package throws(SyncError) in try package.performLogin(user, password) }
    }

    /// Does the same without blocking a cooperative thread.
    public final func onlineLogin(user: String? = nil, password: String? = nil) async throws(SyncError) {
        try await run { package throws(SyncError) in try package.performLogin(user, password) }
    }

    /// Logs in without waiting: `onLoginSuccess` or `onLoginFailure` reports the result.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidState`` if the application is not connected; `onLoginFailure` has been called in
    ///   that case.
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

    /// Does the same as ``beginOnlineLogin(user:password:)``, under the name in samples of 1.5.3.
    /// SUP 1.5.3: `asyncOnlineLogin:password:`.
    public final func asyncOnlineLogin(user: String? = nil, password: String? = nil) throws(SyncError) {
        try beginOnlineLogin(user: user, password: password)
    }

    /// Logs in for a synchronization. First checks whether the credentials are those of the last online login. Then logs in on the server, and
    /// fetches a range of new keys if the package is subscribed and has few keys left. Without a network, the first check is enough: the user may
    /// continue offline with the keys that are left. Blocks.
    /// - Returns: whether the server was reached; false if the login relies on the stored credentials.
    /// - Throws: ``SyncError``, after `onLoginFailure`: as `onlineLogin(user:password:)`, also ``SyncError/Code/serverNotReached`` if the credentials
    ///   are not those of the last login. Do not send anything to the server after it.
    /// SUP 1.5.3: `loginToSync:password:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public final func loginToSync(user: String, password: String) throws(SyncError) -> Bool {
        try run { package throws(SyncError) in try package.performLoginToSync(user, password) }
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    public final func loginToSync(user: String, password: String) async throws(SyncError) -> Bool {
        try await run { package throws(SyncError) in try package.performLoginToSync(user, password) }
    }

    private final func performLoginToSync(_ user: String, _ password: String) throws(SyncError) -> Bool {
        let isKnown = try OfflineVerifier(self).accepts(user, password)
        do throws(SyncError) {
            try authenticate(user, password)
            if try isSubscribed() { try fetchKeys() }
        } catch {
            let succeeded = isKnown && error.code == .serverNotReached
            reportLogin(succeeded)
            guard succeeded else { throw error }
            return false
        }
        reportLogin(true)
        return true
    }

    /// Synchronizes without a download of rows: the server's answer begins with a range of new keys if this device has few left.
    private final func fetchKeys() throws(SyncError) {
        let request = SynchronizationRequest(groups: try groupNames(nil), isUploadOnly: true)
        try synchronizer.synchronizeNow(request, of: self)
    }

    private final func performLogin(_ user: String?, _ password: String?) throws(SyncError) {
        do { try authenticate(user, password) } catch {
            reportLogin(false)
            throw error
        }
        reportLogin(true)
    }

    /// Begins a session with the given credentials, otherwise with those of the profile or the registration, and stores a verifier of them.
    private final func authenticate(_ user: String?, _ password: String?) throws(SyncError) {
        let (application, profile) = try synchronizer.connected(self)
        let given = user.map { LoginCredentials(user: $0, password: password) }
        guard let credentials = given ?? profile.credentials ?? application.connectionProperties.loginCredentials, credentials.password != nil
        else {
            throw .property("login to \(metadata.name): there is no user with a password; set them in the synchronization profile")
        }
        do throws(SyncError) { try application.beginSession(credentials, for: (self, profile.messageTrace)) } catch {
            application.connectionWasLost(error)
            throw error
        }
        synchronizer.state.withLock { ($0.login, $0.loginIsOfProfile) = (credentials, given == nil && profile.credentials != nil) }
        try OfflineVerifier(self).remember(credentials)
    }

    // MARK: Offline

    /// Whether these are the credentials that succeeded in the last online login of this database. Does not contact the server.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/localDatabase``.
    /// SMP 1.5.3: `offlineLogin:password:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func offlineLogin(user: String, password: String) throws(SyncError) -> Bool {
        try run { package throws(SyncError) in try OfflineVerifier(package).accepts(user, password) }
    }

    /// Does the same without blocking a cooperative thread.
    public final func offlineLogin(user: String, password: String) async throws(SyncError) -> Bool {
        try await run { package throws(SyncError) in try OfflineVerifier(package).accepts(user, password) }
    }

    private final func reportLogin(_ succeeded: Bool) {
        notify { if succeeded { $0.onLoginSuccess() } else { $0.onLoginFailure() } }
        synchronizer.events.send(.login(succeeded: succeeded))
    }

    /// Begins a session of the profile's user before a request, unless the application's session is theirs already. Without a user in the profile, a
    /// session that was begun for one ends: the user of the registration logs in again.
    ///
    /// **A request never runs in the session of another user than the profile names.** Why: the server sends the rows that the session's user may see, and
    /// writes the changes in their name. If you break it: the second user of a device works on with the rights of the first one.
    /// - Throws: ``SyncError/Code/connectionPropertyMissing`` for a user of whom no password is known; as a login.
    final func logInWithProfile(_ application: Application, _ profile: SynchronizationProfile) throws(SyncError) {
        let (last, wasOfProfile) = synchronizer.state.withLock { ($0.login, $0.loginIsOfProfile) }
        let own = profile.credentials, registered = application.connectionProperties.loginCredentials
        guard let credentials = own ?? (wasOfProfile ? registered : nil) else { return }
        let session = application.sessionUser
        if session?.hasSameBytes(as: credentials.user) == true {
            // Another password is tried: the server may have a new one.
            guard credentials.password != nil, last != credentials, registered != credentials else { return }
        } else if credentials.password == nil {
            guard let session else { return }
            throw .property(
                "\(metadata.name): the session is that of user \"\(session.prefix(80))\"; set the password of user \"\(credentials.user.prefix(80))\" in the "
                    + "synchronization profile")
        }
        try application.beginSession(credentials, for: (self, profile.messageTrace))
        synchronizer.state.withLock { ($0.login, $0.loginIsOfProfile) = (credentials, own != nil) }
    }
}
