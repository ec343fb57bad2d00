internal import Dispatch
internal import MobileExecution
internal import MobileObjects
internal import MobileProtocol
internal import MobileStore
internal import MobileTransport

/// Listens for changes on the server while background synchronization is on, on a thread of its own.
///
/// It listens while the application is connected, the package is subscribed, and a group has notifications. Each change of these facts calls
/// ``reconsider()``.
final class ChangeNotifications: Sendable {
    private struct State {
        var isOn = false
        var isRunning = false
        /// Counts the calls of ``reconsider()``.
        var calls = 0
        var cancellation: TransportCancellation?
        var groups: NotifiedGroups?
    }

    private let state = SystemLock(State())
    private let bell = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    /// Held while it is switched on or off, until the thread has followed.
    private let switching = SystemLock<Void>(())

    /// A connection without a heartbeat of the server for this time is dead; the server sends one each 55 s or more often.
    static let silence: Duration = .seconds(75)
    /// The time for the first event of a stream. A proxy that collects events lets none through.
    static let greetingTime: Duration = .seconds(20)
    /// A connection that breaks earlier counts as short.
    static let shortTime: Duration = .seconds(10)

    // MARK: On and off

    /// Switches on. No effect if it is on.
    func start(_ package: PackageDatabase) {
        switching.withLock { _ in
            let isNew = state.withLock { state in
                state.isOn = true
                defer { state.isRunning = true }
                return !state.isRunning
            }
            guard isNew, !SystemThread.start({ [weak package] in self.run { package } }) else { return }
            state.withLock { $0.isRunning = false }
        }
    }

    /// Switches off, and waits until the thread has ended.
    func stop() {
        switching.withLock { _ in
            let isRunning = state.withLock { state in
                state.isOn = false
                state.groups?.stop()
                state.cancellation?.cancel()
                return state.isRunning
            }
            bell.signal()
            if isRunning { ended.wait() }
        }
    }

    /// A fact that it depends on has changed: it connects with the present facts, at once if it waits.
    func reconsider() {
        state.withLock { state in
            state.calls += 1
            state.cancellation?.cancel()
        }
        bell.signal()
    }

    // MARK: The thread

    private func run(_ package: () -> PackageDatabase?) {
        var plan = ListeningPlan(), next = ListeningPlan.Step.listen(after: .zero)
        while true {
            let delay: Duration =
                switch next {
                case .listen(let after), .poll(let after): after
                }
            let isEarly = delay > .zero && bell.wait(timeout: .now() + delay / .seconds(1)) == .success
            guard let package = package(), state.withLock({ $0.isOn }) else { break }
            if isEarly {
                // The facts have changed: what was learnt about the connection may not hold any more.
                (plan, next) = (ListeningPlan(), .listen(after: .zero))
            }
            guard let subject = subject(package) else {
                // Something is missing; its arrival rings the bell.
                next = .listen(after: .seconds(3600))
                continue
            }
            next = step(next, &plan, subject)
        }
        let groups = state.withLock { state in
            state.isRunning = false
            defer { state.groups = nil }
            return state.groups
        }
        groups?.stop()
        ended.signal()
    }

    /// The groups to listen for, and the server.
    private struct Subject {
        let package: PackageDatabase
        let application: Application
        let profile: SynchronizationProfile
        let session: Application.Session
        let groups: [String]
    }

    private func subject(_ package: PackageDatabase) -> Subject? {
        do {
            let (application, profile) = try package.synchronizer.connected(package)
            guard application.connectionStatus == .connected, try package.isSubscribed() else { return nil }
            let groups = try package.notifiedGroups()
            guard !groups.isEmpty else { return nil }
            try package.logInWithProfile(application, profile)
            return Subject(package: package, application: application, profile: profile, session: try application.session(), groups: groups)
        } catch {
            return nil
        }
    }

    private func step(_ step: ListeningPlan.Step, _ plan: inout ListeningPlan, _ subject: Subject) -> ListeningPlan.Step {
        let groups = notifiedGroups(subject), interval = subject.profile.pollingInterval
        var random = subject.application.surroundings.random
        if case .poll = step {
            groups.add(subject.groups)
            return plan.polled(pollingInterval: interval, &random)
        }
        guard let end = listen(subject, groups) else { return .listen(after: .zero) }
        return plan.ended(end, subject.application.retryPolicy, pollingInterval: interval, &random)
    }

    private func notifiedGroups(_ subject: Subject) -> NotifiedGroups {
        state.withLock { state in
            if let groups = state.groups { return groups }
            let package = subject.package
            let groups = NotifiedGroups(
                subject.application.retryPolicy, subject.application.surroundings.random, package.synchronizer.work,
                interval: { [weak package] in (try? package?.synchronizationGroup(named: $0).interval) ?? .zero },
                synchronize: { [weak package] groups in
                    guard let package else { return nil }
                    let request = SynchronizationRequest(groups: groups, isNotified: true)
                    do { try package.synchronizer.add(request, of: package) } catch { return nil }
                    return request.outcome
                })
            state.groups = groups
            return groups
        }
    }

    // MARK: One connection

    /// The course of one connection.
    private struct Course {
        var isGreeted = false
        var hasLeft = false
        var retry: Duration?
    }

    /// Listens until the connection ends.
    /// - Returns: nil if a change of the facts has ended it.
    private func listen(_ subject: Subject, _ groups: NotifiedGroups) -> ListeningPlan.End? {
        let cancellation = TransportCancellation()
        let calls = state.withLock { state -> Int? in
            guard state.isOn else { return nil }
            state.cancellation = cancellation
            return state.calls
        }
        guard let calls else { return nil }
        defer { state.withLock { $0.cancellation = nil } }
        let began = ContinuousClock.now, course = SystemLock(Course())
        let greeting = subject.package.synchronizer.work.timer(after: Self.greetingTime) {
            if !course.withLock({ $0.isGreeted }) { cancellation.cancel() }
        }
        defer { greeting.cancel() }
        do throws(SyncError) {
            try exchange(subject, cancellation) { event in
                switch event.name {
                case "listening": course.withLock { $0.isGreeted = true }
                case "news": groups.add(Self.groups(in: event).filter(subject.groups.contains))
                case "end": course.withLock { ($0.hasLeft, $0.retry) = (true, event.retry) }
                default: break
                }
            }
        } catch {
            let hasChanged = state.withLock { $0.calls != calls || !$0.isOn }
            if hasChanged { return nil }
            if !course.withLock({ $0.isGreeted }), error.code != .cancelled { return refusal(error) }
        }
        let (isGreeted, hasLeft, retry) = course.withLock { ($0.isGreeted, $0.hasLeft, $0.retry) }
        if hasLeft { return .left(retry: retry) }
        return isGreeted && ContinuousClock.now - began >= Self.shortTime ? .lost : .short
    }

    private func refusal(_ error: SyncError) -> ListeningPlan.End {
        switch error.code {
        case .serverNotReached, .synchronizationCommunication: error.cause is TransportError ? .unreachable(retryAfter: error.retryAfter) : .short
        default: .refused(retryAfter: error.retryAfter)
        }
    }

    /// Opens the stream, in a new session if the server does not know the present one.
    private func exchange(
        _ subject: Subject, _ cancellation: TransportCancellation, _ visit: @escaping (ServerEvent) throws -> Void
    ) throws(SyncError) {
        let package = subject.package
        let header = try SyncError.local("read the state of \(package.metadata.name)") { try package.synchronizeHeader(groups: subject.groups) }
        let server = try package.synchronizer.server(subject.application, subject.profile, subject.session.properties, for: package)
        do throws(SyncError) {
            try server.listen(header, token: subject.session.token, cancellation: cancellation, visit)
        } catch let error where error.code == .authenticationFailed {
            let token = try subject.application.renewSession(insteadOf: subject.session.token, credentials: subject.profile.credentials)
            try server.listen(header, token: token, cancellation: cancellation, visit)
        }
    }

    private static func groups(in event: ServerEvent) -> [String] {
        (try? JSONValue(parsing: event.data))?["groups"]?.array?.compactMap(\.string) ?? []
    }
}
