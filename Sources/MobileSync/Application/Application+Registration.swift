internal import MobileExecution

extension Application {
    // MARK: Register

    /// Registers the application and starts its connection; a call of ``startConnection(timeout:)-(Duration)`` is not needed as well. One
    /// registration is enough, because later starts remember it. A second call during a registration joins it.
    ///
    ///     try application.register(timeout: .seconds(30))
    ///     print("\(application.registrationStatus), \(application.connectionStatus)")
    ///
    /// - Parameter timeout: zero or less (default): returns at once, and the callback reports the result.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/persistence`` without an identifier, ``SyncError/Kind/connectionProperty`` for
    ///   missing or wrong properties, ``SyncError/Kind/applicationTimeout`` if it takes longer (it continues in the background),
    ///   ``SyncError/Kind/applicationRuntime`` if it fails.
    /// SMP 2.3: `registerApplication`, `registerApplication:timeout`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func register(timeout: Duration = .zero) throws(SyncError) {
        try wait(for: beginRegistration(), timeout, "registration")
    }

    /// Does the same asynchronously. Cancelling the task ends the wait with ``SyncError/Code/cancelled``; the work continues, as after a timeout.
    /// - Parameter timeout: default one minute; nil waits without limit, zero or less does not wait.
    public func register(timeout: Duration? = .seconds(60)) async throws(SyncError) {
        try await result(of: beginRegistration(), timeout, "registration")
    }

    func beginRegistration() throws(SyncError) -> Promise<Void, SyncError> {
        try state.withLock { state throws(SyncError) in
            try check(identity: state.identifier)
            try state.properties.validateRegistration()
            switch state.plan.register() {
            case .begin(let wish):
                work.run { [self] in performRegistration(wish) }
                return wish.outcome
            case .join(let wish): return wish.outcome
            case .done: preconditionFailure("a registration is always work")
            }
        }
    }

    private func performRegistration(_ wish: ConnectionPlan.Wish) {
        guard state.withLock({ $0.plan.begin(wish) }) else { return }
        apply { $0.beginRegistration() }
        do throws(SyncError) {
            // Looks for the server first. A registration that finds no network fails for good; one that loses the network later continues.
            try Server(self, connectionProperties).probe()
        } catch let error where error.isTemporary && error.code != .serverNotReached {
            // The server is reachable, but busy.
            apply { $0.beginConnection() }
            wish.begun.resolve(.success(()))
            return retryLater(wish, error)
        } catch {
            apply { $0.lost(code: error.code.rawValue, message: error.message) }
            end(wish, .failure(error.as(.applicationRuntime)))
            return
        }
        connect(wish)
    }

    // MARK: Connect

    /// Starts the connection of a registered application; no effect if it has already started.
    ///
    ///     if application.registrationStatus == .registered {
    ///         try application.startConnection(timeout: .seconds(30))
    ///     }
    ///
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: the errors of ``register(timeout:)-(Duration)``; code ``SyncError/Code/applicationNotRegistered`` if the application is not
    ///   registered.
    /// SMP 2.3: `startConnection`, `startConnection:timeout`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func startConnection(timeout: Duration = .zero) throws(SyncError) {
        if let outcome = try beginConnection() { try wait(for: outcome, timeout, "start of the connection") }
    }

    /// Does the same asynchronously. By default it returns as soon as the application is connecting, whether or not a server answers: the callback
    /// and ``events`` report connected, or a connection error, after which the application tries again by itself. Synchronizations need not wait
    /// for this connection. Cancelling the task ends the wait with ``SyncError/Code/cancelled``; the work continues, as after a timeout.
    /// - Parameter timeout: zero or less (default): waits until the application is connecting. Above zero: waits so long until it is connected. nil
    ///   waits without limit.
    public func startConnection(timeout: Duration? = .zero) async throws(SyncError) {
        guard let wish = try wantConnection() else { return }
        guard let timeout, timeout <= .zero else { return try await result(of: wish.outcome, timeout, "start of the connection") }
        let begun = Promise<Void, SyncError>()
        wish.begun.observe { _ in begun.resolve(.success(())) }
        try await result(of: begun, nil, "start of the connection")
    }

    /// Returns nil if there is nothing to wait for.
    func beginConnection() throws(SyncError) -> Promise<Void, SyncError>? { try wantConnection()?.outcome }

    /// Begins to connect, or joins a running attempt. Returns nil if there is nothing to wait for.
    private func wantConnection() throws(SyncError) -> ConnectionPlan.Wish? {
        try state.withLock { state throws(SyncError) in
            try check(identity: state.identifier)
            if !state.plan.isRegistering {
                guard let registration = state.registration, !state.plan.isUnregistering else { throw notRegistered(state) }
                try registration.properties.validate()
                try state.checkProperties()
            }
            switch state.plan.start(isConnected: state.status.connection == .connected) {
            case .begin(let wish):
                work.run { [self] in connect(wish) }
                return wish
            case .join(let wish): return wish
            case .done: return nil
            }
        }
    }

    private func notRegistered(_ state: State) -> SyncError {
        SyncError(.applicationRuntime, .applicationNotRegistered, "application \"\(state.identifier)\" is not registered: register it first")
    }

    /// Makes one attempt to connect, and to register if the wish is a registration; on the application's queue.
    private func connect(_ wish: ConnectionPlan.Wish) {
        guard state.withLock({ $0.plan.begin(wish) }) else { return }
        apply { $0.beginConnection() }
        wish.begun.resolve(.success(()))
        do throws(SyncError) {
            let changed = wish.kind == .registration ? try requestRegistration() : try checkRegistration()
            apply { $0.connected() }
            reportSettings(changed: changed)
            end(wish, .success(()))
        } catch let error where error.isTemporary {
            retryLater(wish, error)
        } catch {
            apply { $0.refused(code: error.code.rawValue, message: error.message) }
            end(wish, .failure(error.as(.applicationRuntime)))
        }
    }

    private func end(_ wish: ConnectionPlan.Wish, _ result: Result<Void, SyncError>) {
        state.withLock { $0.plan.end(wish) }
        wish.outcome.resolve(result)
    }

    /// - Returns: the names of the settings that are new or different.
    private func requestRegistration() throws(SyncError) -> [String] {
        let properties = connectionProperties
        let (token, settings) = try Server(self, properties).register(properties)
        var remembered = properties
        remembered.loginCredentials?.password = nil
        remembered.activationCode = nil
        let registration = ApplicationStore.Registration(
            identifier: identifier, properties: remembered, token: token, sessionUser: remembered.loginCredentials?.user)
        return try remember { $0 = Remembered(registration: registration, settings: settings) }
    }

    /// Asks whether the server still knows the registration. A session that the server has forgotten is renewed once, with the available credentials.
    private func checkRegistration() throws(SyncError) -> [String] {
        guard let registration = state.withLock({ $0.registration }) else {
            throw SyncError(.applicationRuntime, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        let server = Server(self, registration.properties)
        let settings: ApplicationSettings
        do throws(SyncError) {
            settings = try server.connect(registration.token)
        } catch let error where error.code == .authenticationFailed {
            do throws(SyncError) {
                settings = try server.connect(renewSession(insteadOf: registration.token))
            } catch let error where error.code == .authenticationFailed || error.code == .notFound {
                throw SyncError(
                    .applicationRuntime, .registrationUnknown,
                    "authentication failed: the server does not know the registration of \"\(identifier)\"; register again", cause: error)
            }
        }
        return try remember { $0?.settings = settings }
    }

    /// Begins the next attempt to register or connect at once, unless the server has ordered the delay (`Retry-After`). Call it
    /// when the platform reports that the network is back.
    ///
    ///     func networkChanged(isAvailable: Bool) {
    ///         if isAvailable { application.networkBecameAvailable() }
    ///     }
    public func networkBecameAvailable() {
        state.withLock { state in
            guard let wish = state.plan.hurry() else { return }
            work.run { [self] in connect(wish) }
        }
        packages.reconsiderNotifications()
    }

    private func retryLater(_ wish: ConnectionPlan.Wish, _ error: SyncError) {
        apply { $0.lost(code: error.code.rawValue, message: error.message) }
        var random = surroundings.random
        state.withLock { state in
            state.plan.wait(wish, isOrdered: error.retryAfter != nil) { failures in
                let delay = retryPolicy.delay(failures: failures, retryAfter: error.retryAfter, using: &random)
                return work.run(after: delay) { [weak self] in self?.connect(wish) }
            }
        }
    }

    /// Reports that a message found no server, and looks for the server in the background. The synchronization channel does not call this.
    func connectionWasLost(_ error: SyncError) {
        guard error.code == .serverNotReached else { return }
        work.run { [self] in
            // An attempt that was requested after the loss finds out by itself.
            let wish = state.withLock { state -> ConnectionPlan.Wish? in
                guard state.status.connection == .connected, case .begin(let wish) = state.plan.start(isConnected: false) else { return nil }
                return wish
            }
            if let wish { retryLater(wish, error) }
        }
    }

    // MARK: Stop

    /// Stops the connection; no effect if there is none. The registration remains.
    ///
    ///     try application.stopConnection(timeout: .seconds(10))
    ///     print("\(application.registrationStatus), \(application.connectionStatus)")
    ///
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/applicationTimeout``.
    /// SMP 2.3: `stopConnection:timeout`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func stopConnection(timeout: Duration = .zero) throws(SyncError) {
        try wait(for: beginStop(), timeout, "stop of the connection")
    }

    /// Does the same asynchronously. Cancelling the task ends the wait with ``SyncError/Code/cancelled``; the work continues, as after a timeout.
    /// - Parameter timeout: default one minute; nil waits without limit, zero or less does not wait.
    public func stopConnection(timeout: Duration? = .seconds(60)) async throws(SyncError) {
        try await result(of: beginStop(), timeout, "stop of the connection")
    }

    func beginStop() -> Promise<Void, SyncError> {
        let outcome = Promise<Void, SyncError>()
        state.withLock { state in
            let ended = state.plan.stop()
            work.run { [self] in
                disconnect(ended)
                outcome.resolve(.success(()))
            }
        }
        return outcome
    }

    /// - Parameter ended: the wish that ends with the connection.
    private func disconnect(_ ended: ConnectionPlan.Wish?) {
        apply { $0.beginStop() }
        apply { $0.stopped() }
        // Last: a start that comes in between must not take the connection that ends here for one that stays.
        state.withLock { $0.plan.disconnected() }
        ended?.outcome.resolve(.failure(Self.stopped))
    }

    static var stopped: SyncError {
        SyncError(.applicationRuntime, .cancelled, "the connection was stopped before the server was reached")
    }

    // MARK: Unregister

    /// Stops the connection and deletes the registration, on the device and on the server. No effect if there is none.
    ///
    ///     try application.unregister(timeout: .seconds(30))
    ///     application.connectionProperties.loginCredentials = LoginCredentials(user: "jones", password: "other")
    ///     try application.register(timeout: .seconds(30))
    ///
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidState`` while a synchronization runs, kind ``SyncError/Kind/applicationTimeout`` if
    ///   it takes longer, ``SyncError/Kind/applicationRuntime`` if it fails.
    /// SMP 2.3: `unregisterApplication`, `unregisterApplication:timeout`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func unregister(timeout: Duration = .zero) throws(SyncError) {
        if let outcome = try beginUnregistration() { try wait(for: outcome, timeout, "unregistration") }
    }

    /// Does the same asynchronously. Cancelling the task ends the wait with ``SyncError/Code/cancelled``; the work continues, as after a timeout.
    /// - Parameter timeout: default one minute; nil waits without limit, zero or less does not wait.
    public func unregister(timeout: Duration? = .seconds(60)) async throws(SyncError) {
        if let outcome = try beginUnregistration() { try await result(of: outcome, timeout, "unregistration") }
    }

    /// Returns nil if there is no registration.
    func beginUnregistration() throws(SyncError) -> Promise<Void, SyncError>? {
        try state.withLock { state throws(SyncError) in
            guard state.registration != nil else { return nil }
            switch state.plan.unregister() {
            case .begin(let outcome, let ended):
                work.run { [self] in performUnregistration(outcome, ended) }
                return outcome
            case .join(let outcome): return outcome
            case .refused:
                throw SyncError(
                    .applicationRuntime, .invalidState,
                    "application \"\(state.identifier)\" cannot unregister while it synchronizes: wait for it to end, or cancel it")
            }
        }
    }

    private func performUnregistration(_ outcome: Promise<Void, SyncError>, _ ended: ConnectionPlan.Wish?) {
        disconnect(ended)
        apply { $0.beginUnregistration() }
        do throws(SyncError) {
            let session = try registeredSession()
            try Server(self, session.properties).unregister(session.token)
            _ = try remember { $0 = nil }
            state.withLock { $0.plan.endUnregistration() }
            apply { $0.unregistered() }
            outcome.resolve(.success(()))
        } catch {
            state.withLock { $0.plan.endUnregistration() }
            apply { $0.unregistrationFailed(code: error.code.rawValue, message: error.message) }
            outcome.resolve(.failure(error.as(.applicationRuntime)))
        }
    }

    // MARK: Waiting

    private func wait(for outcome: Promise<Void, SyncError>, _ timeout: Duration, _ what: String) throws(SyncError) {
        guard timeout > .zero else { return }
        if try outcome.wait(timeout: timeout) == nil { throw timedOut(what, timeout) }
    }

    private func result(of outcome: Promise<Void, SyncError>, _ timeout: Duration?, _ what: String) async throws(SyncError) {
        if let timeout, timeout <= .zero { return }
        let limited = Promise<Void, SyncError>()
        let timer = timeout.map { timeout in
            let error = timedOut(what, timeout)
            return work.timer(after: timeout) { limited.resolve(.failure(error)) }
        }
        outcome.observe { limited.resolve($0) }
        defer { timer?.cancel() }
        let identifier = identifier
        try await limited.value {
            SyncError(.applicationRuntime, .cancelled, "wait for the \(what) of \"\(identifier)\" cancelled; it continues in the background")
        }
    }

    private func timedOut(_ what: String, _ timeout: Duration) -> SyncError {
        SyncError(.applicationTimeout, .timeout, "\(what) of \"\(identifier)\" not done within \(timeout); it continues in the background")
    }
}

extension SyncError {
    /// Returns the same error under another documented exception.
    func `as`(_ kind: Kind) -> SyncError { SyncError(kind, code, message, cause: cause, retryAfter: retryAfter) }
}
