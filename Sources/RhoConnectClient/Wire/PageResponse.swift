internal import MobileStore

/// One page of a query or search, checked for its form.
struct PageResponse {
    /// Empty: the end of the data.
    let token: String
    let count: Int
    let totalCount: Int
    /// The source that a search response names.
    let sourceName: String?
    /// The commands; a value that does not exist where the page has none.
    let commands: JSONNode
    /// Whether the text has the suffix that marks files in property bags.
    private(set) var hasBlobSuffix = false

    /// Parses the response to a query.
    /// - Throws: ``RhoConnectErrorCode/unexpectedServerResponse``, ``RhoConnectErrorCode/syncVersion``.
    init(parsing bytes: [UInt8]) throws(RhoConnectError) {
        try self.init(Self.document(bytes).root)
        hasBlobSuffix = bytes.contains(ReservedNames.blobSuffix)
    }

    /// Parses the response to a search: one page per source, nil for a source without more results.
    /// - Throws: as ``init(parsing:)``.
    static func searchPages(parsing bytes: [UInt8]) throws(RhoConnectError) -> [PageResponse?] {
        let root = try document(bytes).root
        guard root.isArray else { throw unexpected("a search response is not an array") }
        var pages: [PageResponse?] = []
        let hasBlobSuffix = bytes.contains(ReservedNames.blobSuffix)
        for element in root {
            guard element.isArray else { throw unexpected("a search response contains something else than arrays") }
            var page = element.count == 0 ? nil : try PageResponse(element)
            page?.hasBlobSuffix = hasBlobSuffix
            pages.append(page)
        }
        return pages
    }

    /// Elements of unknown names are skipped: servers of other versions have more of them.
    private init(_ root: JSONNode) throws(RhoConnectError) {
        guard root.isArray, root.count > 0 else { throw Self.unexpected("the response is not an array of elements") }
        var version: Int64?, token = "", count = 0, total = 0, source: String?
        var commands: JSONNode = root[-1]
        for element in root {
            guard element.isObject else { throw Self.unexpected("an element of the response is not an object") }
            if element["version"].exists {
                version = element["version"].integer ?? -1
            } else if element["token"].exists {
                guard let text = element["token"].string ?? element["token"].numberText else { throw Self.unexpected("the token is not a text") }
                token = text
            } else if let number = element["count"].integer {
                count = Int(clamping: number)
            } else if let number = element["total_count"].integer {
                total = Int(clamping: number)
            } else if let name = element["source"].string {
                source = name
            } else if PageCommand.allCases.contains(where: { element[$0.rawValue].exists }) {
                commands = element
            }
        }
        guard version == 3 else {
            throw RhoConnectError(.syncVersion, "the server speaks version \(version.map(String.init) ?? "unknown") of the protocol, not 3")
        }
        for command in PageCommand.allCases where command.isObject {
            let value = commands[command.rawValue]
            guard !value.exists || value.isObject else { throw Self.unexpected("\(command.rawValue) is not an object") }
            guard command.hasObjects else { continue }
            for members in value where !members.isObject { throw Self.unexpected("\(command.rawValue) has an object without attributes") }
        }
        (self.token, self.count, totalCount, sourceName, self.commands) = (token, count, total, source, commands)
    }

    /// A command of the page; a value that does not exist if the page lacks it.
    subscript(_ command: PageCommand) -> JSONNode { commands[command.rawValue] }

    private static func document(_ bytes: [UInt8]) throws(RhoConnectError) -> JSONDocument {
        do { return try JSONDocument(parsing: bytes, maximumDepth: 64, duplicateKeys: .lastWins) } catch {
            throw RhoConnectError(.unexpectedServerResponse, "the response is not JSON: \(error.message)", cause: error)
        }
    }

    static func unexpected(_ found: String) -> RhoConnectError { RhoConnectError(.unexpectedServerResponse, found) }
}

/// The commands of a page.
enum PageCommand: String, CaseIterable {
    case insert, delete, links, metadata
    case createError = "create-error"
    case updateError = "update-error"
    case updateRollback = "update-rollback"
    case deleteError = "delete-error"
    case sourceError = "source-error"
    case searchError = "search-error"
    case schemaChanged = "schema-changed"

    /// Whether the value is an object.
    var isObject: Bool { self != .metadata && self != .schemaChanged }
    /// Whether the members of the value are objects.
    var hasObjects: Bool { isObject }
}

extension [UInt8] {
    /// Whether the bytes have a text.
    fileprivate func contains(_ text: String) -> Bool {
        let sought = [UInt8](text.utf8)
        guard let first = sought.first, count >= sought.count else { return false }
        for start in 0...(count - sought.count) where self[start] == first {
            if self[start..<start + sought.count].elementsEqual(sought) { return true }
        }
        return false
    }
}

extension JSONNode {
    /// The text of a scalar, as the protocol stores it; nil for arrays and objects.
    var scalarText: String? {
        if isNull { return "" }
        if let boolean { return boolean ? "true" : "false" }
        return string ?? numberText
    }

    /// The scalar members of an object as texts.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in zip(keys, self) { texts[key] = value.scalarText }
        return texts
    }
}

extension RhoConnectServerErrors {
    /// Collects the errors of a page.
    init(_ page: PageResponse, of source: String) {
        create = Self.refusals(page[.createError], source)
        update = Self.refusals(page[.updateError], source)
        delete = Self.refusals(page[.deleteError], source)
        rollback = zip(page[.updateRollback].keys, page[.updateRollback]).map {
            Refusal(sourceName: source, object: $0, message: "", attributes: $1.texts)
        }
        for command in [PageCommand.sourceError, .searchError] {
            for (kind, error) in zip(page[command].keys, page[command]) { self.source[kind] = error["message"].scalarText ?? "" }
        }
    }

    /// Joins the pair of entries of each object: its attributes under the id, the message under the id with the suffix `-error`.
    private static func refusals(_ node: JSONNode, _ source: String) -> [Refusal] {
        let suffix = "-error"
        let entries = Dictionary(zip(node.keys, node)) { $1 }
        // An id may itself end in the suffix: an entry is a message if it has a message alone, and is not explained by one of its own.
        let messages = entries.filter { key, value in
            key.hasSuffix(suffix) && key.count > suffix.count && value.count == 1 && value["message"].exists && entries[key + suffix] == nil
        }
        let objects = Set(entries.keys.filter { messages[$0] == nil } + messages.keys.map { String($0.dropLast(suffix.count)) })
        return objects.sorted().map { object in
            Refusal(
                sourceName: source, object: object, message: messages[object + suffix]?["message"].scalarText ?? "",
                attributes: entries[object]?.texts ?? [:])
        }
    }
}
