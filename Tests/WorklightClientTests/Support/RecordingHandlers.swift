import MobileExecution
import MobileStore
import TestSupport
import WorklightClient

/// A handler of the platform's kind that keeps what it learns, and answers when the test says so.
final class RecordingHandler: WLChallengeHandler, @unchecked Sendable {
    let challenges = RecordedLines()
    let successes = RecordedLines()
    let failures = RecordedLines()
    private let respond: @Sendable (RecordingHandler, JSONObject) -> Void

    init(_ realm: String, respond: @escaping @Sendable (RecordingHandler, JSONObject) -> Void = { _, _ in }) {
        self.respond = respond
        super.init(realm: realm)
    }

    override func handleChallenge(_ challenge: JSONObject) {
        challenges.add(JSONValue.object(challenge).description)
        respond(self, challenge)
    }

    override func handleSuccess(_ identity: JSONObject) { successes.add(JSONValue.object(identity).description) }
    override func handleFailure(_ failure: JSONObject) { failures.add(JSONValue.object(failure).description) }
}

/// A handler of the application's kind.
final class FormHandler: ChallengeHandler, @unchecked Sendable {
    let events = RecordedLines()
    private let mark: String
    private let respond: @Sendable (FormHandler, WLResponse) -> Void
    private let ends: @Sendable (FormHandler, WLResponse) -> Void

    init(
        _ realm: String = "form", mark: String = "j_security_check", respond: @escaping @Sendable (FormHandler, WLResponse) -> Void = { _, _ in },
        ends: @escaping @Sendable (FormHandler, WLResponse) -> Void = { handler, response in
            if handler.isCustomResponse(response) { handler.handleChallenge(response) } else { handler.submitSuccess(response) }
        }
    ) {
        self.mark = mark
        self.respond = respond
        self.ends = ends
        super.init(realm: realm)
    }

    override func isCustomResponse(_ response: WLResponse) -> Bool { response.responseText.contains(mark) }

    override func handleChallenge(_ response: WLResponse) {
        events.add("challenge \(response.status)")
        respond(self, response)
    }

    override func onSuccess(_ response: WLResponse) {
        events.add("success \(response.status)")
        ends(self, response)
    }

    override func onFailure(_ response: WLFailResponse) {
        events.add("failure \(response.errorCode)")
        submitFailure(response)
    }
}

/// Keeps the callbacks of requests, in order.
final class RecordingDelegate: WLDelegate {
    let events = RecordedLines()
    private let first = Signal()

    func onSuccess(_ response: WLResponse) {
        events.add("success \(response.status)")
        first.fire()
    }

    func onFailure(_ response: WLFailResponse) {
        events.add("failure \(response.errorCode)")
        first.fire()
    }

    /// Waits for the first callback.
    func called() async { await first.happened() }
}
