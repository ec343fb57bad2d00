import Foundation
import MobileServer
import MobileServerWorklight
import MobileStore

/// The face for clients of IBM Worklight, on a port of its own next to the server, with the same state store, accounts and certificate.
struct WorklightFace {
    let server: WorklightServer
    let http: HTTPServer

    /// - Returns: nil without `--worklight`.
    /// - Throws: `ServerError` for a wrong file, ``CommandFailure`` for a back end that is not an SQLite file.
    init?(_ arguments: ServeArguments, _ listening: HTTPServer.Configuration, _ configuration: ServerConfiguration) throws {
        guard !arguments.worklight.isEmpty else { return nil }
        var backEnds: [String: Database] = [:]
        for (name, place) in arguments.backEnds where !place.hasPrefix("postgres") {
            var profile = ConnectionProfile(path: place, journal: .unchanged)
            profile.createsFile = false
            backEnds[name] = try Database(profile)
        }
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
