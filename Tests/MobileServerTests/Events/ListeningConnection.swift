import Foundation
import MobileProtocol
import MobileStore
import TestSupport

@testable import MobileServer

/// A connection that listens for events, byte by byte.
final class ListeningConnection {
    let connection: RawConnection
    /// The answer so far, without the marks of HTTP chunks.
    private(set) var text = ""

    /// Sends the request of a device.
    init(
        _ http: HTTPServer, _ device: TestDevice, groups: [String] = ["default", "lines"], version: String = "1.1", receiveBuffer: Int32? = nil
    ) throws {
        connection = try RawConnection(port: http.port, receiveBuffer: receiveBuffer)
        send(device, try device.interest(groups), version: version)
    }

    /// Sends a request in the session of a device.
    init(_ http: HTTPServer, _ device: TestDevice, body: String) throws {
        connection = try RawConnection(port: http.port)
        send(device, body)
    }

    private func send(_ device: TestDevice, _ body: String, version: String = "1.1") {
        connection.send(
            "POST \(Endpoint.events) HTTP/\(version)\r\nHost: x\r\nAuthorization: Bearer \(device.token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    /// Receives until the text contains `mark`; false if the connection ends before, or nothing comes in time.
    func reads(_ mark: String) -> Bool {
        let end = ContinuousClock.now + RawConnection.patience
        while !text.contains(mark) {
            guard ContinuousClock.now < end, let piece = connection.receive(), !piece.isEmpty else { return false }
            text += String(decoding: piece, as: UTF8.self)
        }
        return true
    }

    /// Waits for the next event, which must be news.
    /// - Returns: the groups that it names; nil without an event.
    func news() -> [String]? {
        let end = ContinuousClock.now + RawConnection.patience
        while true {
            if let start = text.range(of: "event: news\ndata: "), let last = text.range(of: "\n\n", range: start.upperBound..<text.endIndex) {
                let json = try? JSONValue(parsing: String(text[start.upperBound..<last.lowerBound]))
                text.removeSubrange(..<last.upperBound)
                return json?["groups"]?.array?.compactMap(\.string)
            }
            guard ContinuousClock.now < end, let piece = connection.receive(), !piece.isEmpty else { return nil }
            text += String(decoding: piece, as: UTF8.self)
        }
    }

    /// Waits for two heartbeats.
    /// - Returns: whether no news came before them.
    func isQuiet() -> Bool {
        text = ""
        for _ in 0..<2 {
            guard reads("\n:\n") || reads(":\n\n") else { return false }
            if text.contains("event: news") { return false }
            text = ""
        }
        return true
    }
}

extension TestDevice {
    /// The body of a request to listen, with the device's parameters and tokens.
    func interest(_ groups: [String]) throws -> String {
        SynchronizeHeader(
            client: client, package: server.package, groups: groups, tokens: tokens, subscriptions: subscriptions, personalization: personalization
        ).json.description
    }
}

extension HTTPServer {
    /// Serves a server with short times.
    convenience init(listening server: MobileServer, heartbeat: Duration = .milliseconds(100), time: Duration = .seconds(3600)) throws {
        var configuration = Configuration()
        configuration.heartbeat = heartbeat
        configuration.listeningTime = time
        try self.init(configuration, serving: server)
    }
}
