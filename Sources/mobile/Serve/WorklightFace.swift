import Foundation
import MobileServer
import MobileServerWorklight

/// The face for clients of IBM Worklight, on a port of its own next to the server, with the same state store, accounts and certificate.
struct WorklightFace {
    let server: WorklightServer
    let http: HTTPServer

    /// - Returns: nil without `--worklight`.
    /// - Throws: `ServerError` for a wrong file, also for a PostgreSQL back end that cannot be reached, `StoreError` for a file that cannot be opened.
    init?(_ arguments: ServeArguments, _ listening: HTTPServer.Configuration, _ configuration: ServerConfiguration) throws {
        guard !arguments.worklight.isEmpty else { return nil }
        let backEnds = try arguments.backEnds.mapValues { try WorklightBackEnd(place: $0) }
        var state = configuration
        // The server itself has set them.
        state.users = [:]
        let server = try WorklightServer(WorklightConfiguration(file: arguments.worklight, backEnds: backEnds), state: state)
        var listening = listening
        listening.port = arguments.worklightPort
        listening.maximumBodyLength = server.configuration.maximumBody
        http = try HTTPServer(listening) { server.respond(to: $0) }
        self.server = server
    }
}
