import MobileCrypto
import MobileServer
import MobileServerRhoConnect
import MobileServerWorklight
import MobileStore
import MobileTransport
import MobileVault

/// The code of the articles of the server's faces, of the transport and of cryptography, to be compiled: see `ArticleSampleTests`.
private enum ServerArticleSamples {
    func rhoConnect(_ configuration: ServerConfiguration) throws -> HTTPServer {
        let server = try MobileServer(configuration)
        let face = try RhoConnectServer(server, sources: RhoConnectServer.sources(of: server))
        let http = try HTTPServer { request in face.respond(to: request) }
        return http
    }

    func worklight(_ backEnd: WorklightBackEnd) throws -> HTTPServer {
        let adapter = WorklightAdapter("Stock", procedures: [
            "quotes": .sql("SELECT name, price FROM quote WHERE price > ?", on: backEnd),
            "mine": WorklightProcedure(realm: "users") { ["owner": .string($0.user(in: "users") ?? "")] },
        ], eventSources: ["prices"])
        let configuration = WorklightConfiguration(
            context: "/Demo", applications: [WorklightApplication(id: "Demo")], adapters: [adapter], realms: [.form("users")])
        let face = try WorklightServer(configuration, state: ServerConfiguration(cachePath: "state.db"))
        let http = try HTTPServer { request in face.respond(to: request) }
        return http
    }

    private final class Upload {
        func nextChunk() throws -> [UInt8]? { nil }
    }

    private final class Spool {
        func append(_ chunk: RawSpan) throws {}
    }

    private func transport(_ url: String, _ upload: Upload, _ spool: Spool) throws -> TransportResponse {
        let transport = HTTPTransport()
        let request = TransportRequest(method: "POST", url: url, body: .stream { try upload.nextChunk() })
        let response = try transport.send(request) { chunk in try spool.append(chunk) }
        return response
    }

    func cryptography(password: String, candidate: String) throws -> (Bool, [UInt8]) {
        let stored = try PasswordVerifier(password: password).encoded
        let isRight = try PasswordVerifier(encoded: stored).accepts(candidate)

        let token = try RandomBytes.token()
        let kept = try SHA256.digest(of: token)
        return (isRight, kept)
    }
}
