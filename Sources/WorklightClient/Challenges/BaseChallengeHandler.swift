internal import MobileExecution
public import MobileStore

/// The common part of all challenge handlers. Applications derive from ``ChallengeHandler`` or ``WLChallengeHandler``. Worklight 5.0.6: class
/// `BaseChallengeHandler`.
///
/// A handler works on one request at a time; others that meet the same challenge wait and are sent again after it. The client calls a handler on one of
/// its own threads, one callback after another; a handler answers from any thread, at any time. A handler that never answers holds up all later requests
/// of its realm: the time of a request does not run meanwhile.
open class BaseChallengeHandler: @unchecked Sendable {  // derived classes protect their own state; this one has a lock
    /// The name of the realm, such as `wl_remoteDisableRealm`.
    public let realm: String
    private let place = SystemLock<Place?>(nil)

    /// The engine and the slot in which the handler is registered.
    struct Place {
        weak var engine: WLEngine?
        weak var slot: ChallengeSlot?
    }

    /// Creates a handler of a realm. Worklight 5.0.6: `initWithRealm:`.
    public init(realm: String) { self.realm = realm }

    /// Ends the challenge without success: the request that met it, and all that wait, fail with ``WLErrorCode/unexpectedError``. Without an open
    /// challenge, nothing happens. Worklight 5.0.6: `submitFailure:`.
    /// - Parameter response: the response that made the handler give up; its text becomes that of the failures if it has one.
    public final func submitFailure(_ response: WLResponse? = nil) {
        perform { engine, slot in engine.submitFailure(slot, response) }
    }

    func register(_ engine: WLEngine, _ slot: ChallengeSlot) { place.withLock { $0 = Place(engine: engine, slot: slot) } }

    /// Whether a client that still exists has this handler.
    var isRegistered: Bool { place.withLock { $0?.engine != nil && $0?.slot != nil } }

    /// Runs `body` as a job of the client; does nothing for a handler that is not registered.
    func perform(_ body: @escaping @Sendable (WLEngine, ChallengeSlot) -> Void) {
        let place = place.withLock { $0 }
        guard let engine = place?.engine, let slot = place?.slot else { return }
        engine.mailbox.later { body(engine, slot) }
    }
}

/// A handler of a realm that the server names in its challenges, and that answers with JSON: one of the platform's own, such as
/// `wl_remoteDisableRealm`, or one of the application. Worklight 5.0.6: class `WLChallengeHandler`.
open class WLChallengeHandler: BaseChallengeHandler, @unchecked Sendable {
    private let messageID = SystemLock<String?>(nil)

    /// Handles a challenge, and calls ``WLChallengeHandler/submitChallengeAnswer(_:)``, ``WLChallengeHandler/submitAnswer()`` or
    /// ``BaseChallengeHandler/submitFailure(_:)`` in the end.
    /// Worklight 5.0.6: `handleChallenge:`.
    open func handleChallenge(_ challenge: JSONObject) { submitChallengeAnswer(nil) }

    /// Learns that the server accepted the realm. Worklight: `handleSuccess:`.
    open func handleSuccess(_ identity: JSONObject) {}

    /// Learns that the server refused the realm; the request fails afterwards. Worklight 5.0.6: `handleFailure:`.
    open func handleFailure(_ failure: JSONObject) {}

    /// Answers the challenge: the request is sent again as soon as the other realms of the same response have their answers. A second answer to one
    /// challenge is ignored.
    /// - Parameter answer: any JSON value; nil to send the request again without an answer for this realm.
    public final func submitChallengeAnswer(_ answer: JSONValue?) {
        perform { engine, slot in engine.submitAnswer(slot, answer) }
    }

    /// Sets the message that ``submitAnswer()`` confirms. Worklight 5.0.6: `setMessageId:`.
    public final func setMessageId(_ id: String) { messageID.withLock { $0 = id } }

    /// Confirms the message of ``setMessageId(_:)``: it becomes the answer of the realm. Without one, the request is sent again without an answer.
    /// Worklight 5.0.6: `submitAnswer`.
    public final func submitAnswer() { submitChallengeAnswer(messageID.withLock { $0 }.map { .string($0) }) }

    /// Handles a challenge inside of a job of the client; the platform's own handlers answer there at once.
    func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) { handleChallenge(challenge) }
}

/// A handler that answers in an asynchronous function.
public final class WLAsyncChallengeHandler: WLChallengeHandler, @unchecked Sendable {
    private let answer: @Sendable (JSONObject) async throws -> JSONValue?

    /// Creates a handler.
    /// - Parameters:
    ///   - realm: the name of the realm.
    ///   - answer: returns the answer, or nil to continue without one. If it throws, the requests fail.
    public init(realm: String, answer: @escaping @Sendable (JSONObject) async throws -> JSONValue?) {
        self.answer = answer
        super.init(realm: realm)
    }

    public override func handleChallenge(_ challenge: JSONObject) {
        Task {
            do { submitChallengeAnswer(try await answer(challenge)) } catch { submitFailure(error as? WLFailResponse) }
        }
    }
}
