internal import MobileExecution

/// A handler of a login of the application's own, such as a form or an adapter. It recognizes the server's request for it in any response. Worklight
/// 5.0.6: class `ChallengeHandler`.
open class ChallengeHandler: BaseChallengeHandler, @unchecked Sendable {
    /// Whether a response requests the login. Called for each response that is not a challenge of the platform, successes included, in the order in which
    /// handlers were registered; the first one that returns true handles it. Worklight 5.0.6: `isCustomResponse:`.
    open func isCustomResponse(_ response: WLResponse) -> Bool { false }

    /// Handles the challenge, for example shows a form; calls ``ChallengeHandler/submitSuccess(_:)`` or
    /// ``BaseChallengeHandler/submitFailure(_:)`` in the end. Worklight 5.0.6: `handleChallenge:`.
    open func handleChallenge(_ response: WLResponse) { submitFailure(response) }

    /// Receives the answer to a login form, with any status, and the successful one to an adapter's procedure. Worklight 5.0.6: `onSuccess:`.
    open func onSuccess(_ response: WLResponse) {}

    /// Receives the failure of a login form (no answer came) or of an adapter's procedure. Worklight 5.0.6: `onFailure:`.
    open func onFailure(_ response: WLFailResponse) {}

    /// Ends the challenge with success: the request that met it is sent again, then those that wait. Worklight 5.0.6: `submitSuccess:`.
    public final func submitSuccess(_ response: WLResponse? = nil) { perform { engine, slot in engine.submitSuccess(slot) } }

    /// Sends credentials to an address; ``onSuccess(_:)`` or ``onFailure(_:)`` follows. Worklight 5.0.6:
    /// `submitLoginForm:requestParameters:requestHeaders:requestTimeoutInMilliseconds:requestMethod:`.
    /// - Parameters:
    ///   - url: an absolute address that begins with `http`, or one relative to that of the application, such as `j_security_check`.
    ///   - parameters: the fields of the form, such as `j_username`.
    ///   - headers: further header fields.
    ///   - timeout: the time for the request; zero or less for the default of 10 s.
    ///   - method: `POST` (default) or `GET`; with another one, ``onFailure(_:)`` is called and nothing is sent.
    public final func submitLoginForm(
        _ url: String, parameters: [String: String] = [:], headers: [String: String] = [:], timeout: Duration = .zero, method: String = "POST"
    ) {
        perform { engine, _ in
            engine.sendLoginForm(url, parameters, headers, timeout, method) { [weak self] outcome in self?.receive(outcome) }
        }
    }

    /// Calls a procedure during the challenge, outside of the application's security test; ``onSuccess(_:)`` or ``onFailure(_:)`` follows, or
    /// ``handleChallenge(_:)`` if the answer asks for the login again. Worklight 5.0.6: `submitAdapterAuthentication:options:`.
    public final func submitAdapterAuthentication(_ data: WLProcedureInvocationData, options: WLProcedureOptions = WLProcedureOptions()) {
        perform { engine, slot in
            engine.sendAuthentication(slot, data, options) { [weak self] outcome in self?.receive(outcome) }
        }
    }

    /// Asynchronous form of ``submitLoginForm(_:parameters:headers:timeout:method:)``; ``onSuccess(_:)`` and ``onFailure(_:)`` are not called.
    /// - Throws: ``WLFailResponse``.
    @discardableResult
    public final func loginForm(
        _ url: String, parameters: [String: String] = [:], headers: [String: String] = [:], timeout: Duration = .zero, method: String = "POST"
    ) async throws -> WLResponse {
        let promise = Promise<WLResponse, WLFailResponse>()
        perform(orFail: promise) { engine, _ in engine.sendLoginForm(url, parameters, headers, timeout, method) { promise.resolve($0) } }
        return try await promise.value
    }

    private func receive(_ outcome: WLRequest.Outcome) {
        switch outcome {
        case .success(let response): onSuccess(response)
        case .failure(let failure): onFailure(failure)
        }
    }

    private func perform(
        orFail promise: Promise<WLResponse, WLFailResponse>, _ body: @escaping @Sendable (WLEngine, ChallengeSlot) -> Void
    ) {
        guard isRegistered else {
            return promise.resolve(.failure(WLFailResponse(.unexpectedError, "the handler of realm \(realm) is not registered")))
        }
        perform(body)
    }
}

/// A handler that logs in in an asynchronous function.
public final class AsyncChallengeHandler: ChallengeHandler, @unchecked Sendable {
    private let recognizes: @Sendable (WLResponse) -> Bool
    private let login: @Sendable (AsyncChallengeHandler, WLResponse) async throws -> Void

    /// Creates a handler.
    /// - Parameters:
    ///   - realm: the name of the realm.
    ///   - isCustomResponse: as ``ChallengeHandler/isCustomResponse(_:)``.
    ///   - login: logs in, for example with ``ChallengeHandler/loginForm(_:parameters:headers:timeout:method:)``. When it returns, the requests are
    ///     sent again; when it throws, they fail.
    public init(
        realm: String, isCustomResponse: @escaping @Sendable (WLResponse) -> Bool,
        login: @escaping @Sendable (_ handler: AsyncChallengeHandler, _ response: WLResponse) async throws -> Void
    ) {
        recognizes = isCustomResponse
        self.login = login
        super.init(realm: realm)
    }

    public override func isCustomResponse(_ response: WLResponse) -> Bool { recognizes(response) }

    public override func handleChallenge(_ response: WLResponse) {
        Task {
            do {
                try await login(self, response)
                submitSuccess(response)
            } catch { submitFailure(error as? WLFailResponse) }
        }
    }
}
