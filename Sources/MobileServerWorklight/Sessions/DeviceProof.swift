internal import MobileCrypto
internal import MobileStore

/// The signed answer of a device to `wl_deviceAutoProvisioningRealm`, checked except for its token.
enum DeviceProof {
    /// A request for a certificate, and the certificate for it, in DER. `begin`: seconds since 1970 from which it is valid.
    case request(token: String, id: String, certificate: [UInt8], begin: Int64)
    /// A device with a certificate of the authority; application and version are those that it named.
    case device(token: String, application: String, version: String, id: String, begin: Int64)

    /// The device that it names.
    var id: String {
        switch self {
        case .request(_, let id, _, _), .device(_, _, _, let id, _): id
        }
    }

    /// Reads an answer; nil for one that proves nothing. Everything in it may be hostile.
    /// - Parameters:
    ///   - token: that of the session; the work for another one is saved.
    ///   - now: seconds since 1970.
    init?(_ answer: JSONValue?, _ provisioning: WorklightProvisioning, application: String, token: String, now: Int64) {
        do {
            if let text = answer?["CSR"]?.string {
                guard let proof = try Self.request(text, provisioning, application, token, now) else { return nil }
                self = proof
            } else if let text = answer?["ID"]?.string {
                guard let proof = try Self.device(text, provisioning, application, token, now) else { return nil }
                self = proof
            } else {
                return nil
            }
        } catch { return nil }
    }

    private static func request(
        _ text: String, _ provisioning: WorklightProvisioning, _ application: String, _ token: String, _ now: Int64
    ) throws -> DeviceProof? {
        guard provisioning.allowsNewDevices, let signed = SignedJSON(text), signed.payload["token"]?.string == token,
            let device = signed.payload["deviceId"]?.string, !device.isEmpty, let numbers = signed.header["jpk"],
            let modulus = SignedJSON.bytes(numbers["mod"]), let exponent = SignedJSON.bytes(numbers["exp"])
        else { return nil }
        switch provisioning.entity {
        case .application: guard signed.payload["applicationId"]?.string == application else { return nil }
        case .group(let name): guard signed.payload["groupId"]?.string == name else { return nil }
        case .device: break
        }
        let key = try RSAKey(modulus: modulus, exponent: exponent)
        try key.verify(signed.signature, of: signed.signedBytes)
        let certificate = try Certificate(
            of: key, name: device, organization: provisioning.entity.organization(application), issuer: provisioning.authority.certificate,
            issuerKey: provisioning.authority.key, from: now, to: now + Int64(provisioning.validity / .seconds(1)))
        return .request(token: token, id: device, certificate: try certificate.der, begin: now)
    }

    private static func device(
        _ text: String, _ provisioning: WorklightProvisioning, _ application: String, _ token: String, _ now: Int64
    ) throws -> DeviceProof? {
        guard let signed = SignedJSON(text), signed.payload["token"]?.string == token,
            let der = SignedJSON.bytes(signed.header["x5c"])
        else { return nil }
        let certificate = try Certificate(der: der), names = try certificate.names
        try certificate.verify(issuer: provisioning.authority.certificate, at: now)
        try certificate.key.verify(signed.signature, of: signed.signedBytes)
        guard !names.common.isEmpty, names.organization == provisioning.entity.organization(application),
            signed.payload["device"]?["id"]?.string == names.common, let app = signed.payload["app"]?["id"]?.string,
            let version = signed.payload["app"]?["version"]?.string
        else { return nil }
        return .device(token: token, application: app, version: version, id: names.common, begin: try certificate.begin)
    }
}

extension WorklightProvisioning.Entity {
    /// The name in challenges.
    var name: String {
        switch self {
        case .application: "application"
        case .device: "device"
        case .group(let name): "group:" + name
        }
    }

    /// The organization in certificates: one of another entity does not count.
    func organization(_ application: String) -> String {
        switch self {
        case .application: "app:" + application
        case .device: "device"
        case .group(let name): "group:" + name
        }
    }
}

/// Signed JSON in its compact form (RFC 7515, section 3.1), whose signature is not checked yet. Only `RS256` exists here: the algorithm is not the sender's choice.
struct SignedJSON {
    let header: JSONObject
    let payload: JSONObject
    /// The text that was signed.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), header["alg"]?.string == "RS256", let payload = Self.object(parts[1]),
            let signature = Self.bytes(parts[2]), !signature.isEmpty
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> JSONObject? {
        bytes(part).flatMap { try? JSONValue(parsing: $0, maximumDepth: 32).object }
    }

    /// Decodes a part; some clients pad it.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? { [UInt8](base64URL: text.prefix { $0 != "=" }) }
    static func bytes(_ member: JSONValue?) -> [UInt8]? { member?.string.flatMap { bytes($0) } }
}
