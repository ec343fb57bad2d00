import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// `mobile serve` over HTTPS.
@Suite struct SecureServeTests {
    @Test("a server with a certificate serves over HTTPS alone")
    func https() throws {
        let folder = try TemporaryDirectory()
        let backEnd = folder.file("enterprise.db"), model = folder.file("crm.mbo.json")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try LoopbackCertificate.certificate.write(toFile: folder.file("server.pem"), atomically: true, encoding: .utf8)
        try LoopbackCertificate.privateKey.write(toFile: folder.file("server.key"), atomically: true, encoding: .utf8)
        let server = try ServerProcess(
            arguments: [
                "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(backEnd)", "--tls-certificate",
                folder.file("server.pem"), "--tls-key", folder.file("server.key"),
            ], log: folder.file("server.log"), executable: Tool.executable)
        try server.start()
        defer { server.kill() }
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = LoopbackCertificate.certificate
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
        let folder = try TemporaryDirectory()
        let backEnd = folder.file("enterprise.db"), model = folder.file("crm.mbo.json")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try LoopbackCertificate.certificate.write(toFile: folder.file("server.pem"), atomically: true, encoding: .utf8)
        let missing = try Tool.run([
            "serve", "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(backEnd)", "--tls-certificate",
            folder.file("server.pem"), "--tls-key", folder.file("server.key"),
        ])
        #expect(missing.status == 1 && missing.output.contains("the private key \(folder.file("server.key")) cannot be read"), "\(missing.output)")
    }
}
