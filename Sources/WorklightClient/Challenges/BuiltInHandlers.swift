internal import MobileExecution
internal import MobileStore

/// The names of the platform's own realms.
enum BuiltInRealm {
    static let antiXSRF = "wl_antiXSRFRealm"
    static let device = "wl_deviceNoProvisioningRealm"
    static let provisionedDevice = "wl_deviceAutoProvisioningRealm"
    static let remoteDisable = "wl_remoteDisableRealm"
    static let authenticity = "wl_authenticityRealm"
}

/// Takes the value that proves that a request comes from the application. No answer is sent: the value becomes a header field of all later requests.
final class AntiXSRFHandler: WLChallengeHandler, @unchecked Sendable {
    static let field = "WL-Instance-Id"

    init() { super.init(realm: BuiltInRealm.antiXSRF) }

    override func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) {
        // Control characters cannot be sent in a header field.
        guard let value = challenge[Self.field]?.string, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            return engine.breakProtocol(slot, "the anti-XSRF challenge has no \(Self.field)")
        }
        engine.setInstanceID(value)
        engine.submitAnswer(slot, nil)
    }
}

/// Names the device and the application.
final class DeviceHandler: WLChallengeHandler, @unchecked Sendable {
    init() { super.init(realm: BuiltInRealm.device) }

    override func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) {
        guard let token = challenge["token"]?.string else { return engine.breakProtocol(slot, "the device challenge has no token") }
        engine.submitAnswer(slot, ["ID": .object(engine.deviceDescription(token))])
    }
}

/// Passes the challenge on to the application's own answer.
final class AuthenticityHandler: WLChallengeHandler, @unchecked Sendable {
    init() { super.init(realm: BuiltInRealm.authenticity) }

    override func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) {
        guard let data = challenge["WL-Challenge-Data"]?.string, let answer = engine.configuration.authenticityAnswer?(data) else {
            return engine.breakProtocol(slot, "the server demands a proof of authenticity, for which there is no answer")
        }
        engine.submitAnswer(slot, .string(answer))
    }
}

/// Shows the server's message about this version of the application, once, and confirms it.
final class RemoteDisableHandler: WLChallengeHandler, @unchecked Sendable {
    init() { super.init(realm: BuiltInRealm.remoteDisable) }

    override func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) {
        guard let message = challenge["message"]?.string, let id = challenge["messageId"]?.string, let type = challenge["messageType"]?.string
        else { return engine.breakProtocol(slot, "the message of the server is not complete") }
        if type.lowercased() == "notify", engine.lastMessageID?.lowercased() == id.lowercased() {
            return engine.submitAnswer(slot, .string(id))
        }
        engine.lastMessageID = id
        guard let show = engine.configuration.showMessage else {
            engine.configuration.log("the server says: \(message)")
            return engine.submitAnswer(slot, .string(id))
        }
        // A second call must not answer a later challenge.
        let isOpen = SystemLock(true)
        show(message) { [weak self] in
            let isFirst = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if isFirst { self?.submitChallengeAnswer(.string(id)) }
        }
    }
}
