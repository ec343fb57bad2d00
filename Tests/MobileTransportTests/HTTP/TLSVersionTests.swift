import Foundation
import MobileServer
import MobileTransport
import TestSupport
import Testing

/// Old versions of TLS, tried by a peer that supports them: Debian's `openssl` with a reduced security level.
@Suite(.enabled(if: OpenSSL.isThere, "the command openssl is not installed"))
struct TLSVersionTests {
    @Test(
        "the server speaks TLS 1.2 and 1.3, and nothing older", arguments: [("tls1", false), ("tls1_1", false), ("tls1_2", true), ("tls1_3", true)])
    func server(_ version: String, _ isSpoken: Bool) throws {
        var configuration = HTTPServer.Configuration()
        configuration.certificate = LoopbackCertificate.certificate
        configuration.privateKey = LoopbackCertificate.privateKey
        let server = try HTTPServer(configuration, handler: echo)
        defer { server.stop() }
        let client = try OpenSSL(["s_client", "-connect", "127.0.0.1:\(server.port)", "-\(version)", "-cipher", "ALL:@SECLEVEL=0"])
        let output = client.output()
        #expect(output.contains("CONNECTED"), "\(output)")
        #expect(output.contains("Cipher is (NONE)") != isSpoken, "\(output)")
    }

    @Test("a client speaks TLS 1.2 and 1.3, and nothing older", arguments: [("tls1_1", false), ("tls1_2", true), ("tls1_3", true)])
    func client(_ version: String, _ isSpoken: Bool) throws {
        let directory = try TemporaryDirectory()
        let certificate = try directory.write(LoopbackCertificate.certificate.utf8, to: "certificate.pem"),
            key = try directory.write(LoopbackCertificate.privateKey.utf8, to: "key.pem")
        let server = try OpenSSL([
            "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-\(version)", "-cipher", "ALL:@SECLEVEL=0", "-www",
        ])
        defer { server.stop() }
        let line = try #require(server.line(beginning: "ACCEPT "))
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) })
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = LoopbackCertificate.certificate
        let request = TransportRequest(url: "https://localhost:\(port)/")
        let transport = HTTPTransport(configuration)
        if isSpoken {
            #expect(try transport.send(request).body.isEmpty == false)
        } else {
            let error = #expect(throws: TransportError.self) { _ = try transport.send(request) }
            #expect(error?.code == .tls)
        }
    }
}

/// A run of the command `openssl`.
private final class OpenSSL {
    static let executable = URL(fileURLWithPath: "/usr/bin/openssl")
    static var isThere: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }

    private let process = ChildProcess()
    private let pipe = Pipe()

    init(_ arguments: [String]) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
    }

    deinit { stop() }

    /// Returns its output until it ends.
    func output() -> String {
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the first line with this beginning; nil when the command ends before.
    func line(beginning: String) -> String? {
        var text = ""
        while case let piece = pipe.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.hasPrefix(beginning) }) { return String(line) }
        }
        return nil
    }

    func stop() {
        guard process.isRunning else { return }
        // SIGKILL, because the threads of tests block the other signals, and a child inherits that.
        process.signal(SIGKILL)
        process.waitUntilExit()
    }
}
