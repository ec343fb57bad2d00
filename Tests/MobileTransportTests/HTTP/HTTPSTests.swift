import Foundation
import MobileServer
import MobileTransport
import TestSupport
import Testing

/// HTTP over TLS, and the certificates that a client trusts.
@Suite struct HTTPSTests {
    func server() throws -> HTTPServer {
        var configuration = HTTPServer.Configuration()
        configuration.certificate = LoopbackCertificate.certificate
        configuration.privateKey = LoopbackCertificate.privateKey
        return try HTTPServer(configuration, handler: echo)
    }

    func transport(trusting certificates: String?) -> HTTPTransport {
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = certificates
        return HTTPTransport(configuration)
    }

    @Test("a server whose certificate is trusted is talked to, over one kept connection", arguments: ["localhost", "127.0.0.1"])
    func trusted(host: String) throws {
        let server = try server()
        defer { server.stop() }
        let transport = transport(trusting: LoopbackCertificate.certificate)
        let content = patternBytes(300_000)
        for isKept in [false, true] {
            let request = TransportRequest(method: "POST", url: "https://\(host):\(server.port)/", body: .bytes(content))
            let (response, body) = try transport.send(request)
            #expect(body == content)
            #expect(response.reusedConnection == isKept)
        }
    }

    @Test("a server that nobody vouches for is refused before anything is sent", arguments: [nil, LoopbackCertificate.stranger])
    func untrusted(certificates: String?) throws {
        let server = try server()
        defer { server.stop() }
        let error = #expect(throws: TransportError.self) {
            _ = try transport(trusting: certificates).send(TransportRequest(url: "https://localhost:\(server.port)/"))
        }
        #expect(error?.code == .tls)
    }

    @Test("a server that speaks no TLS is a TLS error, not a connection error")
    func plainServer() throws {
        let server = try HTTPServer(handler: echo)
        defer { server.stop() }
        let error = #expect(throws: TransportError.self) {
            _ = try transport(trusting: nil).send(TransportRequest(url: "https://localhost:\(server.port)/"))
        }
        #expect(error?.code == .tls)
    }

    @Test("certificates to trust that are none are an error, not trust in everybody")
    func damagedTrust() throws {
        let server = try server()
        defer { server.stop() }
        let error = #expect(throws: TransportError.self) {
            _ = try transport(trusting: "no certificate").send(TransportRequest(url: "https://localhost:\(server.port)/"))
        }
        #expect(error?.code == .tls)
    }

    @Test(
        "a proxy over HTTPS is trusted as a server is", arguments: [(LoopbackCertificate.certificate, true), (LoopbackCertificate.stranger, false)])
    func proxy(_ certificates: String, _ isTrusted: Bool) throws {
        let proxy = try server()
        defer { proxy.stop() }
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = certificates
        configuration.proxy = "https://localhost:\(proxy.port)"
        let transport = HTTPTransport(configuration)
        let request = TransportRequest(method: "POST", url: "http://elsewhere.invalid/", body: .bytes([7]))
        if isTrusted {
            #expect(try transport.send(request).body == [7])
        } else {
            #expect(#expect(throws: TransportError.self) { _ = try transport.send(request) }?.code == .tls)
        }
    }

    #if canImport(Glibc)
        /// The file name with which OpenSSL finds ``LoopbackCertificate/certificate``: `openssl x509 -subject_hash`.
        private static let hashedName = "ce275665.0"

        @Test(
            "certificates to trust replace those of the system, the folder of them too",
            .enabled(if: MountedFolder.isAllowed, "only root may put a folder of its own over the system's certificates"))
        func systemFolder() throws {
            let server = try server()
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            try LoopbackCertificate.certificate.write(to: folder.url.appendingPathComponent(Self.hashedName), atomically: true, encoding: .utf8)
            let url = "https://localhost:\(server.port)/"
            func code(trusting certificates: String) throws -> TransportError.Code? {
                let transport = transport(trusting: certificates)
                return try MountedFolder.view(folder.path, at: "/etc/ssl/certs") {
                    do { _ = try transport.send(TransportRequest(method: "POST", url: url, body: .bytes([7]))) } catch let error as TransportError {
                        return error.code
                    }
                    return nil
                }
            }
            #expect(try code(trusting: LoopbackCertificate.stranger) == .tls, "the system trusts it, the application does not")
            #expect(try code(trusting: LoopbackCertificate.certificate) == nil)
        }
    #endif

    @Test("a server whose certificate and key do not fit does not start")
    func damagedIdentity() {
        var configuration = HTTPServer.Configuration()
        configuration.certificate = LoopbackCertificate.stranger
        configuration.privateKey = LoopbackCertificate.privateKey
        let error = #expect(throws: ServerError.self) { _ = try HTTPServer(configuration, handler: echo) }
        #expect(error?.code == .cannotStart)
    }
}
