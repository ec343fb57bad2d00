internal import Synchronization

extension Application {
    // MARK: Register

    /// Registers the application and starts its connection; ``startConnection(timeout:)-(Duration)`` is not called as well. Needed once: later
    /// starts remember it. While a registration is on its way, a second call joins it.
    /// - Parameter timeout: zero or less (default): returns at once, the callback tells the rest.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/persistence`` without an identifier, ``SyncError/Kind/connectionProperty`` for
    ///   missing or wrong properties, ``SyncError/Kind/applicationTimeout`` when it took longer (it goes on in the background),
    ///   ``SyncError/Kind/applicationRuntime`` when it failed.
    /// SMP 2.3: `registerApplication`, `registerApplication:timeout`.
    public func register(timeout: Duration = .zero) throws(SyncError) {
        try wait(for: beginRegistration(), timeout, "registration")
    }

    /// The same, awaited. - Parameter timeout: nil (default) waits as long as it takes.
    public func register(timeout: Duration? = nil) async throws(SyncError) {
        try await result(of: beginRegistration(), timeout, "registration")
    }

    func beginRegistration() throws(SyncError) -> Outcome<Void> {
        try checkIdentity()
        try connectionProperties.validateRegistration()
        let (outcome, isNew) = state.withLock { state in
            if let running = state.registering { return (running, false) }
            let outcome = Outcome<Void>()
            state.registering = outcome
            return (outcome, true)
        }
        if isNew { work.run { [self] in performRegistration() } }
        return outcome
    }

    private func performRegistration() {
        apply { $0.beginRegistration() }
        do throws(SyncError) {
            // Looks for the server first: a registration that finds no network has failed for good, one that loses it later goes on.
            try Server(self, connectionProperties).probe()
        } catch {
            apply { $0.lost(code: error.code.rawValue, message: error.message) }
            finish(\.registering, .failure(error.as(.applicationRuntime)))
            return
        }
        connect()
    }

    // MARK: Connect

    /// Starts the connection of a registered application; no effect if it is started already.
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: as ``register(timeout:)-(Duration)``; code ``SyncError/Code/applicationNotRegistered`` when the application is not registered.
    /// SMP 2.3: `startConnection`, `startConnection:timeout`.
    public func startConnection(timeout: Duration = .zero) throws(SyncError) {
        if let outcome = try beginConnection() { try wait(for: outcome, timeout, "start of the connection") }
    }

    /// The same, awaited. - Parameter timeout: nil (default) waits as long as it takes.
    public func startConnection(timeout: Duration? = nil) async throws(SyncError) {
        if let outcome = try beginConnection() { try await result(of: outcome, timeout, "start of the connection") }
    }

    /// Nil when there is nothing to wait for.
    func beginConnection() throws(SyncError) -> Outcome<Void>? {
        try checkIdentity()
        let (registration, running) = state.withLock { ($0.registration, $0.registering ?? $0.starting) }
        if let running { return running }
        guard let registration else {
            throw SyncError(.applicationRuntime, .applicationNotRegistered, "application \"\(identifier)\" is not registered: register it first")
        }
        try registration.properties.validate()
        let outcome: Outcome<Void>? = state.withLock { state in
            if state.status.connection == .connected || state.status.connection == .connecting { return nil }
            let outcome = Outcome<Void>()
            state.starting = outcome
            return outcome
        }
        if outcome != nil { work.run { [self] in connect() } }
        return outcome
    }

    /// One attempt to connect, and to register if that is what is wanted; on the application's queue.
    private func connect() {
        state.withLock { $0.retry = nil }
        let isRegistering = state.withLock { $0.registering != nil }
        apply { $0.beginConnection() }
        do throws(SyncError) {
            let changed = isRegistering ? try requestRegistration() : try checkRegistration()
            state.withLock { $0.attempt = 0 }
            apply { $0.connected() }
            reportSettings(changed: changed)
            finish(\.registering, .success(()))
            finish(\.starting, .success(()))
        } catch let error where error.code == .serverNotReached {
            apply { $0.lost(code: error.code.rawValue, message: error.message) }
            retryLater()
        } catch {
            apply { $0.refused(code: error.code.rawValue, message: error.message) }
            finish(\.registering, .failure(error.as(.applicationRuntime)))
            finish(\.starting, .failure(error.as(.applicationRuntime)))
        }
    }

    /// - Returns: the names of the settings that are new or different.
    private func requestRegistration() throws(SyncError) -> [String] {
        let properties = connectionProperties
        let (token, settings) = try Server(self, properties).register(properties)
        var remembered = properties
        remembered.loginCredentials?.password = nil
        remembered.activationCode = nil
        let registration = ApplicationStore.Registration(identifier: identifier, properties: remembered, token: token)
        try store.save(registration, settings: settings)
        return state.withLock { state in
            defer { (state.registration, state.settings) = (registration, settings) }
            return ApplicationSettings.changedNames(from: state.settings, to: settings)
        }
    }

    /// Asks whether the server still knows the registration; a session that it forgot is renewed once with the credentials at hand.
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
        let changed = state.withLock { state in
            defer { state.settings = settings }
            return ApplicationSettings.changedNames(from: state.settings, to: settings)
        }
        if !changed.isEmpty, let registration = state.withLock({ $0.registration }) { try store.save(registration, settings: settings) }
        return changed
    }

    /// Tries at once what would be tried later: call it when the platform reports that the network is back.
    public func networkBecameAvailable() {
        let timer = state.withLock { $0.retry }
        guard let timer, timer.fire() else { return }
        work.run { [self] in connect() }
    }

    func retryLater() {
        state.withLock { state in
            let delay = retryPolicy.delay(attempt: state.attempt)
            state.attempt += 1
            state.retry = work.run(after: delay) { [weak self] in self?.connect() }
        }
    }

    // MARK: Stop

    /// Stops the connection; no effect if there is none. The registration stays.
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: ``SyncError`` of kind ``SyncError/Kind/applicationTimeout``.
    /// SMP 2.3: `stopConnection:timeout`.
    public func stopConnection(timeout: Duration = .zero) throws(SyncError) {
        try wait(for: beginStop(), timeout, "stop of the connection")
    }

    /// The same, awaited. - Parameter timeout: nil (default) waits as long as it takes.
    public func stopConnection(timeout: Duration? = nil) async throws(SyncError) {
        try await result(of: beginStop(), timeout, "stop of the connection")
    }

    func beginStop() -> Outcome<Void> {
        let outcome = Outcome<Void>()
        state.withLock { state in
            state.retry?.cancel()
            state.retry = nil
        }
        work.run { [self] in
            disconnect()
            outcome.resolve(.success(()))
        }
        return outcome
    }

    private func disconnect() {
        state.withLock { state in
            // An attempt that was under way may have set a new timer since.
            state.retry?.cancel()
            state.retry = nil
        }
        apply { $0.beginStop() }
        apply { $0.stopped() }
        let stopped = SyncError(.applicationRuntime, .cancelled, "the connection was stopped before the server was reached")
        finish(\.registering, .failure(stopped))
        finish(\.starting, .failure(stopped))
    }

    // MARK: Unregister

    /// Stops the connection and deletes the registration, here and on the server. No effect if there is none.
    /// - Parameter timeout: zero or less (default): returns at once.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidState`` while a synchronization runs, kind
    ///   ``SyncError/Kind/applicationTimeout`` when it took longer, ``SyncError/Kind/applicationRuntime`` when it failed.
    /// SMP 2.3: `unregisterApplication`, `unregisterApplication:timeout`.
    public func unregister(timeout: Duration = .zero) throws(SyncError) {
        if let outcome = try beginUnregistration() { try wait(for: outcome, timeout, "unregistration") }
    }

    /// The same, awaited. - Parameter timeout: nil (default) waits as long as it takes.
    public func unregister(timeout: Duration? = nil) async throws(SyncError) {
        if let outcome = try beginUnregistration() { try await result(of: outcome, timeout, "unregistration") }
    }

    func beginUnregistration() throws(SyncError) -> Outcome<Void>? {
        let (registration, synchronizations) = state.withLock { ($0.registration, $0.synchronizations) }
        guard let registration else { return nil }
        guard synchronizations == 0 else {
            throw SyncError(
                .applicationRuntime, .invalidState,
                "application \"\(identifier)\" cannot unregister while it synchronizes: wait for it to end, or cancel it")
        }
        let outcome = Outcome<Void>()
        state.withLock { state in
            state.retry?.cancel()
            state.retry = nil
        }
        work.run { [self] in
            disconnect()
            apply { $0.beginUnregistration() }
            do throws(SyncError) {
                try Server(self, registration.properties).unregister(registration.token)
                try store.forget()
                state.withLock { ($0.registration, $0.settings) = (nil, nil) }
                apply { $0.unregistered() }
                outcome.resolve(.success(()))
            } catch {
                apply { $0.unregistrationFailed(code: error.code.rawValue, message: error.message) }
                outcome.resolve(.failure(error.as(.applicationRuntime)))
            }
        }
        return outcome
    }

    // MARK: Waiting

    private func finish(_ what: WritableKeyPath<State, Outcome<Void>?> & Sendable, _ result: Result<Void, any Error>) {
        let outcome = state.withLock { state in
            defer { state[keyPath: what] = nil }
            return state[keyPath: what]
        }
        outcome?.resolve(result)
    }

    private func wait(for outcome: Outcome<Void>, _ timeout: Duration, _ what: String) throws(SyncError) {
        guard timeout > .zero else { return }
        do {
            if try outcome.wait(timeout: timeout) == nil { throw timedOut(what, timeout) }
        } catch {
            throw SyncError.from(error)
        }
    }

    private func result(of outcome: Outcome<Void>, _ timeout: Duration?, _ what: String) async throws(SyncError) {
        do {
            guard let timeout else { return try await outcome.value }
            let limited = Outcome<Void>()
            let error = timedOut(what, timeout)
            let timer = work.timer(after: timeout) { limited.resolve(.failure(error)) }
            outcome.observe { if let result = outcome.result { limited.resolve(result) } }
            defer { timer.cancel() }
            try await limited.value
        } catch {
            throw SyncError.from(error)
        }
    }

    private func timedOut(_ what: String, _ timeout: Duration) -> SyncError {
        SyncError(.applicationTimeout, .timeout, "\(what) of \"\(identifier)\" not done within \(timeout); it goes on in the background")
    }
}

extension SyncError {
    /// The same error under another documented exception; timeouts and properties keep their own.
    func `as`(_ kind: Kind) -> SyncError { SyncError(kind, code, message, cause: cause) }

    /// The gate for what comes from other modules.
    static func from(_ error: any Error) -> SyncError {
        if let error = error as? SyncError { return error }
        return SyncError(.synchronize, .unknown, "\(error)", cause: error)
    }
}
