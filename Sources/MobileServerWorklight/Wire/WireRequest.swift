internal import MobileProtocol
internal import MobileServer
internal import MobileStore

/// A request with its fields, its cookies and its place.
struct WireRequest {
    /// The meaning of a path.
    enum Place: Equatable {
        /// A request of an application, such as `query`.
        case application(id: String, environment: String, name: String)
        /// A procedure outside of an application's test.
        case invoke
        /// A login form, at any path.
        case form
        case reach, logUploader, logProfile
        case nowhere
    }

    let method: String
    let place: Place
    let headers: [String: String]
    let fields: FormFields
    let body: [UInt8]
    let address: String

    /// - Throws: `ProtocolError` for a body that is longer than `maximum`.
    init(_ request: ServerRequest, root: String, maximum: Int) throws {
        method = request.method
        headers = request.headers
        address = request.remoteAddress
        place = Self.place(request.path, root)
        body = try request.body.remainingBytes(maximum: maximum)
        fields = request.method == "GET" ? FormFields(request.query) : FormFields(body)
    }

    private static func place(_ path: String, _ root: String) -> Place {
        guard path.hasPrefix(root + "/") else { return .nowhere }
        let parts = path.dropFirst(root.count + 1).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.last == "j_security_check" { return .form }
        switch parts {
        case ["invoke"]: return .invoke
        case ["apps", "services", "reach"]: return .reach
        case ["apps", "services", "loguploader"]: return .logUploader
        case ["apps", "services", "configprofile"]: return .logProfile
        default: break
        }
        guard parts.count == 6 || parts.count == 8, Array(parts[..<3]) == ["apps", "services", "api"] else { return .nowhere }
        // The path may name the adapter and the procedure.
        if parts.count == 8, parts[5] != "query" { return .nowhere }
        return .application(id: parts[3], environment: parts[4], name: parts[5...].joined(separator: "/"))
    }

    /// The value of a header field; of several ones, the last: clients add global fields to fixed ones.
    func header(_ name: String) -> String? { headers[name].map { $0.split(separator: ", ").last.map(String.init) ?? $0 } }

    /// The version of the application.
    var version: String { header("x-wl-app-version") ?? "" }

    /// The cookies by name; of several ones, the last.
    var cookies: [String: String] {
        var cookies: [String: String] = [:]
        for pair in (headers["cookie"] ?? "").split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { cookies[String(parts[0])] = String(parts[1]) }
        }
        return cookies
    }

    /// The answers to challenges: the field `Authorization`, or the body, where the field says so. Anything malformed counts as no answer.
    var answers: JSONObject {
        guard let field = headers["authorization"] else { return [:] }
        let text = field == "wl-authorization-in-body" ? body : Array(field.utf8)
        let document = try? JSONDocument(parsing: text, duplicateKeys: .lastWins)
        return document.map { JSONValue(lastMembersOf: $0.root).object ?? [:] } ?? [:]
    }

    var gzip: Answer.GzipUse {
        if fields.text("compressResponse") == "true" { return .wanted }
        let offered = (headers["accept-encoding"] ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " } }
        return offered.contains { $0 == "gzip" || $0.hasPrefix("gzip;q=") && !$0.hasSuffix("q=0") } ? .offered : .no
    }
}
