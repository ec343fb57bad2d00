import MobileExecution
import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import WorklightClient

/// A face over real HTTP.
final class LiveFace {
    private(set) var face: Face
    private(set) var http: HTTPServer

    init(_ face: Face) throws {
        self.face = face
        let server = face.server
        http = try HTTPServer { server.respond(to: $0) }
    }

    /// Ends the server with all its connections, and starts another one over the same state, at the same port.
    /// - Parameter pause: runs while there is no server.
    func restart(_ pause: () throws -> Void = {}) throws {
        var configuration = HTTPServer.Configuration()
        configuration.port = http.port
        http.stop()
        try face.server.close()
        try pause()
        face = try Face(sharing: face)
        let server = face.server
        http = try HTTPServer(configuration) { server.respond(to: $0) }
    }

    deinit { http.stop() }

    func configuration(_ application: String = "Demo", version: String = "1.0") -> WLConfiguration {
        var configuration = WLConfiguration(
            host: "127.0.0.1", port: String(http.port), serverContext: "/Demo", applicationID: application, applicationVersion: version)
        // Machines under load need more than the default.
        configuration.defaultTimeout = .seconds(600)
        configuration.heartbeatInterval = .zero
        configuration.device = WLDevice(os: "8.1.2", model: "iPhone7,2")
        return configuration
    }

    func store() throws -> Database { try Database(ConnectionProfile(path: face.directory.file("client.db"))) }
}

/// Something that happens once, awaited by any number of tasks.
final class Signal: Sendable {
    private let promise = Promise<Bool, any Error>()
    func fire() { promise.resolve(.success(true)) }
    func happened() async { _ = try? await promise.value }
}
