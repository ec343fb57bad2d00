internal import MobileProtocol
internal import MobileServer
internal import MobileStore

/// A request with the parameters of its query, its body and its path.
struct RhoRequest {
    let method: String
    let path: String
    let headers: [String: String]
    let query: [String: String]
    private let queryItems: [(name: String, value: String)]
    let address: String
    /// The members of a JSON body, or the fields of a form as texts.
    private(set) var body: JSONObject = [:]
    /// The files of a multipart body.
    private(set) var files: [String: [UInt8]] = [:]
    /// Whether the path is of the older style.
    let isOlder: Bool
    /// Whether the path is that of browser clients.
    let isBrowser: Bool

    /// - Throws: ``RhoFailure`` for a body that is declared as JSON and is not.
    init(_ request: ServerRequest) throws {
        method = request.method
        headers = request.headers
        query = request.query
        queryItems = request.queryItems
        address = request.remoteAddress
        var place = request.path
        isBrowser = place.hasPrefix("/api/application")
        if isBrowser { place = String(place.dropFirst("/api".count)) }
        isOlder = place == "/application" || place.hasPrefix("/application/")
        path = place
        var bytes: [UInt8] = []
        while let piece = try request.body.nextChunk() { bytes += piece }
        let type = headers["content-type"] ?? ""
        if type.hasPrefix("application/json"), !bytes.isEmpty {
            guard let json = try? JSONValue(parsing: bytes), case .object(let members) = json else {
                throw RhoFailure.text(500, "Server error while processing client data")
            }
            body = members
        } else if type.hasPrefix("multipart/form-data"), let boundary = type.after("boundary=") {
            for part in MultipartParts.read(bytes, boundary: boundary) { files[part.name] = part.content }
            if let cud = files["cud"], case .object(let members)? = try? JSONValue(parsing: cud) { body = members }
        } else {
            body = JSONObject(uniqueKeys: FormFields.read(String(decoding: bytes, as: UTF8.self)).map { ($0.key, .string($0.value)) })
        }
    }

    func parameter(_ name: String) -> String? { query[name] ?? body[name]?.string }

    /// The client id: the header wins over the parameters.
    func clientID(inPath: String? = nil) -> String? {
        if let header = headers["x-rhoconnect-client-id"], !header.isEmpty { return header }
        return parameter("client_id") ?? inPath
    }

    /// The value of the session cookie.
    var session: String? {
        for pair in (headers["cookie"] ?? "").split(separator: ";") {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == "rhoconnect_session" { return String(parts[1]) }
        }
        return isBrowser ? query["rhoconnect_session"] : nil
    }

    /// The sources that a query of the older style names, each with the token that follows it.
    var namedSources: [(name: String, token: String?)] {
        var sources: [(name: String, token: String?)] = []
        for item in queryItems {
            if item.name == "sources[][name]" { sources.append((item.value, nil)) }
            if item.name == "sources[][token]", !sources.isEmpty { sources[sources.count - 1].token = item.value }
        }
        return sources
    }

    /// The parameters `name[key]=value`, also as an object of the body.
    func map(_ name: String) -> [String: String] {
        var map: [String: String] = [:]
        for (key, value) in query where key.hasPrefix(name + "[") && key.hasSuffix("]") {
            map[String(key.dropFirst(name.count + 1).dropLast())] = value
        }
        if case .object(let members)? = body[name] { for member in members { map[member.key] = member.value.string } }
        return map
    }

    /// The number of objects of a page: 500 without one, 0 for a text that is not a number.
    var pageSize: Int { parameter("p_size").map { max(0, Int($0) ?? 0) } ?? 500 }
}

/// The fields of a form.
enum FormFields {
    static func read(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[decoded(parts[0])] = parts.count > 1 ? decoded(parts[1]) : ""
        }
        return fields
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The parts of a multipart body.
enum MultipartParts {
    static func read(_ bytes: [UInt8], boundary: String) -> [(name: String, content: [UInt8])] {
        let separator = [UInt8](("--" + boundary).utf8), blank = [UInt8]("\r\n\r\n".utf8)
        var parts: [(name: String, content: [UInt8])] = []
        var rest = bytes[...]
        guard let first = rest.firstRange(of: separator) else { return [] }
        rest = rest[first.upperBound...]
        while let next = rest.firstRange(of: separator) {
            let piece = rest[..<next.lowerBound]
            rest = rest[next.upperBound...]
            guard let end = piece.firstRange(of: blank) else { continue }
            let head = String(decoding: piece[..<end.lowerBound], as: UTF8.self)
            guard let name = head.after("name=\"")?.prefix(while: { $0 != "\"" }) else { continue }
            parts.append((String(name), Array(piece[end.upperBound...].dropLast(2))))
        }
        return parts
    }
}

extension String {
    func after(_ text: String) -> String? { firstRange(of: text).map { String(self[$0.upperBound...]) } }
}
