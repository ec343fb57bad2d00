import Foundation
import MobileCrypto
import MobileExecution
import MobileStore
import MobileVault
import TestSupport
import Testing
import WorklightCertificates
import WorklightClient

/// Worklight protocol, section 4.4: devices with certificates of their own.
@Suite struct DeviceCertificateTests {
    private static let realm = "wl_deviceAutoProvisioningRealm"

    /// A signed text in its parts; its signature is checked with the key that the header carries.
    private struct Signed {
        let header: JSONObject
        let payload: JSONObject
        let key: RSAKey

        init(_ text: String) throws {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            try #require(parts.count == 3)
            func object(_ part: Substring) throws -> JSONObject {
                let bytes = try #require([UInt8](base64URL: part))
                return try #require(try JSONValue(parsing: bytes).object)
            }
            (header, payload) = (try object(parts[0]), try object(parts[1]))
            try #require(header["alg"] == "RS256")
            if let certificate = header["x5c"]?.string {
                key = try Certificate(der: try #require([UInt8](base64URL: certificate))).key
            } else {
                try #require(header["jpk"]?["alg"] == "RSA")
                let modulus = try #require([UInt8](base64URL: header["jpk"]?["mod"]?.string ?? "-"))
                key = try RSAKey(modulus: modulus, exponent: try #require([UInt8](base64URL: header["jpk"]?["exp"]?.string ?? "-")))
                #expect(modulus.count == 256)
            }
            let signature = try #require([UInt8](base64URL: parts[2]))
            try key.verify(signature, of: Array("\(parts[0]).\(parts[1])".utf8))
        }
    }

    /// The server's end: it issues a certificate for the key of a request, and accepts what is signed with it.
    private final class Authority: Sendable {
        let key: RSAKey
        let root: Certificate
        let requests = RecordedLines()
        let proofs = RecordedLines()
        /// Certificates that are refused; they are those of an earlier authority.
        let isNew = SystemLock(false)
        private static let now: Int64 = 1_700_000_000

        init() throws {
            key = try RSAKey()
            root = try Certificate(authority: key, name: "Devices", from: Self.now, to: Self.now + 1000)
        }

        func answer(_ request: StrictRequest, _ number: Int, entity: String, isAllowed: Bool = true) throws -> Reply {
            var challenge: JSONObject = ["ID": ["token": .string("t\(number)"), "entity": .string(entity), "allowed": .boolean(isAllowed)]]
            let answer = request.answers?[DeviceCertificateTests.realm]
            if let text = answer?["CSR"]?.string {
                let signed = try Signed(text)
                requests.add(JSONValue.object(signed.payload).description)
                let issued = try Certificate(of: signed.key, name: "D-1", issuer: root, issuerKey: key, from: Self.now, to: Self.now + 1000)
                challenge["certificate"] = .string(Data(try issued.der).base64EncodedString())
                isNew.withLock { $0 = false }
            } else if let text = answer?["ID"]?.string, !isNew.withLock({ $0 }) {
                let signed = try Signed(text)
                let certificate = try Certificate(der: try #require([UInt8](base64URL: signed.header["x5c"]?.string ?? "-")))
                try certificate.verify(issuer: root, at: Self.now + 1)
                proofs.add(JSONValue.object(signed.payload).description)
                return .success
            }
            return .challenge([DeviceCertificateTests.realm: .object(challenge)])
        }

        func server(entity: String = "application") throws -> StrictServer {
            try StrictServer { request, number in
                guard request.name == "query" else { throw StrictServer.Unscripted() }
                return try self.answer(request, number, entity: entity)
            }
        }
    }

    private func vault(_ server: StrictServer) throws -> DataVault {
        let directory = VaultDirectory(server.directory.file("vaults"), keyDerivation: .init(n: 16, r: 1, p: 1))
        return DataVault.vaultExists("certificates", in: directory)
            ? try DataVault.getVault("certificates", in: directory) : try DataVault.createVault("certificates", password: "p", in: directory)
    }

    private func client(_ server: StrictServer, _ vault: DataVault) async throws -> WLClient {
        let keys = DeviceCertificates(in: vault)
        return try await server.connectedClient {
            $0.device = WLDevice(id: "D-1", os: "8.1.2", model: "iPhone7,2")
            $0.deviceKeys = keys
        }
    }

    @Test(
        "WL-068: the request for a certificate and the name of the device are signed, and verify with the key or the certificate that they carry",
        arguments: [
            ("application", "\"applicationId\":\"Demo\""), ("device", ""), ("group:shop", "\"groupId\":\"shop\""),
        ])
    func signed(entity: String, member: String) async throws {
        let authority = try Authority(), server = try authority.server(entity: entity)
        let vault = try vault(server)
        try await client(server, vault).invokeProcedure(.total)
        #expect(authority.requests.all == ["{\"token\":\"t0\",\"deviceId\":\"D-1\"\(member.isEmpty ? "" : "," + member)}"])
        let proof = try JSONValue(parsing: try #require(authority.proofs.all.first))
        #expect(
            proof == [
                "token": "t1", "app": ["id": "Demo", "version": "1.0"],
                "device": ["id": "D-1", "os": "8.1.2", "model": "iPhone7,2", "environment": "iOS"], "custom": [:],
            ])
        #expect(server.requests("query").count == 3)
        // A later start has the certificate, and asks for none.
        vault.lock()
        let reopened = try self.vault(server)
        try await reopened.unlock("p")
        let second = try authority.server(entity: entity)
        try await client(second, reopened).invokeProcedure(.total)
        #expect(authority.requests.all.count == 1)
        #expect(authority.proofs.all.count == 2)
        #expect(second.requests("query").count == 2)
        #expect(server.violations + second.violations == [])
    }

    @Test func `a certificate that the server refuses is replaced, for the same key`() async throws {
        let authority = try Authority(), server = try authority.server()
        let vault = try vault(server)
        try await client(server, vault).invokeProcedure(.total)
        let key = try DeviceCertificates(in: vault).publicKey(of: "application/Demo")
        authority.isNew.withLock { $0 = true }
        let second = try authority.server()
        try await client(second, vault).invokeProcedure(.total)
        #expect(authority.requests.all.count == 2)
        #expect(try DeviceCertificates(in: vault).publicKey(of: "application/Demo") == key)
        #expect(second.requests("query").count == 4)
    }

    @Test func `two requests that meet the challenge make one key`() async throws {
        let authority = try Authority(), server = try authority.server()
        let client = try await client(server, vault(server))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await client.invokeProcedure(.total) } }
            try await group.waitForAll()
        }
        #expect(Set(authority.requests.all.map { $0.split(separator: "deviceId")[1] }).count == 1)
        #expect(server.violations == [])
    }

    @Test func `a locked vault, a certificate of another key and damaged ones fail the request, and nothing else`() async throws {
        let authority = try Authority(), server = try authority.server()
        let vault = try vault(server)
        vault.lock()
        let client = try await client(server, vault)
        let locked = await failure { try await client.invokeProcedure(.total) }
        #expect(locked?.errorCode == .unexpectedError)
        #expect(locked?.errorMsg.hasPrefix("the device certificate: ") == true)
        try await vault.unlock("p")
        let other = try Certificate(of: authority.key, name: "D-1", issuer: authority.root, issuerKey: authority.key, from: 0, to: 4_000_000_000)
        for certificate in [Data(try other.der).base64EncodedString(), "AAAA", "!", ""] {
            let challenge: JSONObject = [
                Self.realm: ["ID": ["token": "t", "entity": "application", "allowed": true], "certificate": .string(certificate)]
            ]
            let server = try StrictServer { request, number in
                guard request.name == "query" else { throw StrictServer.Unscripted() }
                return .challenge(challenge)
            }
            let hostile = try await self.client(server, vault)
            #expect(await failure { try await hostile.invokeProcedure(.total) }?.errorCode == .unexpectedError)
            #expect(server.requests("query").count == 1)
        }
        try await client.invokeProcedure(.total)
    }

    @Test(arguments: [[:], ["ID": [:]], ["ID": ["token": "t"]], ["ID": ["entity": "device"]], ["ID": "x"]] as [JSONObject])
    func `a challenge without its members fails the request`(challenge: JSONObject) async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .challenge([Self.realm: .object(challenge)])
        }
        let client = try await client(server, vault(server))
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(server.requests("query").count == 1)
    }

    @Test func `without a certificate, and where the server issues none, the request continues without an answer`() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number == 0 ? .challenge([Self.realm: ["ID": ["token": "t", "entity": "application", "allowed": false]]]) : .success
        }
        try await client(server, vault(server)).invokeProcedure(.total)
        #expect(server.requests("query").map { $0.headers["authorization"] } == [nil, nil])
    }
}
