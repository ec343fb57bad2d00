import Foundation
import MobileProtocol
import TestSupport
import Testing

@testable import MobileServer

/// Lines of the log as JSON.
@Suite struct LogFormatTests {
    private func members(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }

    @Test(
        "a line is one JSON object whatever its text",

        arguments: ["plain", "a\"b\\c", "two\nlines\r\t\u{0}", "\u{202E}turned \u{2028} \u{FEFF}", "\\u000a", "Größe 日本"])
    func injection(_ text: String) throws {
        let line = LogEntry(.error, text).line(.json, time: 1_763_889_611_482)
        #expect(!line.contains { $0.isNewline } && !line.unicodeScalars.contains("\u{202E}"))
        let members = try self.members(line)
        #expect(members["message"] as? String == LogSanitizer.escaped(text))
        #expect(members["time"] as? String == "2025-11-23T09:20:11.482Z" && members["level"] as? String == "error")
        #expect(LogEntry(.error, text).line(.text, time: 0) == LogSanitizer.escaped(text))
    }

    @Test("the line of a request has its fields, cut and escaped; a text has no other form than before")
    func fields() throws {
        let lines = RecordedLines()
        let server = try FieldSales.server {
            $0.logFormat = .json
            $0.requestTrace = RequestTrace(all: true)
            $0.log = { lines.add($0) }
        }
        let device = try TestDevice.inRegion("NORTH", of: server)
        _ = try device.synchronize()
        let line = try #require(lines.all.last { $0.contains(Endpoint.synchronize) })
        let members = try self.members(line)
        #expect(members["method"] as? String == "POST" && members["path"] as? String == Endpoint.synchronize)
        #expect(members["status"] as? Int == 200 && members["milliseconds"] is Int && members["level"] as? String == "info")
        #expect(members["user"] as? String == "ada" && (members["device"] as? String)?.isEmpty == false && members["passport"] == nil)
        #expect((members["client"] as? String)?.isEmpty == false && (members["message"] as? String)?.hasPrefix("Field:2.0, client ") == true)
        for line in lines.all { #expect(try self.members(line)["level"] as? String != nil) }
        let forged = "/x\"}\n{\"level\": \"error\"" + String(repeating: "y", count: 500)
        _ = server.server.respond(to: ServerRequest(path: forged))
        let last = try self.members(try #require(lines.all.last))
        #expect(last["path"] as? String == LogSanitizer.escaped(LogSanitizer.name(forged)) && last["status"] as? Int == 404)
    }
}
