internal import MobileStore
internal import MobileTransport

/// An address with the parts that decide about cookies.
struct RequestAddress {
    let url: String
    let target: RequestTarget

    init(_ url: String) {
        self.url = url
        target = RequestTarget(url)
    }
}

/// One request from its beginning to its callback, over all sendings. Used by jobs of the client's mailbox only, except for its constants and its
/// cancellation.
final class WLRequest: @unchecked Sendable {
    /// The rules for the response.
    enum Kind {
        /// A request of the SDK: challenges are processed.
        case standard
        /// A procedure: as ``standard``, and the result decides about success.
        case procedure
        /// A procedure that a handler calls during a challenge.
        case authentication(ChallengeSlot)
        /// A request without challenges, such as a login form or an upload of logs: each answer is a result.
        case plain
    }

    /// The end of a request: a response, or a failure.
    typealias Outcome = Result<WLResponse, WLFailResponse>

    let kind: Kind
    let method: String
    private let address: RequestAddress
    var url: String { address.url }
    /// The parts of the address that decide about cookies.
    var target: RequestTarget { address.target }
    let fields: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    /// A body in place of the form.
    let body: [UInt8]?
    /// nil: no limit.
    let timeout: Duration?
    let context: (any Sendable)?
    private var completion: ((Outcome) -> Void)?

    /// The answers to collect before the next sending; nil marks a pending one.
    private(set) var answers: [(realm: String, value: JSONValue?)] = []
    /// The last challenge of each realm that got an answer, and how often it came back.
    private var refused: [String: (challenge: JSONValue, rounds: Int)] = [:]
    /// Responses with a challenge so far.
    var rounds = 0
    /// Whether it was sent again because its challenge came from another session than that of the client.
    var wasLate = false
    /// The client's counter at the last sending; 0 before the first one.
    var sentAt: UInt64 = 0
    var isInFlight = false
    /// Ends the transmission in progress.
    var transmission = TransportCancellation()
    var isFinished: Bool { completion == nil }

    init(
        _ kind: Kind, method: String = "POST", to address: RequestAddress, fields: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, timeout: Duration?, context: (any Sendable)? = nil, completion: @escaping (Outcome) -> Void
    ) {
        self.kind = kind
        self.method = method
        self.address = address
        self.fields = fields
        self.headers = headers
        self.body = body
        self.timeout = timeout.flatMap { $0 > .zero ? $0 : nil }
        self.context = context
        self.completion = completion
    }

    /// Whether the server may get the request twice when a kept connection breaks under it. Not so for what changes something there.
    var mayRepeat: Bool { !isProcedure && body == nil && !url.hasSuffix("/logactivity") }

    var isProcedure: Bool {
        switch kind {
        case .procedure, .authentication: true
        case .standard, .plain: false
        }
    }

    /// Calls the callback, the first time only.
    func finish(_ outcome: Outcome) {
        let completion = completion
        finishSilently()
        completion?(outcome)
    }

    /// Ends the request without its callback.
    func finishSilently() {
        completion = nil
        transmission.cancel()
    }

    // MARK: Answers

    /// Whether no answer is awaited.
    var isComplete: Bool { answers.allSatisfy { $0.value != nil } }

    func expectAnswer(_ realm: String) {
        removeAnswer(realm)
        answers.append((realm, nil))
    }

    func setAnswer(_ realm: String, _ value: JSONValue) {
        guard let place = answers.firstIndex(where: { $0.realm == realm }) else { return }
        answers[place].value = value
    }

    func removeAnswer(_ realm: String) { answers.removeAll { $0.realm == realm } }

    /// Takes the answers for a sending: each is sent once.
    func takeAnswers() -> JSONObject {
        defer { answers = [] }
        var object = JSONObject()
        for answer in answers { object[answer.realm] = answer.value }
        return object
    }

    /// Notes that an answer to this challenge is sent.
    func noteAnswer(_ realm: String, to challenge: JSONValue) {
        if refused[realm]?.challenge != challenge { refused[realm] = (challenge, 0) }
    }

    /// Whether a challenge of this realm was answered before.
    func hasAnswered(_ realm: String) -> Bool { refused[realm] != nil }

    /// Notes that a challenge came.
    /// - Returns: whether the same challenge came back twice after an answer.
    func isRefused(_ realm: String, _ challenge: JSONValue) -> Bool {
        guard let last = refused[realm], last.challenge == challenge else { return false }
        refused[realm]?.rounds += 1
        return last.rounds + 1 >= 2
    }
}
