import Foundation
import MobileServer
import MobileServerWorklight
import TestSupport
import Testing

/// A strict client in JavaScript against the face. It is written from the specification's account of the original hybrid client; the original itself is not
/// available here.
@Suite struct HybridScriptTests {
    private static let node: String? = {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { String($0) + "/node" }
        return (path + ["/usr/bin/node", "/usr/local/bin/node"]).first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private func run(_ scenario: String, _ live: LiveFace, root: String? = nil) throws -> (status: Int32, output: String) {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "strict-client.js").path
        return try Program.run(URL(filePath: try #require(Self.node)), [script, root ?? "http://127.0.0.1:\(live.http.port)/Demo", scenario])
    }

    @Test(
        "a client with the rules of the original JavaScript one accepts each answer of the face",
        .enabled(if: Self.node != nil, "node is not installed"), arguments: ["whole", "long", "wrongPassword", "notified", "disabled", "expired", "minimal"])
    func accepts(scenario: String) throws {
        let live = try LiveFace(Face()), administration = live.face.server.administration
        switch scenario {
        case "notified": try administration.set(.notify(message: "Maintenance", id: "17"), application: "Demo", environment: "iphone", version: nil)
        case "disabled":
            try administration.set(
                .disabled(message: "Please upgrade", link: "https://example.org/app"), application: "Demo", environment: "iphone", version: "1.0")
        default: break
        }
        let (status, output) = try run(scenario, live)
        #expect(status == 0, "\(output)")
        #expect(output.hasSuffix("accepted\n"), "\(output)")
        #expect(live.face.lines.all.isEmpty)
    }

    @Test("it refuses a server that does not speak the protocol", .enabled(if: Self.node != nil, "node is not installed"))
    func refuses() throws {
        let live = try LiveFace(Face())
        let (status, output) = try run("whole", live, root: "http://127.0.0.1:\(live.http.port)/Other")
        #expect(status == 1)
        #expect(output.contains("reach"))
    }
}
