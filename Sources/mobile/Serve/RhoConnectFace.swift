import MobileServer
import MobileServerRhoConnect

/// The face for clients of RhoConnect, on a port of its own next to the server, with the same packages, state, accounts and certificate.
struct RhoConnectFace {
    let http: HTTPServer
    /// The names of the sources, each with its partition.
    let sources: String

    /// - Returns: nil without `--rhoconnect`.
    /// - Throws: `ServerError` for two packages with objects of one name.
    init?(_ arguments: ServeArguments, _ listening: HTTPServer.Configuration, _ server: MobileServer) throws {
        guard arguments.isRhoConnect else { return nil }
        let all = try RhoConnectServer.sources(of: server)
        sources = all.map { "\($0.name) (\($0.partition.rawValue))" }.joined(separator: ", ")
        let face = try RhoConnectServer(server, sources: all)
        var listening = listening
        listening.port = arguments.rhoConnectPort
        http = try HTTPServer(listening) { face.respond(to: $0) }
    }
}
