internal import Foundation
internal import MobileServer
internal import MobileStore

/// The application's security test: its realms in ordered steps. A pure function of request, session and rules, so that it can run again.
struct SecurityCheck {
    static let antiXSRF = "wl_antiXSRFRealm", device = "wl_deviceNoProvisioningRealm", remoteDisable = "wl_remoteDisableRealm"
    static let provisionedDevice = "wl_deviceAutoProvisioningRealm", anonymous = "wl_anonymousUserRealm"

    let request: WireRequest
    /// nil for a procedure outside of an application.
    let application: WorklightApplication?
    /// The rule for this version of the application; nil for none.
    let rule: VersionRule?
    /// The signed answer of a device, checked before: that takes time, and this runs in a transaction.
    let proof: DeviceProof?
    /// The decisions of an administrator against certificates, for the devices of ``proof`` and of the session.
    let withdrawals: [String: DeviceWithdrawal]
    /// Makes the token of a new challenge.
    let token: () -> String

    enum Result {
        case passed
        case answer(Answer)
    }

    /// Takes the answers of the request over, and determines what is still open.
    func run(_ session: inout SessionContent) -> Result {
        let answers = request.answers
        if let application {
            // A device has named itself to one application.
            if session.application != application.id {
                session.remove(Self.device)
                session.remove(Self.provisionedDevice)
            }
            session.application = application.id
            if application.provisioning != nil {
                if !isAccepted(session.device, session.certified) { session.remove(Self.provisionedDevice) }
                if answers[Self.provisionedDevice] != nil { takeProof(application, &session) }
            } else if let answer = answers[Self.device] {
                takeDevice(answer, application, &session)
            }
        }
        if let rule, rule.state == .notify, let answer = answers[Self.remoteDisable], Self.messageID(answer) == rule.messageID {
            session.confirmed = rule.messageID
            session.satisfy(Self.remoteDisable, WorklightIdentity.object(rule.messageID))
        }
        if let rule, rule.state == .disabled {
            let link = rule.link.map { JSONValue.string($0) } ?? .null
            return .answer(
                .json(
                    ["WL-Authentication-Failure": .object([Self.remoteDisable: ["message": .string(rule.message), "downloadLink": link]])],
                    status: 403))
        }
        for step in steps(session) where !step.isEmpty { return .answer(.challenge(step)) }
        return .passed
    }

    /// The open realms of each step, with their challenges.
    private func steps(_ session: SessionContent) -> [JSONObject] {
        var first = JSONObject(), second = JSONObject()
        if request.header("wl-instance-id") != session.instance { first[Self.antiXSRF] = ["WL-Instance-Id": .string(session.instance)] }
        if let rule, rule.state == .notify, session.confirmed != rule.messageID {
            first[Self.remoteDisable] = ["message": .string(rule.message), "messageId": .string(rule.messageID), "messageType": "NOTIFY"]
        }
        if let provisioning = application?.provisioning {
            if session.identities[Self.provisionedDevice] == nil { second[Self.provisionedDevice] = challenge(provisioning, session) }
        } else if let application, application.requiresDevice, session.identities[Self.device] == nil {
            second[Self.device] = ["token": .string(session.token)]
        }
        return [first, second]
    }

    private func challenge(_ provisioning: WorklightProvisioning, _ session: SessionContent) -> JSONValue {
        var challenge: JSONObject = [
            "ID": ["token": .string(session.token), "entity": .string(provisioning.entity.name), "allowed": .boolean(provisioning.allowsNewDevices)]
        ]
        if case .request(session.token, _, let certificate, _)? = proof { challenge["certificate"] = .string(Data(certificate).base64EncodedString()) }
        return .object(challenge)
    }

    private func takeProof(_ application: WorklightApplication, _ session: inout SessionContent) {
        // A request for a certificate keeps the token: the answer that is signed with the certificate carries it as well.
        if case .request(session.token, let id, _, let begin)? = proof, isAccepted(id, begin) { return }
        guard case .device(session.token, application.id, request.version, let device, let begin)? = proof,
            isAccepted(device, begin)
        else {
            session.token = token()
            return
        }
        session.device = device
        session.certified = begin
        session.satisfy(Self.provisionedDevice, WorklightIdentity.object(device, ["mobileSecurityTest": true]))
    }

    /// Whether a certificate that is valid from `begin` on was not withdrawn from the device.
    private func isAccepted(_ device: String, _ begin: Int64) -> Bool { withdrawals[device]?.accepts(certifiedAt: begin) ?? true }

    private func takeDevice(_ answer: JSONValue, _ application: WorklightApplication, _ session: inout SessionContent) {
        let id = answer["ID"]
        guard id?["token"]?.string == session.token, id?["app"]?["id"]?.string == application.id,
            id?["app"]?["version"]?.string == request.version, let device = id?["device"]?["id"]?.string, !device.isEmpty, device.utf8.count <= 256,
            !device.contains("\0")
        else {
            session.token = token()
            return
        }
        session.device = device
        session.satisfy(Self.device, WorklightIdentity.object(device, ["mobileSecurityTest": true]))
    }

    /// The identifier of a message: a text, a number, or an object with one of them. Scripts send "17" as a number.
    private static func messageID(_ answer: JSONValue) -> String? {
        answer.string ?? answer.decimalText ?? answer["messageId"].flatMap { $0.string ?? $0.decimalText }
    }
}

/// The rule of an administrator for a version of an application.
struct VersionRule: Sendable, Equatable {
    enum State: String, Sendable {
        case active, notify, disabled
    }

    let state: State
    let message: String
    let messageID: String
    let link: String?
}
