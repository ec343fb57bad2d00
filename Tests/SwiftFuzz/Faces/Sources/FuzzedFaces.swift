internal import Foundation
internal import MobileCrypto
internal import MobileProtocol
internal import MobileServer
internal import MobileServerRhoConnect
internal import MobileServerWorklight
internal import MobileStore

/// A source whose objects are in memory, and are those of the beginning at the start of each input.
private final class MemorySource: RhoConnectAdapter, @unchecked Sendable {
    private let lock = NSLock()
    private var objects: [String: [String: String]] = [:]
    private var created = 0

    func reset() { lock.withLock { (objects, created) = (["1": ["name": "lamp", "owner": "2"], "2": ["name": "desk"]], 2) } }
    func query(user: String, parameters: [String: String]) throws -> [String: [String: String]] { lock.withLock { objects } }
    func search(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        lock.withLock { objects.filter { object in parameters.allSatisfy { object.value[$0.key] == $0.value } } }
    }
    func create(user: String, attributes: [String: String]) throws -> String? {
        lock.withLock {
            created += 1
            objects[String(created)] = attributes
            return String(created)
        }
    }
    func update(user: String, object: String, attributes: [String: String]) throws {
        if attributes["name"] == "refused" { throw RhoConnectAdapterError("refused") }
        lock.withLock { objects[object]?.merge(attributes) { $1 } }
    }
    func delete(user: String, object: String, attributes: [String: String]) throws { lock.withLock { objects[object] = nil } }
    func storeBlob(user: String, attribute: String, object: String, content: [UInt8]) throws -> String { "http://files/\(content.count)" }
}

/// Both faces over one file each, and the checks of their answers.
final class FuzzedFaces: @unchecked Sendable {
    private let server: MobileServer
    private let rhoConnect: RhoConnectServer
    private let worklight: WorklightServer
    private let source = MemorySource()
    private let box = LineBox()
    private var inputs = 0

    init() throws {
        let folder = ProcessInfo.processInfo.environment["SERVER_FUZZ_FOLDER"] ?? NSTemporaryDirectory() + "faces-fuzz-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/state-\(getpid())"
        var configuration = ServerConfiguration(cachePath: path + ".db", packages: [], users: ["kim": "p4ss"])
        configuration.passwordParameters = .init(n: 16)
        var item = RhoConnectSource("Item", adapter: source), fixed = RhoConnectSource("Fixed", adapter: source)
        (item.pollInterval, fixed.pollInterval) = (0, 0)
        fixed.schema = RhoConnectSchema(version: "1", "name", "owner")
        var rhoConfiguration = RhoConnectServer.Configuration()
        rhoConfiguration.administrationToken = "token"
        let authority = try WorklightCertificateAuthority(making: "Fuzzed", now: 1_795_000_000)
        let echo = WorklightProcedure { ["isSuccessful": true, "parameters": .array($0.parameters)] }
        let worklightConfiguration = WorklightConfiguration(
            context: "/Demo",
            applications: [
                WorklightApplication(id: "Demo", requiresDevice: false, userRealm: nil),
                WorklightApplication(id: "Proven", provisioning: WorklightProvisioning(authority)),
            ],
            adapters: [
                WorklightAdapter(
                    "Shop", procedures: ["echo": echo, "mine": WorklightProcedure(realm: "form") { _ in ["isSuccessful": true] }],
                    eventSources: ["news"])
            ],
            realms: [
                WorklightRealm(
                    "form", login: .form(page: { "<form action=\"j_security_check\">\($0)</form>" }) { _, password in password == "p4ss" ? [:] : nil }
                )
            ])
        let box = box
        configuration.log = { box.add($0) }
        server = try MobileServer(configuration)
        rhoConnect = try RhoConnectServer(server, sources: [item, fixed], configuration: rhoConfiguration)
        var state = ServerConfiguration(cachePath: path + "-worklight.db", packages: [], users: [:])
        state.log = configuration.log
        worklight = try WorklightServer(worklightConfiguration, state: state)
    }

    /// Sends the requests of an input, one client at each face, then checks that an honest client is served.
    func run(_ input: [UInt8]) throws {
        source.reset()
        var cookies: [Bool: [String: String]] = [:], known = FuzzRequest.Known()
        for part in input.split(separator: 0xFE, maxSplits: 20, omittingEmptySubsequences: true) {
            let request = FuzzRequest(part, known), isWorklight = request.path.hasPrefix("/Demo")
            let answer = try send(request.request(cookies: cookies[isWorklight] ?? [:]), isWorklight)
            for cookie in answer.cookies { cookies[isWorklight, default: [:]][cookie.name] = cookie.value }
            if let id = answer.clientID { known.client = id }
            if isWorklight {
                known.instance = answer.text(after: "\"WL-Instance-Id\":\"") ?? known.instance
                known.token = answer.text(after: "\"token\":\"") ?? known.token
            }
        }
        inputs += 1
        if inputs % 16 == 0 { try checkHonestClient() }
    }

    private struct Answer {
        let status: Int
        let body: [UInt8]
        let cookies: [(name: String, value: String)]
        /// The text between a mark of the body and the next quotation mark.
        func text(after mark: String) -> String? {
            let text = String(decoding: body, as: UTF8.self)
            guard let range = text.range(of: mark) else { return nil }
            return String(text[range.upperBound...].prefix { $0 != "\"" })
        }
        var clientID: String? {
            guard case .object(let members)? = try? JSONValue(parsing: body), case .object(let client)? = members["client"] else { return nil }
            return client["client_id"]?.string
        }
    }

    private func send(_ request: ServerRequest, _ isWorklight: Bool) throws -> Answer {
        box.clear()
        let response = isWorklight ? worklight.respond(to: request) : rhoConnect.respond(to: request)
        var body: [UInt8] = []
        switch response.body {
        case .bytes(let bytes): body = bytes
        case .stream(let length, let next):
            while let piece = try next() { body += piece }
            if let length, length != body.count { fatalError("\(request.path): a stream of \(length) bytes has \(body.count)") }
        default: break
        }
        guard (200..<600).contains(response.status) else { fatalError("\(request.path): status \(response.status)") }
        let text = String(decoding: body, as: UTF8.self)
        if response.status >= 500, text.contains("its log says why") {
            fatalError("\(request.method) \(request.path): \(box.all.last ?? "a 500 without a reason in the log")")
        }
        let cookies = response.headers.filter { $0.name.lowercased() == "set-cookie" }.compactMap { header -> (name: String, value: String)? in
            let parts = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        for header in response.headers where header.value.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\n" }) {
            fatalError("\(request.path): the field \(header.name) has a line break")
        }
        let isOpen = ["/rc/v1/app/login", "/application/clientlogin"].contains { request.path.hasSuffix($0) }
        if !isWorklight, request.headers["cookie"] == nil, response.status == 200, !isOpen, request.headers["x-rhoconnect-api-token"] != "token" {
            fatalError("\(request.method) \(request.path): 200 without a session")
        }
        // No input has a key, so none proves the name of a device.
        if isWorklight, text.contains("\"wl_deviceAutoProvisioningRealm\":{\"userId\"") { fatalError("\(request.path): a device without a key is accepted") }
        return Answer(status: response.status, body: body, cookies: cookies)
    }

    /// A client that follows the protocol gets all objects, regardless of what others have sent.
    private func checkHonestClient() throws {
        source.reset()
        let type = ["content-type": "application/json"]
        func call(_ method: String, _ path: String, _ query: [String: String] = [:], _ headers: [String: String], _ body: String = "") throws
            -> Answer
        {
            try send(
                ServerRequest(method: method, path: path, query: query, headers: type.merging(headers) { $1 }, body: Spool([UInt8](body.utf8))), false
            )
        }
        let login = try call("POST", "/rc/v1/app/login", [:], [:], #"{"login":"kim","password":"p4ss"}"#)
        guard login.status == 200, let cookie = login.cookies.first else { fatalError("an honest client is refused: \(login.status)") }
        let session = ["cookie": "\(cookie.name)=\(cookie.value)"]
        guard let id = try call("POST", "/rc/v1/clients", [:], session).clientID else { fatalError("an honest client gets no id") }
        let page = try call("GET", "/app/v1/Item", ["version": "3"], session.merging(["x-rhoconnect-client-id": id]) { $1 })
        let text = String(decoding: page.body, as: UTF8.self)
        guard page.status == 200, text.contains("lamp"), text.contains("desk") else { fatalError("an honest client gets \(page.status) \(text)") }
        let call = ServerRequest(
            method: "POST", path: "/Demo/apps/services/api/Demo/iOSnative/query",
            headers: ["content-type": "application/x-www-form-urlencoded", "x-wl-app-version": "1.0"],
            body: Spool([UInt8]("adapter=Shop&procedure=echo&parameters=%5B7%5D".utf8)))
        guard try [200, 401].contains(send(call, true).status) else { fatalError("an honest call is refused") }
    }
}

/// Lines of the log.
private final class LineBox: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    var all: [String] { lock.withLock { lines } }
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    func clear() { lock.withLock { lines = [] } }
}
