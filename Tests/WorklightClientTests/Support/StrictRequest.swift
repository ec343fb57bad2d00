import MobileProtocol
import MobileServer
import MobileStore

/// A request as the strict server read it, with all that it has against it.
struct StrictRequest: Sendable {
    let method: String
    let path: String
    let headers: [String: String]
    /// The fields of the form, in order.
    private(set) var fields: [(name: String, value: String)] = []
    let body: [UInt8]
    /// The violations of the protocol.
    private(set) var violations: [String] = []

    static let root = "/Demo"
    static let application = root + "/apps/services/api/Demo/iOSnative/"

    /// The path below that of the application, such as `query`; otherwise the whole path.
    var name: String { path.hasPrefix(Self.application) ? String(path.dropFirst(Self.application.count)) : path }
    /// The value of a field; nil if there is none.
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    /// The cookies by name.
    var cookies: [String: String] {
        let pairs = (headers["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " }.split(separator: "=", maxSplits: 1) }
        return Dictionary(pairs.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil }, uniquingKeysWith: { $1 })
    }
    /// The answers to challenges; nil without the field.
    var answers: JSONObject? { headers["authorization"].flatMap { try? JSONValue(parsing: $0).object } }
    /// The parameters of a procedure.
    var parameters: [JSONValue]? { field("parameters").flatMap { try? JSONValue(parsing: $0).array } }

    init(_ request: ServerRequest) {
        method = request.method
        path = request.path
        headers = request.headers
        body = (try? request.body.remainingBytes(maximum: 8 << 20)) ?? []
        checkHeaders()
        if name == Self.root + "/apps/services/loguploader" {
            checkUpload()
        } else {
            readForm(request)
            checkFields()
        }
    }

    private mutating func require(_ condition: Bool, _ rule: String) {
        if !condition { violations.append("\(name): \(rule)") }
    }

    // MARK: Header

    private mutating func checkHeaders() {
        require(headers["x-wl-app-version"] == "1.0", "x-wl-app-version is \(headers["x-wl-app-version"] ?? "missing")")
        require(headers["user-agent"]?.contains("WLNativeAPI") == true, "the user agent does not name the interface")
        require(headers["accept-encoding"] == "gzip", "the encoding \(headers["accept-encoding"] ?? "") is offered")
        if isLoginForm || name.hasSuffix("loguploader") {
            require(headers["wl-instance-id"] == nil && headers["x-requested-with"] == nil && headers["authorization"] == nil, "a field of the SDK")
        } else {
            require(method == "POST", "the method is \(method)")
            require(headers["x-requested-with"] == "XMLHttpRequest", "X-Requested-With is \(headers["x-requested-with"] ?? "missing")")
        }
        // The server joins fields of one name with a comma.
        require(headers["wl-instance-id"]?.contains(",") != true, "WL-Instance-Id is there twice")
        guard let authorization = headers["authorization"] else { return }
        require(authorization.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "Authorization is not ASCII")
        require(answers != nil, "Authorization is not a JSON object: \(authorization.prefix(100))")
    }

    var isLoginForm: Bool { path.hasSuffix("j_security_check") }

    // MARK: Form

    private mutating func readForm(_ request: ServerRequest) {
        if method == "GET" {
            fields = request.query.map { ($0.key, $0.value) }
            return require(body.isEmpty, "a GET request with a body")
        }
        let type = headers["content-type"]?.lowercased() ?? ""
        require(
            ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8"].contains(type), "the content type is \(type)")
        for pair in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = pair.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]) else {
                require(false, "a field is not encoded: \(String(decoding: pair, as: UTF8.self))")
                continue
            }
            require(field(name) == nil, "field \(name) is there twice")
            fields.append((name, value))
        }
    }

    /// Decodes a name or a value; nil for bytes that must be encoded.
    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = [], rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case 0x21..<0x7F: bytes.append(byte)
            default: return nil
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The fields that each request may have, and must have.
    private static let allowed: [String: Set<String>] = [
        "init": ["action"], "query": ["adapter", "procedure", "parameters", "compressResponse"], "logactivity": ["activity"], "heartbeat": [],
        "authenticate": [], "logout": ["realm"], root + "/invoke": ["adapter", "procedure", "parameters", "compressResponse"],
    ]

    private mutating func checkFields() {
        require(field("isAjaxRequest") == "true", "isAjaxRequest is \(field("isAjaxRequest") ?? "missing")")
        guard !isLoginForm else { return require(field("x") == nil, "a login form has no x") }
        let digits = Array((field("x") ?? "").utf8.dropFirst(2))
        let isDecimal = !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        require(field("x")?.hasPrefix("0.") == true && isDecimal, "x is \(field("x") ?? "missing")")
        let own = Set(fields.map(\.name)).subtracting(["isAjaxRequest", "x"])
        if name == "notifications" { return checkNotifications(own) }
        guard let allowed = Self.allowed[name] else { return require(false, "there is no such path") }
        require(own == allowed, "the fields are \(own.sorted())")
        if name == "init" { require(field("action") == "test", "action is \(field("action") ?? "")") }
        if own.contains("parameters") { require(parameters != nil, "parameters is no JSON array: \(field("parameters") ?? "")") }
    }

    private mutating func checkNotifications(_ own: Set<String>) {
        if own == ["updateToken"] { return }
        let operation = own.contains("subscribe") ? "subscribe" : "unsubscribe"
        require(own == [operation, "alias", "adapter", "eventSource"], "the fields are \(own.sorted())")
        require(field(operation).flatMap { try? JSONValue(parsing: $0).object } != nil, "\(operation) is no JSON object")
    }

    private mutating func checkUpload() {
        require(headers["content-type"] == "application/json" && headers["content-encoding"] == "gzip", "the type of an upload")
        require(headers["x-wl-compressed"] == "true", "x-wl-compressed is missing")
        for name in ["deviceid", "appname", "appversion", "osversion", "env", "model"] {
            require(headers["x-wl-clientlog-" + name]?.isEmpty == false, "x-wl-clientlog-\(name) is missing")
        }
    }
}
