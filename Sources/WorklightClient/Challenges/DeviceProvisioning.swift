internal import Foundation
internal import MobileExecution
internal import MobileStore

/// The RSA keys and certificates of a device, for `wl_deviceAutoProvisioningRealm`. The module `WorklightCertificates` keeps them in a vault; an application
/// with a key store of its own takes that. Called on threads of the client that may block.
///
/// An entity is that to which a certificate belongs: `application/` with the application's identifier, `device`, or `group/` with the group's name.
public protocol WLDeviceKeys: Sendable {
    /// Returns the certificate of an entity, in DER; nil if there is none.
    func certificate(of entity: String) throws -> [UInt8]?
    /// Returns the public key of an entity; makes a key pair of 2048 bits or more and keeps it, if there is none.
    func publicKey(of entity: String) throws -> WLPublicKey
    /// Keeps the certificate that the server issued; throws if it is not that of the entity's key.
    func keep(certificate: [UInt8], of entity: String) throws
    /// Removes a certificate that the server refused. The key stays.
    func removeCertificate(of entity: String) throws
    /// Signs bytes with the key of an entity: RSASSA-PKCS1-v1_5 with SHA-256 (`RS256` of RFC 7518).
    func sign(_ bytes: [UInt8], for entity: String) throws -> [UInt8]
}

/// The numbers of a public RSA key, the most significant byte first.
public struct WLPublicKey: Sendable, Hashable {
    /// The modulus.
    public var modulus: [UInt8]
    /// The exponent.
    public var exponent: [UInt8]

    /// Describes a key.
    public init(modulus: [UInt8], exponent: [UInt8]) {
        self.modulus = modulus
        self.exponent = exponent
    }
}

/// Answers for a device with a certificate: with a signature of its description, or with a request for the certificate. Without
/// ``WLConfiguration/deviceKeys``, a request fails where the server demands a certificate, and continues without an answer where it does not.
final class ProvisionedDeviceHandler: WLChallengeHandler, @unchecked Sendable {
    init() { super.init(realm: BuiltInRealm.provisionedDevice) }

    /// A challenge of the realm.
    private struct Challenge {
        let token: String
        /// `application`, `device` or `group:` with a name.
        let entity: String
        /// Whether the server issues certificates.
        let isAllowed: Bool
        /// The certificate that the server issued.
        let certificate: [UInt8]?
        /// Whether the last answer of this request was signed with the certificate that the device has.
        let isRepeated: Bool
    }

    override func start(_ challenge: JSONObject, _ engine: WLEngine, _ slot: ChallengeSlot) {
        let isAllowed = challenge["ID"]?["allowed"]?.boolean != false
        guard let keys = engine.configuration.deviceKeys else {
            guard !isAllowed else { return engine.breakProtocol(slot, "the server demands a device certificate, and there are no keys for one") }
            return engine.submitAnswer(slot, nil)
        }
        guard let token = challenge["ID"]?["token"]?.string, let entity = challenge["ID"]?["entity"]?.string else {
            return engine.breakProtocol(slot, "the challenge for a device certificate is not complete")
        }
        let certificate = challenge["certificate"].flatMap {
            $0.isNull ? nil : Data(base64Encoded: $0.string ?? "", options: .ignoreUnknownCharacters)
        }
        if let member = challenge["certificate"], !member.isNull, certificate?.isEmpty != false {
            return engine.breakProtocol(slot, "the device certificate of the server cannot be read")
        }
        let known = Challenge(
            token: token, entity: entity, isAllowed: isAllowed, certificate: certificate.map { Array($0) },
            isRepeated: slot.active.map { $0.request.hasAnswered(slot.realm) } ?? false)
        // A key takes a tenth of a second: other requests and callbacks do not wait for it.
        engine.threads.start {
            let answer = Result { try Self.answer(known, engine, keys) }
            engine.mailbox.later {
                switch answer {
                case .success(let answer): engine.submitAnswer(slot, answer)
                case .failure(let error): engine.breakProtocol(slot, "the device certificate: \(error)")
                }
            }
        }
    }

    /// Returns the answer; nil to continue without one.
    private static func answer(_ challenge: Challenge, _ engine: WLEngine, _ keys: any WLDeviceKeys) throws -> JSONValue? {
        let application = engine.configuration.applicationID
        var place = "device", request: JSONObject = ["token": .string(challenge.token), "deviceId": .string(engine.deviceID)]
        if challenge.entity.hasPrefix("group:") {
            let group = String(challenge.entity.dropFirst(6))
            place = "group/" + group
            request["groupId"] = .string(group)
        } else if challenge.entity != "device" {
            place = "application/" + application
            request["applicationId"] = .string(application)
        }
        if let issued = challenge.certificate {
            try keys.keep(certificate: issued, of: place)
        } else if challenge.isRepeated, challenge.isAllowed {
            // The server does not give the reason: it may have another authority by now, or the certificate's time is over.
            try keys.removeCertificate(of: place)
        }
        let sign = { (bytes: [UInt8]) in try keys.sign(bytes, for: place) }
        if let certificate = try keys.certificate(of: place) {
            let header: JSONObject = ["alg": "RS256", "x5c": .string(JSONSignature.base64URL(certificate))]
            return ["ID": .string(try JSONSignature.text(header, engine.deviceDescription(challenge.token), sign))]
        }
        guard challenge.isAllowed else { return nil }
        let key = try keys.publicKey(of: place)
        let numbers: JSONObject = [
            "alg": "RSA", "mod": .string(JSONSignature.base64URL(key.modulus)), "exp": .string(JSONSignature.base64URL(key.exponent)),
        ]
        return ["CSR": .string(try JSONSignature.text(["alg": "RS256", "jpk": .object(numbers)], request, sign))]
    }
}

/// Signed JSON in its compact form (RFC 7515, section 3.1).
enum JSONSignature {
    /// Returns header, payload and signature.
    static func text(_ header: JSONObject, _ payload: JSONObject, _ sign: ([UInt8]) throws -> [UInt8]) throws -> String {
        let signed = [header, payload].map { base64URL(JSONValue.object($0).bytes) }.joined(separator: ".")
        return signed + "." + base64URL(try sign(Array(signed.utf8)))
    }

    /// Returns bytes in the alphabet for addresses, without padding (RFC 4648, section 5).
    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
