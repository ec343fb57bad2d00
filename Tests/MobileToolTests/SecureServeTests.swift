import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileTransport
import SampleCRM
import Testing

@testable import mobile

/// `mobile serve` over HTTPS.
@Suite struct SecureServeTests {
    /// For `localhost` and `127.0.0.1`, signed by itself, valid from 2020 to 2120. It proves nothing to anybody else.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBejCCASCgAwIBAgIUaJ5OyxLlD0R6elzbXmhU/MWuGYkwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQwGzqSr4HuK1v12PJyUikhKfo9Fc8IOgh0wsqlgD/XPqFMUEde/sMK
        29UUaXivEBBuAWOC/Ld1IxbK9qOVdjdIo04wTDAaBgNVHREEEzARgglsb2NhbGhv
        c3SHBH8AAAEwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUlfkmOM4SXlA4g50R
        rU5NcAtsyt0wCgYIKoZIzj0EAwIDSAAwRQIgOmlsUj1zm8kQ+MwceX3SZUpfea1O
        jAmZTAJyY7l4NIgCIQDo+ItMvknM79wZJ4CgKBAbA/2edeYV/o7hTG7cfRL7UQ==
        -----END CERTIFICATE-----
        """
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpgLPa7W2Vx3c9h5W
        6b27cfWkUpheqFnM9m3ffGw1do2hRANCAAQwGzqSr4HuK1v12PJyUikhKfo9Fc8I
        Ogh0wsqlgD/XPqFMUEde/sMK29UUaXivEBBuAWOC/Ld1IxbK9qOVdjdI
        -----END PRIVATE KEY-----
        """

    @Test("a server with a certificate serves over HTTPS alone")
    func https() throws {
        let folder = try DemoFolder(keptAt: nil)
        defer { folder.remove() }
        let backEnd = folder.path("enterprise.db"), model = folder.path("crm.mbo.json")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try Self.certificate.write(toFile: folder.path("server.pem"), atomically: true, encoding: .utf8)
        try Self.privateKey.write(toFile: folder.path("server.key"), atomically: true, encoding: .utf8)
        let server = try ServerProcess(
            arguments: [
                "--model", model, "--cache", folder.path("cache.db"), "--backend", "enterprise=\(backEnd)", "--tls-certificate",
                folder.path("server.pem"), "--tls-key", folder.path("server.key"),
            ], log: folder.path("server.log"), executable: Tool.executable)
        try server.start()
        defer { server.kill() }
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = Self.certificate
        let transport = HTTPTransport(configuration)
        let (response, body) = try transport.send(
            TransportRequest(url: "https://127.0.0.1:\(server.port)/mobile/v1/status"), maximumLength: 10_000)
        #expect(response.status == 200 && String(decoding: body, as: UTF8.self).contains("CRM:"))
        #expect(throws: TransportError.self) {
            _ = try transport.send(TransportRequest(url: "http://127.0.0.1:\(server.port)/mobile/v1/status"), maximumLength: 10_000)
        }
    }

    @Test("a certificate without its key is refused; so is one that is not there")
    func arguments() throws {
        let half = try Tool.run(["serve", "--model", "x", "--cache", "x.db", "--tls-certificate", "x.pem"])
        #expect(half.status == 64 && half.output.contains("--tls-certificate and --tls-key go together"))
        let folder = try DemoFolder(keptAt: nil)
        defer { folder.remove() }
        let backEnd = folder.path("enterprise.db"), model = folder.path("crm.mbo.json")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try Self.certificate.write(toFile: folder.path("server.pem"), atomically: true, encoding: .utf8)
        let missing = try Tool.run([
            "serve", "--model", model, "--cache", folder.path("cache.db"), "--backend", "enterprise=\(backEnd)", "--tls-certificate",
            folder.path("server.pem"), "--tls-key", folder.path("server.key"),
        ])
        #expect(missing.status == 1 && missing.output.contains("the private key \(folder.path("server.key")) cannot be read"), "\(missing.output)")
    }
}
