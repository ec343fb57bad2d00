import MobileProtocol
import MobileServer
import TestSupport
import Testing

/// Texts from outside, where the server writes and reads them.
@Suite struct ForeignTextTests {
    /// A name for packages and paths that would begin new lines in a log.
    static let forged = "x\nreplay for ada: done\r\u{1B}[2J\u{85}\u{2028}\u{202E}" + String(repeating: "y", count: 20_000)

    @Test("a name from outside begins no line of its own in the log, moves no cursor, and does not fill it", arguments: ["path", "device", "method"])
    func logLines(_ place: String) throws {
        let lines = RecordedLines()
        let server = try FieldSales.server {
            $0.log = { lines.add($0) }
            $0.requestTrace = RequestTrace(all: true)
        }
        switch place {
        case "path": _ = server.server.respond(to: ServerRequest(method: "POST", path: "/" + Self.forged))
        case "device":
            let header = MessageHeader(method: .connect, id: "1", application: "crm", device: Self.forged)
            _ = try server.send([Message(header)])
        default: _ = try server.send([Message(MessageHeader(method: .init(rawValue: Self.forged), id: "1", package: Self.forged))])
        }
        let line = try #require(lines.takeWarnings().first)
        #expect(line.hasPrefix("trace: POST /") && line.contains("x\\n"), "\(line.prefix(200))")
        #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && !"\u{2028}\u{202E}".unicodeScalars.contains($0) })
        #expect(line.utf8.count < 5000, "\(line.utf8.count) bytes")
    }
}
