import MobileProtocol
import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing

/// A response of the face, checked against everything that a strict client of the platform needs.
struct StrictResponse {
    let status: Int
    let headers: [(name: String, value: String)]
    let bytes: [UInt8]
    /// The object of a JSON answer.
    let object: JSONObject?

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    subscript(name: String) -> JSONValue? { object?[name] }
    /// The challenges of a 401.
    var challenges: JSONObject? { status == 401 ? object?["challenges"]?.object : nil }
    /// The realms that the answer names as satisfied.
    var accepted: Set<String> { Set(object?["WL-Authentication-Success"]?.object?.keys ?? []) }
}

/// A client that sends what the test says, keeps cookies, and checks the form of every answer.
final class StrictClient {
    let face: WorklightServer
    var cookies: [String: String] = [:]
    /// The anti-XSRF value; nil: not sent.
    var instance: String?
    var version = "1.0"
    var root = "/Demo"
    var environment = "iOSnative"
    var application = "Demo"
    /// Further header fields of each request.
    var extra: [String: String] = [:]

    init(_ face: WorklightServer) { self.face = face }

    static func form(_ fields: [String: String]) -> [UInt8] {
        func encoded(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
        }
        return Array(fields.map { encoded($0.key) + "=" + encoded($0.value) }.joined(separator: "&").utf8)
    }

    /// Sends a request to the application.
    func send(
        _ name: String, _ fields: [String: String] = [:], answers: JSONValue? = nil, headers: [String: String] = [:], body: [UInt8]? = nil
    ) throws -> StrictResponse {
        var fields = fields
        fields["isAjaxRequest"] = "true"
        fields["x"] = "0.5"
        var all = ["x-requested-with": "XMLHttpRequest"]
        if let answers { all["authorization"] = answers.description }
        if let instance { all["wl-instance-id"] = instance }
        all.merge(headers) { $1 }
        let path = name.hasPrefix("/") ? root + name : "\(root)/apps/services/api/\(application)/\(environment)/\(name)"
        return try raw("POST", path, headers: all, body: body ?? Self.form(fields))
    }

    /// Sends any request.
    func raw(
        _ method: String, _ path: String, query: [String: String] = [:], headers: [String: String] = [:], body: [UInt8] = []
    ) throws -> StrictResponse {
        var all = ["x-wl-app-version": version, "content-type": "application/x-www-form-urlencoded; charset=UTF-8"]
        if !cookies.isEmpty { all["cookie"] = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        all.merge(extra) { $1 }
        all.merge(headers) { $1 }
        let request = ServerRequest(method: method, path: path, query: query, headers: all, remoteAddress: "127.0.0.1", body: Spool(body))
        return try check(face.respond(to: request), gzip: all["accept-encoding"]?.contains("gzip") == true)
    }

    /// Checks what holds for every answer.
    private func check(_ response: ServerResponse, gzip: Bool) throws -> StrictResponse {
        for (name, value) in response.headers where name == "Set-Cookie" {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            try #require(pair.count == 2)
            cookies[String(pair[0])] = String(pair[1])
        }
        var bytes: [UInt8] = []
        if case .bytes(let content) = response.body { bytes = content }
        let encodings = response.headers.filter { $0.name.lowercased() == "content-encoding" }.map(\.value)
        if encodings == ["gzip"] { bytes = try Gzip.inflate(bytes, maximumLength: 64 << 20) } else { #expect(encodings == []) }
        let type = response.headers.first { $0.name.lowercased() == "content-type" }?.value
        var object: JSONObject?
        if type == "application/json; charset=UTF-8" {
            let text = String(decoding: bytes, as: UTF8.self)
            try #require(text.hasPrefix("/*-secure-\n{") && text.hasSuffix("}*/"), "\(text.prefix(80))")
            // Duplicate members are refused here.
            let value = try JSONValue(parsing: Array(bytes[11..<bytes.count - 2]), maximumDepth: 256)
            let found: JSONObject = try #require(value.object)
            object = found
            #expect(response.headers.first { $0.name == "Cache-Control" }?.value.contains("no-cache") == true)
        }
        let scheme = response.headers.first { $0.name.lowercased() == "www-authenticate" }?.value
        if let scheme {
            #expect(scheme == "WL-Composite-Challenge")
            #expect(response.status == 401)
            #expect(object?["challenges"]?.object?.isEmpty == false)
        } else {
            #expect(response.status != 401)
        }
        if let failures = object?["WL-Authentication-Failure"] {
            #expect(response.status == 403)
            #expect(failures.object?.isEmpty == false)
        }
        if let isSuccessful = object?["isSuccessful"] { #expect(isSuccessful.boolean != nil) }
        #expect(!(300..<400).contains(response.status))
        return StrictResponse(status: response.status, headers: response.headers, bytes: bytes, object: object)
    }

    // MARK: Steps of a connect

    /// The answer of a device.
    func device(_ token: String?, id: String = "D-1", application: String? = nil, version: String? = nil, custom: JSONValue? = [:]) -> JSONValue {
        var answer: JSONObject = [
            "token": .string(token ?? ""), "app": ["id": .string(application ?? self.application), "version": .string(version ?? self.version)],
            "device": ["id": .string(id), "os": "8.1.2", "model": "iPhone7,2", "environment": "iOS"],
        ]
        answer["custom"] = custom
        return ["ID": .object(answer)]
    }

    /// Sends `init` until it is satisfied.
    @discardableResult
    func connect(device id: String = "D-1") throws -> StrictResponse {
        var response = try send("init", ["action": "test"])
        for _ in 0..<4 where response.status == 401 {
            var answers = JSONObject()
            for member in response.challenges ?? [:] {
                switch member.key {
                case "wl_antiXSRFRealm": instance = member.value["WL-Instance-Id"]?.string
                case "wl_deviceNoProvisioningRealm": answers[member.key] = device(member.value["token"]?.string, id: id)
                case "wl_remoteDisableRealm": answers[member.key] = member.value["messageId"]
                default: Issue.record("an unknown challenge \(member.key)")
                }
            }
            response = try send("init", ["action": "test"], answers: answers.isEmpty ? nil : .object(answers))
        }
        #expect(response.status == 200)
        return response
    }

    /// Calls a procedure.
    func call(
        _ procedure: String, _ parameters: String? = "[]", adapter: String = "Stock", fields: [String: String] = [:], headers: [String: String] = [:]
    ) throws -> StrictResponse {
        var all = fields
        all["adapter"] = adapter
        all["procedure"] = procedure
        all["parameters"] = parameters
        return try send("query", all, headers: headers)
    }

    /// Sends a login form.
    func login(_ user: String, _ password: String, path: String? = nil) throws -> StrictResponse {
        // No field of the SDK: old clients send none here.
        try raw(
            "POST", path ?? "\(root)/apps/services/api/\(application)/\(environment)/j_security_check",
            body: Self.form(["isAjaxRequest": "true", "j_username": user, "j_password": password]))
    }
}
