import Foundation
import MobileStore
import TestSupport

@testable import MobileServer

/// A client that builds its requests byte by byte and speaks HTTP over its own socket: it can send requests that no client of the platform
/// sends. It reaches its server through the server's HTTP face.
final class HandmadeClient {
    let server: TestServer
    private var http: HTTPServer
    private(set) var token = ""
    var clientID = "handmade"

    private let face: (TestServer) throws -> HTTPServer

    /// Connects to a server.
    /// - Parameters:
    ///   - server: nil for a server over ``FieldSales``.
    ///   - face: makes the server's HTTP face.
    init(_ server: TestServer? = nil, face: @escaping (TestServer) throws -> HTTPServer = { try HTTPServer(serving: $0.server) }) throws {
        let server = try server ?? FieldSales.server()
        self.server = server
        self.face = face
        http = try face(server)
        try register("handmade")
    }

    /// Stops the HTTP face, after the requests that it has begun.
    func stop() { http.stop() }

    /// Closes the server and opens it again on the same files.
    /// - Parameter meanwhile: a function that runs while the server is closed.
    func restart(_ meanwhile: () throws -> Void = {}) throws {
        http.stop()
        try server.server.close()
        try meanwhile()
        try server.restartClosed()
        http = try face(server)
    }

    /// Works on the cache of the closed server, like an administrator with a shell.
    func cache<R>(_ body: (any StateConnection) throws -> R) throws -> R { try server.state(body) }

    /// Begins the session of a device.
    func register(_ device: String) throws {
        let body = """
            {"header": {"method": "register", "id": "1", "app": "crm", "device": "\(device)"}, "content": {"user": "ada", "password": "secret"}}
            """
        let answer = try post("/mobile/v1/messages", Array(body.utf8), type: "application/json")
        token = try JSONValue(parsing: answer.body).array?.first?["content"]?["token"]?.string ?? ""
    }

    /// Sends one message in the session, and returns its answer.
    @discardableResult
    func message(_ method: String, _ content: String = "{}") throws -> JSONValue {
        let body = """
            {"header": {"method": "\(method)", "id": "1", "app": "crm", "device": "handmade", "pkg": "\(server.package)", "cid": "\(clientID)"},
             "content": \(content)}
            """
        let answer = try post("/mobile/v1/messages", Array(body.utf8), type: "application/json")
        return try JSONValue(parsing: answer.body).array?.first ?? .null
    }

    // MARK: Synchronization

    /// One answer to a synchronization.
    struct Answer {
        var status = 0
        var body: [UInt8] = []
        /// The frames in order: letter and payload.
        var frames: [(letter: Character, payload: [UInt8])] = []

        var text: String { String(decoding: body, as: UTF8.self) }

        private func values(_ letter: Character) -> [JSONValue] {
            frames.filter { $0.letter == letter }.compactMap { try? JSONValue(parsing: $0.payload) }
        }

        var results: [JSONValue] { values("R").flatMap { $0.array ?? [] } }
        var outcomes: [String] { results.map { "\($0["outcome"]?.string ?? "?") \($0["code"]?.integer ?? 0)" } }
        /// The granted keys.
        var keys: ClosedRange<Int64>? {
            values("K").last.flatMap { range in
                guard let first = range["first"]?.integer, let last = range["last"]?.integer, first <= last else { return nil }
                return first...last
            }
        }
        /// The groups' tokens as JSON texts.
        var tokens: [String: String] {
            Dictionary(values("G").map { ($0["group"]?.string ?? "", $0["token"]?.description ?? "") }) { $1 }
        }
        /// Whether the stream has its regular end.
        var isComplete: Bool { frames.last?.letter == "Z" }
        /// Returns the number of rows in the parts with this mode.
        func rows(_ mode: String, of object: String) -> Int64 {
            var isMeant = false, rows: Int64 = 0
            for (letter, payload) in frames {
                guard letter == "T" || letter == "E", let json = try? JSONValue(parsing: payload) else { continue }
                if letter == "T" {
                    isMeant = json["mode"]?.string == mode && json["object"]?.string == object
                } else if isMeant {
                    (rows, isMeant) = (rows + (json["rows"]?.integer ?? 0), false)
                }
            }
            return rows
        }
    }

    /// Makes the bytes of one frame.
    static func frame(_ letter: Character, _ payload: String) -> [UInt8] { frame(letter, Array(payload.utf8)) }

    static func frame(_ letter: Character, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return [letter.asciiValue ?? 0, 0, 0, 0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + payload
    }

    /// Makes a header for the customers of the north, with the changes of a test.
    func header(
        subscriptions: String = #"{"Customer": [{"region": "NORTH"}]}"#, groups: String = #"["default", "lines"]"#, tokens: String = "{}",
        more: String = ""
    ) -> [UInt8] {
        Self.frame(
            "H",
            """
            {"version": 2, "cid": "\(clientID)", "pkg": "\(server.package)", "groups": \(groups), "tokens": \(tokens), "subscriptions": \(subscriptions)\(more)}
            """)
    }

    /// Uploads these operations, each the text of an `O` frame.
    func synchronize(_ operations: [String] = [], header: [UInt8]? = nil) throws -> Answer {
        let body = (header ?? self.header()) + operations.flatMap { Self.frame("O", $0) } + Self.frame("Z", "")
        return try synchronize(bytes: body)
    }

    func synchronize(bytes: [UInt8]) throws -> Answer {
        try Self.answer(post("/mobile/v1/synchronize", bytes, type: "application/vnd.mobileobjects.frames"))
    }

    private static func answer(_ answer: (status: Int, body: [UInt8])) -> Answer {
        var frames: [(letter: Character, payload: [UInt8])] = []
        var position = 0
        while answer.status == 200, position + 8 <= answer.body.count {
            let length = answer.body[position + 4..<position + 8].reduce(0) { $0 << 8 | Int($1) }
            let end = min(answer.body.count, position + 8 + length)
            frames.append((Character(UnicodeScalar(answer.body[position])), Array(answer.body[position + 8..<end])))
            position = end
        }
        return Answer(status: answer.status, body: answer.body, frames: frames)
    }

    // MARK: HTTP

    struct NoAnswer: Error {}

    /// Sends one request on its own connection.
    func post(_ path: String, _ body: [UInt8], type: String) throws -> (status: Int, body: [UInt8]) {
        try Self.response(send(path, body, type: type).receiveAll(within: .seconds(600)))
    }

    /// Sends an upload on a connection of its own.
    func send(upload: [UInt8]) throws -> RawConnection {
        try send("/mobile/v1/synchronize", upload, type: "application/vnd.mobileobjects.frames")
    }

    /// Reads the answer to an upload from all bytes of its connection.
    static func answer(from bytes: [UInt8]?) throws -> Answer { try answer(response(bytes)) }

    private func send(_ path: String, _ body: [UInt8], type: String) throws -> RawConnection {
        let connection = try RawConnection(port: http.port)
        let head = """
            POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\nContent-Type: \(type)\r\n\
            Content-Length: \(body.count)\r\n\r\n
            """
        // A server may answer without reading the rest.
        connection.send(Array(head.utf8) + body)
        return connection
    }

    private static func response(_ bytes: [UInt8]?) throws -> (status: Int, body: [UInt8]) {
        guard let bytes, let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { throw NoAnswer() }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { throw NoAnswer() }
        let isChunked = lines.contains { $0.lowercased() == "transfer-encoding: chunked" }
        return (status, isChunked ? joined(bytes[end...]) : Array(bytes[end...]))
    }

    /// Joins the content of HTTP chunks.
    private static func joined(_ chunks: ArraySlice<UInt8>) -> [UInt8] {
        var rest = chunks, content: [UInt8] = []
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let length = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), length > 0
        {
            let end = min(rest.endIndex, line.upperBound + length)
            content += rest[line.upperBound..<end]
            rest = rest[min(rest.endIndex, end + 2)...]
        }
        return content
    }
}
