internal import MobileStore

/// A registered handler, with the request that it works on and those that wait. Used by jobs of the client's mailbox only.
final class ChallengeSlot: @unchecked Sendable {
    let realm: String
    let handler: BaseChallengeHandler
    /// The request whose challenge the handler works on, and that challenge; nil when the handler is idle. The request may have ended meanwhile.
    var active: (request: WLRequest, challenge: JSONValue)?
    /// The requests that met the challenge meanwhile.
    var waiting: [WLRequest] = []
    /// The request that carries the last answer, until its response arrives: others that meet the challenge in that time wait for it.
    var answering: WLRequest?
    /// The client's counter when the realm was accepted last: a challenge to a request that was sent earlier is out of date.
    var satisfiedAt: UInt64 = 0
    /// The client's counter when the handler gave up, or the server refused the realm, for the last time: requests that were sent earlier share that end.
    var failedAt: UInt64 = 0

    init(_ handler: BaseChallengeHandler) {
        self.handler = handler
        realm = handler.realm
    }

    /// Ends the work of the handler.
    /// - Returns: the request to continue with: that of the challenge, or the first one that waits if it has ended; and the challenge.
    func takeActive() -> (request: WLRequest, challenge: JSONValue)? {
        guard let active else { return nil }
        self.active = nil
        waiting.removeAll(where: \.isFinished)
        if !active.request.isFinished { return active }
        return waiting.isEmpty ? nil : (waiting.removeFirst(), active.challenge)
    }

    /// Takes all waiting requests out.
    func takeWaiting() -> [WLRequest] {
        defer { waiting = [] }
        return waiting.filter { !$0.isFinished }
    }
}
