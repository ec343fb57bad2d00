import MobileExecution
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport

/// A server that refuses everything that the protocol does not allow, and answers what the test has prepared.
///
/// It listens on a port of the loopback interface. The violations that it found are in ``violations``; a test's bench checks at its end that there is nothing.
final class StrictServer: Sendable {
    /// A request as it arrived.
    struct Request: Sendable {
        let method: String, path: String
        let query: [String: String], headers: [String: String]
        let body: [UInt8]

        var json: JSONValue? { try? JSONValue(parsing: body) }
        /// The model of a query or upload.
        var source: String? {
            if path.hasPrefix("/app/v1/") { return String(path.dropFirst("/app/v1/".count)) }
            return query["source_name"] ?? json?["source_name"]?.string
        }
        var isQuery: Bool { method == "GET" && source != nil }
        var isUpload: Bool { method == "POST" && source != nil && !path.hasSuffix("/search") }
    }

    /// An answer.
    struct Answer: Sendable {
        var status = 200
        var headers: [(name: String, value: String)] = []
        var contentType = "application/json"
        var body: [UInt8] = []

        static func json(_ text: String) -> Answer { Answer(body: [UInt8](text.utf8)) }
        static func text(_ status: Int, _ text: String) -> Answer { Answer(status: status, contentType: "text/plain", body: [UInt8](text.utf8)) }
        static let empty = Answer(contentType: "text/html")
    }

    private struct State {
        var requests: [Request] = []
        var violations: [String] = []
        /// Answers in the order of the requests, by method and path; the last one stays.
        var answers: [String: [Answer]] = [:]
        /// Pages by model, in the order of the queries; then the end page.
        var pages: [String: [Answer]] = [:]
        /// The token of the last page that a query of the model received.
        var tokens: [String: String] = [:]
        var clients = 0
        var hook: (@Sendable (Request) -> Answer?)?
    }
    private let state = SystemLock(State())
    private let http = SystemLock<HTTPServer?>(nil)
    let style: Int
    let session = "rhoconnect_session=BAh7BjoPc2Vzc2lvbl9pZA%3D%3D--0a1b2c"

    init(style: Int = 4) throws {
        self.style = style
        let server = try HTTPServer(port: 0) { [weak self] in self?.respond($0) ?? ServerResponse(status: 500) }
        http.withLock { $0 = server }
    }

    func stop() { http.withLock { $0 }?.stop(timeout: .zero) }

    var root: String { "http://127.0.0.1:\(http.withLock { $0?.port ?? 0 })" }
    /// The URL for the client.
    var url: String { style == 4 ? root : root + "/application" }

    // MARK: Preparation

    static func page(_ commands: String = "{}", token: String = "", count: Int = 0, total: Int = 0) -> String {
        "[{\"version\":3},{\"token\":\"\(token)\"},{\"count\":\(count)},{\"progress_count\":0},{\"total_count\":\(total)},\(commands)]"
    }

    /// Adds a page of a model.
    func add(_ source: String, _ commands: String, token: String = "", count: Int = 1, total: Int = 1) {
        add(source, .json(Self.page(commands, token: token, count: count, total: total)))
    }

    func add(_ source: String, _ answer: Answer) { state.withLock { $0.pages[source, default: []].append(answer) } }

    /// Adds the answer to a method and a path, such as `POST /rc/v1/app/login`; of several, each counts once, the last one always.
    func answer(_ place: String, _ answer: Answer) { state.withLock { $0.answers[place, default: []].append(answer) } }

    /// Sets a function that sees each valid request first.
    func onRequest(_ hook: (@Sendable (Request) -> Answer?)?) { state.withLock { $0.hook = hook } }

    // MARK: Results

    var requests: [Request] { state.withLock { $0.requests } }
    var queries: [Request] { requests.filter(\.isQuery) }
    var uploads: [Request] { requests.filter(\.isUpload) }
    var violations: [String] { state.withLock { $0.violations } }
    func forgetRequests() { state.withLock { $0.requests = [] } }

    // MARK: Service

    private func respond(_ request: ServerRequest) -> ServerResponse {
        var bytes: [UInt8] = []
        do { while let piece = try request.body.nextChunk() { bytes += piece } } catch { return ServerResponse(status: 500) }
        let arrived = Request(method: request.method, path: request.path, query: request.query, headers: request.headers, body: bytes)
        let violations = ProtocolRules(style: style, session: session).violations(of: arrived)
        state.withLock {
            $0.requests.append(arrived)
            $0.violations += violations
        }
        var answer = violations.isEmpty ? self.answer(to: arrived) : .text(400, violations.joined(separator: "; "))
        if answer.headers.isEmpty, answer.status == 200, arrived.path.hasPrefix("/data") == false {
            answer.headers = [("Set-Cookie", session + "; path=/; expires=Tue, 23 Nov 2027 22:00:00 -0000; HttpOnly")]
        }
        return ServerResponse(status: answer.status, headers: answer.headers, contentType: answer.contentType, body: .bytes(answer.body))
    }

    private func answer(to request: Request) -> Answer {
        if let answer = state.withLock({ $0.hook })?(request) { return answer }
        let place = "\(request.method) \(request.path)"
        let prepared = state.withLock { state -> Answer? in
            guard var answers = state.answers[place], let first = answers.first else { return nil }
            if answers.count > 1 { answers.removeFirst() }
            state.answers[place] = answers
            return first
        }
        if let prepared { return prepared }
        if request.isQuery { return query(request) }
        if request.path.hasSuffix("/clients") || request.path.hasSuffix("/clientcreate") {
            let number = state.withLock { state in
                state.clients += 1
                return state.clients
            }
            return .json("{\"client\":{\"client_id\":\"client\(number)\"}}")
        }
        if request.path.hasSuffix("/search") { return .json("[[]]") }
        return .empty
    }

    private func query(_ request: Request) -> Answer {
        let source = request.source ?? "", token = request.query["token"] ?? ""
        return state.withLock { state in
            let last = state.tokens[source] ?? ""
            if token != "1", token != last { state.violations.append("query of \(source) with the token \(token), the last one was \(last)") }
            let answer = state.pages[source]?.isEmpty == false ? state.pages[source]!.removeFirst() : .json(Self.page())
            if let json = try? JSONValue(parsing: answer.body), case .array(let elements) = json {
                state.tokens[source] = elements.compactMap { $0["token"]?.string }.first ?? ""
            }
            return answer
        }
    }
}

/// The rules for requests, chapter by chapter.
struct ProtocolRules {
    let style: Int
    let session: String
    private static let headers: Set<String> = [
        "host", "user-agent", "accept", "cookie", "content-type", "content-length", "x-rhoconnect-client-id", "connection", "accept-encoding",
        "transfer-encoding",
    ]
    private static let reserved: Set<String> = ["object", "source_id", "update_type", "attrib_type", "set_notification", "clear_notification", "id"]

    func violations(of request: StrictServer.Request) -> [String] {
        var found: [String] = []
        let place = "\(request.method) \(request.path)"
        for name in request.headers.keys.sorted() where !Self.headers.contains(name) { found.append("\(place): header \(name)") }
        if let kind = request.headers["content-type"], !kind.hasPrefix("application/json"), !kind.hasPrefix("multipart/form-data") {
            found.append("\(place): content type \(kind)")
        }
        let isJSON = request.headers["content-type"]?.hasPrefix("application/json") == true
        if isJSON && request.json == nil { found.append("\(place): a body that is not JSON") }
        if !request.body.isEmpty && request.headers["content-type"] == nil { found.append("\(place): a body without a type") }
        let path =
            style == 4 ? request.path : request.path.hasPrefix("/application") ? String(request.path.dropFirst("/application".count)) : request.path
        switch (request.method, path) {
        case ("POST", "/rc/v1/app/login") where style == 4, ("POST", "/clientlogin") where style == 3: found += login(request, place)
        case ("GET", _) where path.hasPrefix("/data/") || path.hasPrefix("/files/"): break
        default:
            if request.headers["cookie"]?.hasPrefix("rhoconnect_session=") != true { found.append("\(place): no session") }
            found += style == 4 ? current(request, path, place) : older(request, path, place)
        }
        return found
    }

    private func login(_ request: StrictServer.Request, _ place: String) -> [String] {
        guard case .object(let members)? = request.json else { return ["\(place): no JSON"] }
        guard Set(members.map(\.key)).isSubset(of: ["login", "password", "remember_me"]) else { return ["\(place): unknown fields"] }
        return request.headers["cookie"] == nil ? [] : ["\(place): a session in a login"]
    }

    private func current(_ request: StrictServer.Request, _ path: String, _ place: String) -> [String] {
        let needsClient = path.hasPrefix("/app/v1/") || path.hasPrefix("/rc/v1/app/")
        var found = needsClient && request.headers["x-rhoconnect-client-id"] == nil ? ["\(place): no client id"] : []
        switch (request.method, path) {
        case ("POST", "/rc/v1/clients"): if !request.body.isEmpty { found.append("\(place): a body") }
        case ("POST", _) where path.hasPrefix("/rc/v1/clients/") && path.hasSuffix("/register"): found += strings(request.json, place)
        case ("POST", _) where path.hasPrefix("/rc/v1/clients/") && path.hasSuffix("/reset"): break
        case ("GET", _) where path.hasPrefix("/app/v1/"): found += paging(request, place, needsToken: true)
        case ("POST", _) where path.hasPrefix("/app/v1/"): found += upload(request, place)
        case ("POST", "/rc/v1/app/bulk_data"):
            if request.json?["partition"]?.string == nil { found.append("\(place): no partition") }
        case ("POST", _) where path.hasPrefix("/rc/v1/app/"):
            found += paging(request, place, needsToken: false)
            if request.json?["sources"] == nil { found.append("\(place): no sources") }
        default: found.append("\(place): no such call")
        }
        return found
    }

    private func older(_ request: StrictServer.Request, _ path: String, _ place: String) -> [String] {
        switch (request.method, path) {
        case ("GET", "/clientcreate"): return []
        case ("POST", "/clientregister"): return strings(request.json, place) + (request.json?["client_id"] == nil ? ["\(place): no client id"] : [])
        case ("GET", "/clientreset"): return request.query["client_id"] == nil ? ["\(place): no client id"] : []
        case ("GET", ""): return paging(request, place, needsToken: true) + (request.query["client_id"] == nil ? ["\(place): no client id"] : [])
        case ("POST", ""): return upload(request, place)
        case ("GET", "/search"): return paging(request, place, needsToken: false)
        case ("GET", "/bulk_data"): return request.query["partition"] == nil ? ["\(place): no partition"] : []
        default: return ["\(place): no such call"]
        }
    }

    private func paging(_ request: StrictServer.Request, _ place: String, needsToken: Bool) -> [String] {
        var found: [String] = []
        if request.query["version"] != "3" { found.append("\(place): version \(request.query["version"] ?? "missing")") }
        if Int(request.query["p_size"] ?? "") ?? 0 < 1 { found.append("\(place): page size \(request.query["p_size"] ?? "missing")") }
        if needsToken, request.query["token"]?.isEmpty ?? true { found.append("\(place): no token") }
        return found
    }

    private func strings(_ json: JSONValue?, _ place: String) -> [String] {
        guard case .object(let members)? = json else { return ["\(place): no JSON object"] }
        return members.filter { $0.value.string == nil }.map { "\(place): \($0.key) is not a string" }
    }

    private func upload(_ request: StrictServer.Request, _ place: String) -> [String] {
        var json = request.json
        if request.headers["content-type"]?.hasPrefix("multipart/") == true {
            json = Multipart(request)?["cud"].flatMap { try? JSONValue(parsing: $0.content) }
        }
        guard case .object(let members)? = json else { return ["\(place): no JSON object"] }
        var found = Set(members.map(\.key)).subtracting(["source_name", "client_id", "create", "update", "delete", "blob_fields"])
            .sorted().map { "\(place): field \($0)" }
        if members["source_name"]?.string == nil || members["client_id"]?.string == nil { found.append("\(place): no source or client") }
        for kind in ["create", "update", "delete"] {
            guard let value = members[kind] else { continue }
            guard case .object(let objects) = value, !objects.isEmpty else {
                found.append("\(place): an empty \(kind)")
                continue
            }
            for object in objects {
                guard case .object(let attributes) = object.value, !attributes.isEmpty else {
                    found.append("\(place): \(kind) of \(object.key) without attributes")
                    continue
                }
                found += attributes.filter { $0.value.string == nil }.map { "\(place): \($0.key) of \(object.key) is not a string" }
                found += attributes.filter { Self.reserved.contains($0.key) || $0.key.contains(":") }.map { "\(place): attribute \($0.key)" }
            }
        }
        return found
    }
}

/// The parts of a multipart body.
struct Multipart {
    struct Part {
        let name: String, filename: String?, contentType: String?
        let content: [UInt8]
    }
    let parts: [Part]

    init?(_ request: StrictServer.Request) {
        guard let boundary = request.headers["content-type"]?.text(after: "boundary=") else { return nil }
        let blank = [UInt8]("\r\n\r\n".utf8)
        parts = request.body.pieces(between: [UInt8](("--" + boundary).utf8)).dropFirst().dropLast().compactMap { piece in
            guard let end = piece.firstRange(of: blank) else { return nil }
            let head = String(decoding: piece[..<end.lowerBound], as: UTF8.self)
            return Part(
                name: head.text(after: "name=\"", to: "\"") ?? "", filename: head.text(after: "filename=\"", to: "\""),
                contentType: head.text(after: "Content-Type: "), content: Array(piece[end.upperBound...].dropLast(2)))
        }
    }

    subscript(name: String) -> Part? { parts.first { $0.name == name } }
}

extension String {
    fileprivate func text(after start: String, to end: Character = "\r\n") -> String? {
        firstRange(of: start).map { self[$0.upperBound...].prefix { $0 != end }.description }
    }
}

extension [UInt8] {
    fileprivate func pieces(between separator: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = [], rest = self[...]
        while let range = rest.firstRange(of: separator) {
            pieces.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return pieces + [rest]
    }
}
