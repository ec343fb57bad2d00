import Foundation
import MobileExecution
import MobileObjects
import MobileSync

/// Keeps the events of an application's callback, in order.
final class RecordedApplicationEvents: ApplicationCallback {
    private let list = SystemLock<[ApplicationEvent]>([])

    /// Returns the events since the last call.
    func take() -> [ApplicationEvent] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }

    /// Returns the statuses since the last call, without code and message: `registering`, `connecting`, ...
    func takeStatuses() -> [String] {
        take().compactMap { event in
            switch event {
            case .connectionStatusChanged(let status, _, _): "\(status)"
            case .registrationStatusChanged(let status, _, _): "\(status)"
            default: nil
            }
        }
    }

    func onApplicationSettingsChanged(names: [String]) { list.withLock { $0.append(.settingsChanged(names: names)) } }
    func onConnectionStatusChanged(_ status: ConnectionStatus, code: Int, message: String) {
        list.withLock { $0.append(.connectionStatusChanged(status, code: code, message: message)) }
    }
    func onRegistrationStatusChanged(_ status: RegistrationStatus, code: Int, message: String) {
        list.withLock { $0.append(.registrationStatusChanged(status, code: code, message: message)) }
    }
    func onDeviceConditionChanged(_ condition: DeviceCondition) { list.withLock { $0.append(.deviceConditionChanged(condition)) } }
    func onHttpCommunicationError(code: Int, message: String, headers: [String: String]) {
        list.withLock { $0.append(.httpCommunicationError(code: code, message: message, headers: headers)) }
    }
}

/// Keeps the names of a package's callbacks, in order, and lets a test act inside of one.
final class RecordedCallbacks: CallbackHandler {
    private struct State {
        var names: [String] = []
        var action: (@Sendable (String) -> Void)?
        var answer: (@Sendable (SynchronizationContext) -> SynchronizationAction)?
        var wasOnMainThread = false
    }
    private let state = SystemLock(State())

    /// Returns the names since the last call.
    func take() -> [String] {
        state.withLock { state in
            defer { state.names = [] }
            return state.names
        }
    }

    var wasOnMainThread: Bool { state.withLock { $0.wasOnMainThread } }

    /// Sets the action that runs inside of every callback.
    func act(_ action: (@Sendable (String) -> Void)?) { state.withLock { $0.action = action } }
    /// Sets the function that returns the answer of `onSynchronize`.
    func answer(_ answer: (@Sendable (SynchronizationContext) -> SynchronizationAction)?) { state.withLock { $0.answer = answer } }

    private func record(_ name: String) {
        let action = state.withLock { state in
            state.names.append(name)
            if Thread.isMainThread { state.wasOnMainThread = true }
            return state.action
        }
        action?(name)
    }

    func onImportSuccess() { record("importSuccess") }
    func onReplaySuccess(_ object: Entity) { record("replaySuccess \(object.metadata.name) \(object.surrogateKey)") }
    func onReplayFailure(_ object: Entity) { record("replayFailure \(object.metadata.name) \(object.surrogateKey)") }
    func onReplayDeferred(_ object: Entity) { record("replayDeferred \(object.metadata.name) \(object.surrogateKey)") }
    func onLoginSuccess() { record("loginSuccess") }
    func onLoginFailure() { record("loginFailure") }
    func onSubscribeSuccess() { record("subscribeSuccess") }
    func onSubscribeFailure() { record("subscribeFailure") }
    func onUnsubscribeSuccess() { record("unsubscribeSuccess") }
    func onUnsubscribeFailure() { record("unsubscribeFailure") }
    func onSuspendSubscriptionSuccess() { record("suspendSuccess") }
    func onSuspendSubscriptionFailure() { record("suspendFailure") }
    func onResumeSubscriptionSuccess() { record("resumeSuccess") }
    func onResumeSubscriptionFailure() { record("resumeFailure") }
    func onRecoverSuccess() { record("recoverSuccess") }
    func onRecoverFailure() { record("recoverFailure") }
    func onTransactionCommit() { record("commit") }
    func onTransactionRollback() { record("rollback") }
    func onMessageException(_ error: any Error) { record("exception") }
    func onSynchronize(_ groups: [String], _ context: SynchronizationContext) -> SynchronizationAction {
        let user = (context.userContext as? String).map { " \($0)" } ?? ""
        record("\(context.status)\(user) [\(groups.joined(separator: ","))]")
        let answer = state.withLock { $0.answer }
        return answer?(context) ?? .continue
    }
}
