internal import Foundation
internal import MobileStore

#if canImport(FoundationXML)
    internal import FoundationXML
#endif

/// The end-to-end traces that devices have uploaded, and the server's own lines about requests of the same transactions.
struct TraceStore: Sendable {
    let stateStore: any StateStore
    let clock: @Sendable () -> Int64

    /// The numbers of documents and lines kept per device; the oldest are deleted. A device cannot fill the server's disk.
    static let documentsPerDevice = 100, linesPerDevice = 1000

    /// Keeps the line of a request that carried a passport.
    func note(_ passport: PassportIDs, _ line: String, application: String, device: String) throws {
        let key: [Value] = [.text(application), .text(device)]
        try stateStore.write(label: "traced request") { connection in
            _ = try connection.execute(
                "INSERT INTO _traced_request (application, device, passport, line, noted) VALUES (?1, ?2, ?3, ?4, ?5)",
                key + [.text(passport.transaction), .text(line), .integer(clock())])
            try prune("_traced_request", key, Self.linesPerDevice, connection)
        }
    }

    /// Keeps a document.
    func store(_ document: TraceDocument, from session: Accounts.Session) throws {
        let key: [Value] = [.text(session.application), .text(session.device)]
        try stateStore.write(label: "trace") { connection in
            // A repeated document becomes the newest one.
            try connection.execute(
                "DELETE FROM _trace WHERE application = ?1 AND device = ?2 AND passport = ?3", key + [.text(document.transaction)])
            try connection.execute(
                "INSERT INTO _trace (application, device, passport, user_name, document, received) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                key + [.text(document.transaction), .text(session.user), .text(document.text), .integer(clock())])
            try prune("_trace", key, Self.documentsPerDevice, connection)
        }
    }

    private func prune(_ table: String, _ key: [Value], _ count: Int, _ connection: any StateConnection) throws {
        _ = try connection.execute(
            """
            DELETE FROM \(table) WHERE application = ?1 AND device = ?2 AND id NOT IN (
                SELECT id FROM \(table) WHERE application = ?1 AND device = ?2 ORDER BY id DESC LIMIT ?3)
            """, key + [.integer(Int64(count))])
    }

    /// Returns the documents with their requests, the oldest first.
    func traces(transaction: String?) throws -> [UploadedTrace] {
        try stateStore.read { connection in
            try connection.storedRows(
                TraceColumn.allCases, "WHERE CAST(?1 AS TEXT) IS NULL OR passport = CAST(?1 AS TEXT) ORDER BY id", [Value(transaction)]
            ).map { row in
                let passport = try row.text(.passport), application = try row.text(.application), device = try row.text(.device)
                return UploadedTrace(
                    transaction: passport, application: application, device: device, user: try row.text(.user), document: try row.text(.document),
                    received: try row.integer(.received),
                    requests: try connection.texts(
                        "SELECT line FROM _traced_request WHERE passport = ?1 AND application = ?2 AND device = ?3 ORDER BY id",
                        [.text(passport), .text(application), .text(device)]))
            }
        }
    }
}

/// An end-to-end trace that a device has uploaded.
public struct UploadedTrace: Sendable, Hashable {
    /// The id of the business transaction: 32 hexadecimal digits, as in the passports of its requests.
    public let transaction: String
    /// The id of the application that the trace comes from.
    public let application: String
    /// The device's id.
    public let device: String
    /// The name of the user who was logged in.
    public let user: String
    /// The business transaction as XML, as the client wrote it.
    public let document: String
    /// The time of arrival, in milliseconds since 1970.
    public let received: Int64
    /// The server's own lines about requests of the device that carried a passport of this transaction, in their order.
    public let requests: [String]
}

/// An uploaded trace, which is checked before it is kept.
struct TraceDocument {
    let text: String
    /// The transaction's id in upper case.
    let transaction: String

    /// - Throws: ``RequestFailure`` 400 for anything but a well-formed document of a business transaction.
    init(_ bytes: [UInt8]) throws(RequestFailure) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RequestFailure(.badRequest, "trace: expected text in UTF-8")
        }
        // The parser would follow an encoding declaration, and recognizes UTF-16 by its zeros: it would then read a different text from this one.
        guard !bytes.contains(0) else { throw RequestFailure(.badRequest, "trace: expected a well-formed XML document, found U+0000") }
        guard Self.saysUTF8(text) else { throw RequestFailure(.badRequest, "trace: expected no other encoding than UTF-8 in the XML declaration") }
        // A document type could define entities that grow, or that refer to files. The search is by bytes, because a combining character could hide
        // the `<`.
        guard Data(bytes).range(of: Data("<!DOCTYPE".utf8)) == nil else {
            throw RequestFailure(.badRequest, "trace: a document type is not accepted")
        }
        // An instruction without data ends the process: the system's parser receives no text for it, but reads the text's length all the same.
        guard Self.hasNoInstruction(Data(bytes)) else {
            throw RequestFailure(.badRequest, "trace: a processing instruction is not accepted")
        }
        let root = RootReader(), parser = XMLParser(data: Data(bytes))
        parser.delegate = root
        parser.shouldResolveExternalEntities = false
        // The system's parser accepts a document that ends too early as a complete one.
        guard parser.parse(), parser.parserError == nil, root.isComplete else {
            throw RequestFailure(.badRequest, "trace, line \(parser.lineNumber): expected a well-formed XML document")
        }
        guard root.name == "BusinessTransaction", let id = root.id?.uppercased(), id.utf8.count == 32, id.allSatisfy(\.isHexDigit) else {
            throw RequestFailure(.badRequest, "trace: expected the element BusinessTransaction with an id of 32 hexadecimal digits")
        }
        (self.text, transaction) = (text, id)
    }

    /// Whether the XML declaration, if there is one, names UTF-8 or no encoding.
    private static func saysUTF8(_ text: String) -> Bool {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        guard text.utf8.starts(with: "<?xml".utf8), let next = text.utf8.dropFirst(5).first, blanks.contains(next) else {
            return true
        }
        let value = #"\s*=\s*(?:"[^"<>]*"|'[^'<>]*')"#
        let declaration = #"<\?xml\s+version\#(value)(?:\s+encoding\s*=\s*["']utf-8["'])?(?:\s+standalone\#(value))?\s*\?>"#
        return text.range(of: declaration, options: [.regularExpression, .anchored, .caseInsensitive]) != nil
    }

    /// Whether there is no processing instruction. The XML declaration at the very beginning does not count.
    private static func hasNoInstruction(_ bytes: Data) -> Bool {
        var rest = bytes[...]
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        if rest.starts(with: "<?xml".utf8), let next = rest.dropFirst(5).first, blanks.contains(next) { rest = rest.dropFirst(5) }
        return rest.range(of: Data("<?".utf8)) == nil
    }

    private static let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private final class RootReader: NSObject, XMLParserDelegate {
        private(set) var name: String?
        private(set) var id: String?
        private var depth = 0
        private var hasFailed = false

        /// Whether every element has ended, including the root, without an error in between.
        var isComplete: Bool { name != nil && depth == 0 && !hasFailed }

        func parser(
            _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if name == nil { (name, id) = (elementName, attributes["id"]) }
            depth += 1
        }

        func parser(_ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?) { depth -= 1 }

        func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) { hasFailed = true }
    }
}
