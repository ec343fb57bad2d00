import Foundation
import MobileCrypto
import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import MobileVault
import TestSupport
import Testing
import WorklightCertificates
import WorklightClient

/// Worklight protocol, section 4.4: the face issues and checks certificates of devices.
@Suite struct ProvisioningTests {
    private static let realm = "wl_deviceAutoProvisioningRealm"
    private static let authority = Result { try WorklightCertificateAuthority(making: "Devices", now: 1_600_000_000) }
    private static let key = Result { try RSAKey() }
    /// The key of another device.
    private static let otherKey = Result { try RSAKey() }

    private func face(
        _ entity: WorklightProvisioning.Entity = .application, allowsNewDevices: Bool = true,
        authority: WorklightCertificateAuthority? = nil
    ) throws -> Face {
        let provisioning = WorklightProvisioning(
            try authority ?? Self.authority.get(), entity: entity, allowsNewDevices: allowsNewDevices, validity: .seconds(30 * 86_400))
        return try Face {
            $0.applications.append(WorklightApplication(id: "Proven", provisioning: provisioning))
            $0.applications.append(WorklightApplication(id: "Other", provisioning: provisioning))
        }
    }

    private func signed(_ header: JSONObject, _ payload: JSONObject, by key: RSAKey) throws -> String {
        let text = [header, payload].map { JSONValue.object($0).bytes.base64URL }.joined(separator: ".")
        return text + "." + (try key.sign(Array(text.utf8)).base64URL)
    }

    private func request(_ token: String, _ change: (inout JSONObject, inout JSONObject) -> Void = { _, _ in }) throws -> JSONValue {
        let key = try Self.key.get(), numbers = try key.numbers
        var header: JSONObject = [
            "alg": "RS256",
            "jpk": ["alg": "RSA", "mod": .string(numbers.modulus.base64URL), "exp": .string(numbers.exponent.base64URL)],
        ]
        var payload: JSONObject = ["token": .string(token), "deviceId": "D-1", "applicationId": "Proven"]
        change(&header, &payload)
        return ["CSR": .string(try signed(header, payload, by: key))]
    }

    private func proof(
        _ token: String, _ certificate: [UInt8], device: String = "D-1", application: String = "Proven", version: String = "1.0", key: RSAKey? = nil
    ) throws -> JSONValue {
        let payload: JSONObject = [
            "token": .string(token), "app": ["id": .string(application), "version": .string(version)],
            "device": ["id": .string(device), "os": "8.1.2", "model": "iPhone7,2", "environment": "iOS"],
        ]
        let text = try signed(["alg": "RS256", "x5c": .string(certificate.base64URL)], payload, by: key ?? Self.key.get())
        return ["ID": .string(text)]
    }

    /// A client that has met the challenge of the realm, and its token.
    private func challenged(_ face: Face) throws -> (client: StrictClient, token: String) {
        let client = face.client()
        client.application = "Proven"
        client.instance = try client.send("init").challenges?["wl_antiXSRFRealm"]?["WL-Instance-Id"]?.string
        let challenge = try client.send("init").challenges?[Self.realm]
        return (client, try #require(challenge?["ID"]?["token"]?.string))
    }

    private func answer(_ client: StrictClient, _ value: JSONValue) throws -> StrictResponse { try client.send("init", answers: [Self.realm: value]) }

    @Test("WL-068: a device gets its certificate in the next challenge, and is accepted by what it signs with it")
    func provisioning() throws {
        let face = try face(), (client, token) = try challenged(face)
        let issued = try answer(client, request(token))
        let challenge = try #require(issued.challenges?[Self.realm])
        #expect(challenge["ID"] == ["token": .string(token), "entity": "application", "allowed": true])
        #expect(issued.accepted == [])
        let text = try #require(challenge["certificate"]?.string)
        let der = Array(try #require(Data(base64Encoded: text)))
        let certificate = try Certificate(der: der)
        #expect(try certificate.names == (common: "D-1", organization: "app:Proven"))
        #expect(try certificate.key.numbers == Self.key.get().numbers)
        let connected = try answer(client, proof(token, der))
        #expect(connected.status == 200)
        #expect(connected.accepted == [Self.realm])
        #expect(connected["userInfo"]?[Self.realm]?["userId"] == "D-1")
        #expect(try client.call("echo").status == 200)
        // A later session needs the certificate alone. Subscriptions belong to the device.
        _ = try client.send("notifications", ["updateToken": "00ff"])
        let (later, next) = try challenged(face)
        later.cookies["WL_PERSISTENT_COOKIE"] = client.cookies["WL_PERSISTENT_COOKIE"]
        let state = try answer(later, proof(next, der))["notificationSubscriptionState"]
        #expect(state?["token"] == "00ff")
        // Another application of the session asks for its own certificate.
        client.application = "Other"
        #expect(try client.send("init").challenges?.keys == [Self.realm])
    }

    @Test("a request for a certificate that is not what it says gets none", arguments: 0..<12)
    func wrongRequests(number: Int) throws {
        let face = try face(), (client, token) = try challenged(face)
        let small = [UInt8](repeating: 0xFF, count: 64).base64URL
        let other = try Self.otherKey.get().numbers
        let wrong: [JSONValue] = [
            try request("wrong"), try request(token) { $1["applicationId"] = "Other" }, try request(token) { $1["applicationId"] = nil },
            try request(token) { $1["deviceId"] = "" }, try request(token) { $1["deviceId"] = .string(String(repeating: "x", count: 65)) },
            try request(token) { $1["deviceId"] = "a\u{0}b" }, try request(token) { header, _ in header["alg"] = "none" },
            try request(token) { header, _ in header["jpk"] = ["alg": "RSA", "mod": .string(small), "exp": "AQAB"] },
            // The key of another device.
            try request(token) { header, _ in
                header["jpk"] = ["alg": "RSA", "mod": .string(other.modulus.base64URL), "exp": .string(other.exponent.base64URL)]
            },
            ["CSR": "a.b"], ["CSR": ".."], ["CSR": 7],
        ]
        let response = try answer(client, wrong[number])
        #expect(response.challenges?[Self.realm]?["certificate"] == nil)
        // A new token: what was signed for the old one is of no use any more.
        #expect(response.challenges?[Self.realm]?["ID"]?["token"]?.string != token)
    }

    @Test("a proof that is not that of the device, the application and the authority is refused", arguments: 0..<11)
    func wrongProofs(number: Int) throws {
        let face = try face(), (client, token) = try challenged(face)
        func certificate(_ authority: Result<WorklightCertificateAuthority, any Error> = Self.authority, in application: String = "Proven") throws
            -> [UInt8]
        {
            let face = try self.face(authority: authority.get())
            let client = face.client()
            client.application = application
            client.instance = try client.send("init").challenges?["wl_antiXSRFRealm"]?["WL-Instance-Id"]?.string
            let token = try #require(client.send("init").challenges?[Self.realm]?["ID"]?["token"]?.string)
            let answered = try answer(client, request(token) { $1["applicationId"] = .string(application) })
            return Array(try #require(Data(base64Encoded: answered.challenges?[Self.realm]?["certificate"]?.string ?? "")))
        }
        let own = try certificate()
        var response: StrictResponse
        switch number {
        case 0: response = try answer(client, proof("wrong", own))
        case 1: response = try answer(client, proof(token, own, device: "D-2"))
        case 2: response = try answer(client, proof(token, own, application: "Other"))
        case 3: response = try answer(client, proof(token, own, version: "2.0"))
        // An attacker with the certificate, which is public, and without the key.
        case 4: response = try answer(client, proof(token, own, key: Self.otherKey.get()))
        case 5:
            response = try answer(
                client, proof(token, certificate(Result { try WorklightCertificateAuthority(making: "Devices", now: 1_600_000_000) })))
        case 6: response = try answer(client, proof(token, certificate(in: "Other")))
        case 7: response = try answer(client, proof(token, []))
        case 8: response = try answer(client, ["ID": "a.b.c"])
        // A description without a signature, as devices without certificates send it.
        case 9: response = try answer(client, client.device(token))
        default:
            face.time.withLock { $0 += 31 * 86_400_000 }
            let (client, token) = try challenged(face)
            response = try answer(client, proof(token, own))
        }
        #expect(response.accepted == [])
        #expect(response.challenges?.keys == [Self.realm])
        // The right one is accepted afterwards, except when its time is over.
        guard number < 10 else { return }
        let next = try #require(client.send("init").challenges?[Self.realm]?["ID"]?["token"]?.string)
        #expect(try answer(client, proof(next, own)).status == 200)
    }

    @Test func `where new devices are not allowed, those with a certificate are`() throws {
        let open = try face(), (first, token) = try challenged(open)
        let issued = try answer(first, request(token)).challenges?[Self.realm]?["certificate"]?.string
        let der = Array(try #require(Data(base64Encoded: issued ?? "")))
        let closed = try face(allowsNewDevices: false), (client, next) = try challenged(closed)
        #expect(try client.send("init").challenges?[Self.realm]?["ID"]?["allowed"] == false)
        let refused = try answer(client, request(next))
        #expect(refused.challenges?[Self.realm]?["certificate"] == nil)
        let last = try #require(refused.challenges?[Self.realm]?["ID"]?["token"]?.string)
        #expect(try answer(client, proof(last, der)).status == 200)
    }

    /// Connects a device with a new certificate, and returns its client and the certificate.
    private func connected(_ face: Face) throws -> (client: StrictClient, certificate: [UInt8], token: String) {
        let (client, token) = try challenged(face)
        let text = try answer(client, request(token)).challenges?[Self.realm]?["certificate"]?.string
        let certificate = Array(try #require(Data(base64Encoded: text ?? "")))
        #expect(try answer(client, proof(token, certificate)).accepted == [Self.realm])
        #expect(try client.call("echo").status == 200)
        return (client, certificate, token)
    }

    @Test func `a device whose certificates are withdrawn is challenged at its next request, and gets no new one until it is readmitted`() throws {
        let face = try face(), (client, certificate, first) = try connected(face), (idle, _, _) = try connected(face), administration = face.server.administration
        func token() throws -> String { try #require(client.send("init").challenges?[Self.realm]?["ID"]?["token"]?.string) }
        try administration.withdrawCertificates(of: "D-2", .application, application: "Proven")
        try administration.withdrawCertificates(of: "D-1", .application, application: "Other")
        try administration.withdrawCertificates(of: "D-1", .device, application: "Proven")
        #expect(try client.call("echo").status == 200)

        try administration.withdrawCertificates(of: "D-1", .application, application: "Proven")
        // Neither the session nor the certificate counts, also not in a request with an answer that names another device.
        #expect(try answer(client, request(first) { $1["deviceId"] = "D-3" }).challenges?.keys == [Self.realm])
        #expect(try client.call("echo").challenges?.keys == [Self.realm])
        face.time.withLock { $0 += 2_000 }
        let refused = try answer(client, proof(token(), certificate))
        #expect(refused.accepted == [] && refused.challenges?.keys == [Self.realm])
        let request = try answer(client, request(token()))
        #expect(request.challenges?[Self.realm]?["certificate"] == nil)
        let (later, next) = try challenged(face)
        #expect(try answer(later, proof(next, certificate)).accepted == [])

        #expect(try !administration.readmit("D-9", .application, application: "Proven"))
        face.time.withLock { $0 += 5_000 }
        #expect(try administration.readmit("D-1", .application, application: "Proven"))
        // In this second, the old certificates and new ones look alike.
        #expect(try answer(client, self.request(token())).challenges?[Self.realm]?["certificate"] == nil)
        face.time.withLock { $0 += 1_000 }
        #expect(try answer(client, proof(token(), certificate)).accepted == [])
        let (again, new, _) = try connected(face)
        #expect(new != certificate)
        #expect(try again.call("echo").status == 200)
        // Said once more, it takes nothing from the new certificate.
        #expect(try administration.readmit("D-1", .application, application: "Proven"))
        #expect(try again.call("echo").status == 200)
        for old in [client, idle] { #expect(try old.call("echo").challenges?.keys == [Self.realm]) }
        #expect(
            try administration.withdrawnDevices().map { "\($0.organization) \($0.device) \($0.isReadmitted)" } == [
                "app:Other D-1 false", "app:Proven D-1 true", "app:Proven D-2 false", "device D-1 false",
            ])
        // A second withdrawal concerns the new certificate as well.
        try administration.withdrawCertificates(of: "D-1", .application, application: "Proven")
        #expect(try again.call("echo").challenges?.keys == [Self.realm])
        face.time.withLock { $0 += 2_000 }
        #expect(try answer(client, self.request(token())).challenges?[Self.realm]?["certificate"] == nil)
    }

    @Test("our client and our face, with keys in a vault", arguments: [.application, .device, .group("shop")] as [WorklightProvisioning.Entity])
    func wholeRun(entity: WorklightProvisioning.Entity) async throws {
        let live = try LiveFace(face(entity)), directory = live.face.directory
        let vault = try await DataVault.createVault(
            "certificates", password: "p", in: VaultDirectory(directory.file("vaults"), keyDerivation: .init(n: 16, r: 1, p: 1)))
        var configuration = live.configuration("Proven")
        configuration.device.id = "D-1"
        configuration.deviceKeys = DeviceCertificates(in: vault)
        for _ in 0..<2 {
            let client = try WLClient(configuration)
            let response = try await client.connect()
            #expect(response.getResponseJson()?["userInfo"]?[Self.realm]?["userId"] == "D-1")
            let echo = WLProcedureInvocationData(adapter: "Stock", procedure: "echo", parameters: [1])
            #expect(try await client.invokeProcedure(echo).invocationResult?.isSuccessful == true)
        }
        #expect(try await vault.dataNames().count == 2)
        #expect(live.face.lines.all.isEmpty)
    }

    @Test func `an authority is written and read as PEM; a key of another one and damaged texts are refused`() throws {
        let pem = try Self.authority.get().pem
        let again = try WorklightCertificateAuthority(certificate: pem.certificate, privateKey: pem.privateKey)
        #expect(try again.pem == pem)
        let other = try PEM.encode(RSAKey().privateDER, label: "RSA PRIVATE KEY")
        for (certificate, key) in [(pem.certificate, other), ("", pem.privateKey), (pem.certificate, "x"), (pem.privateKey, pem.certificate)] {
            let error = #expect(throws: ServerError.self) { try WorklightCertificateAuthority(certificate: certificate, privateKey: key) }
            #expect(error?.code == .configuration)
        }
        let directory = try TemporaryDirectory()
        let long = WorklightApplication(id: String(repeating: "a", count: 61), provisioning: WorklightProvisioning(again))
        #expect(throws: ServerError.self) {
            try WorklightServer(WorklightConfiguration(applications: [long]), state: ServerConfiguration(cachePath: directory.file("state.db")))
        }
    }

    @Test func `the configuration file names the authority's files`() throws {
        let pem = try Self.authority.get().pem, directory = try TemporaryDirectory()
        _ = try directory.write(pem.certificate.utf8, to: "ca.pem")
        _ = try directory.write(pem.privateKey.utf8, to: "ca.key")
        func read(_ provisioning: String) throws -> WorklightProvisioning? {
            let text = "{\"applications\":[{\"id\":\"Demo\",\"provisioning\":\(provisioning)}]}"
            return try WorklightConfiguration(file: directory.write(text.utf8, to: "worklight.json"), backEnds: [:]).applications.first?.provisioning
        }
        #expect(try read("{\"certificate\":\"ca.pem\",\"key\":\"ca.key\"}")?.entity == .application)
        let group = try read("{\"certificate\":\"ca.pem\",\"key\":\"ca.key\",\"entity\":\"group:shop\",\"allowsNewDevices\":false}")
        #expect(group?.entity == .group("shop"))
        #expect(group?.allowsNewDevices == false)
        for (text, part) in [
            ("{\"certificate\":\"ca.pem\"}", "\"key\""), ("{\"certificate\":\"none.pem\",\"key\":\"ca.key\"}", "none.pem"),
            ("{\"certificate\":\"ca.pem\",\"key\":\"ca.key\",\"entity\":\"group:\"}", "group:"), ("7", "not an object"),
            ("{\"certificate\":\"ca.key\",\"key\":\"ca.key\"}", "authority"),
        ] {
            let error = #expect(throws: ServerError.self) { try read(text) }
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
    }
}
