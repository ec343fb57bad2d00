import MobileProtocol
import MobileServer
import Testing

/// Traces with misleading encodings.
@Suite struct TraceEncodingTests {
    /// The bytes of one trace in an encoding other than UTF-8, which would hide a document type.
    struct Encoded: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
    }

    static let id = String(repeating: "0A", count: 16)
    static func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } }

    static let encoded = [
        Encoded(
            testDescription: "UTF-7 declared",
            bytes: Array(
                """
                <?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE a +AFsAPAAh-ENTITY b "c"+AD4AXQA+-<BusinessTransaction id="\(id)">+ACY-b;</BusinessTransaction>
                """.utf8)),
        Encoded(
            testDescription: "Latin-1 declared",
            bytes: Array("<?xml version=\"1.0\" encoding='ISO-8859-1'?><BusinessTransaction id=\"\(id)\"/>".utf8)),
        Encoded(
            testDescription: "declared behind a line break",
            bytes: Array("<?xml version=\"1.0\"\n\tencoding = \"latin1\" ?><BusinessTransaction id=\"\(id)\"/>".utf8)),
        Encoded(
            testDescription: "UTF-16 without a word",
            bytes: utf16("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b \"c\">]><BusinessTransaction id=\"\(id)\">&b;</BusinessTransaction>")),
    ]

    @Test("E2E-07: a trace that is not UTF-8, whatever it says of itself, is refused", arguments: encoded)
    func traceEncodings(_ encoded: Encoded) throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        #expect(try upload(encoded.bytes, device).status == 400)
        #expect(try server.server.administration.traces().isEmpty)
    }

    @Test("E2E-07: a trace that says it is UTF-8 is kept", arguments: ["", " encoding=\"UTF-8\"", " encoding='utf-8' standalone=\"yes\" "])
    func utf8(_ declaration: String) throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        let document = "<?xml version=\"1.0\"\(declaration)?><BusinessTransaction id=\"\(Self.id)\">Grüße</BusinessTransaction>"
        #expect(try upload(Array(document.utf8), device).status == 204)
        #expect(try upload([0xEF, 0xBB, 0xBF] + Array(document.utf8), device).status == 204)
        #expect(try server.server.administration.traces().count == 1)
    }

    @Test(
        "E2E-07: a trace with a processing instruction is refused, and the server goes on",
        arguments: [
            "<?a?><BusinessTransaction id=\"\(id)\"/>", "<?:?><BusinessTransaction id=\"\(id)\"/>", "<?xml?><BusinessTransaction id=\"\(id)\"/>",
            "<?xml version=\"1.0\"?><?b c?><BusinessTransaction id=\"\(id)\"/>", "<BusinessTransaction id=\"\(id)\"><?a?></BusinessTransaction>",
            "<BusinessTransaction id=\"\(id)\"/><?a ?>", " <?xml version=\"1.0\"?><BusinessTransaction id=\"\(id)\"/>", "\u{FEFF}<?a?>", "<?",
            "<?xml ",
        ])
    func instructions(_ document: String) throws {
        let server = try FieldSales.server()
        let device = try TestDevice(server)
        #expect(try upload(Array(document.utf8), device).status == 400)
        #expect(try server.server.administration.traces().isEmpty)
    }

    private func upload(_ bytes: [UInt8], _ device: TestDevice) throws -> ServerResponse {
        device.server.server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.traces, headers: ["authorization": "Bearer \(device.token)"], body: Spool(bytes)))
    }
}
