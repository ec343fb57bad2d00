import BenchmarkReferences
import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport

/// A registered and subscribed device of the package `Bench`.
final class BenchDevice {
    let path: String
    let package: Bench
    private let application: Application

    /// Makes a device with an empty database, registered and subscribed.
    init(
        _ workspace: Workspace, port: Int, isSecure: Bool = false, cache: ByteCount = .megabytes(10), transport: any Transport = HTTPTransport()
    ) throws {
        path = workspace.newFile("device.db")
        application = try Application(identifier: "bench", profile: ConnectionProfile(path: path + ".application"), transport: transport)
        application.connectionProperties = ConnectionProperties(
            serverName: "127.0.0.1", portNumber: port, networkProtocol: isSecure ? .https : .http,
            loginCredentials: LoginCredentials(user: ServerOfBenchmarks.user, password: ServerOfBenchmarks.password))
        package = try Bench.open(ImportBenchmarks.profile(path, cache: cache))
        package.application = application
        try application.register(timeout: .seconds(60))
        try package.subscribe()
    }

    func close() throws {
        try application.stopConnection(timeout: .seconds(10))
        try application.close()
    }

    /// Removes the files of the closed device.
    func remove(from workspace: Workspace) { for file in [path, path + ".application"] { workspace.removeDatabase(file) } }

    /// The columns of a row as they travel.
    static let columns = ["_sk"] + Bench.itemColumns
    /// Reads the rows as they travel.
    static let rows = select(columns)
    /// Verifies a table of rows. Each server has surrogate keys of its own.
    static let contents = select(Bench.itemColumns)

    private static func select(_ columns: [String]) -> String {
        "SELECT \(columns.map { "\"\($0)\"" }.joined(separator: ", ")) FROM \"Item\" ORDER BY \"id\""
    }
}

/// Keeps the requests that it sends, with their bodies.
final class RecordingTransport: Transport {
    struct Recorded: Sendable {
        var method = "", url = ""
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
    }

    private let http: HTTPTransport
    private let sent = SystemLock<[Recorded]>([])

    /// - Parameter certificate: that of the server, as PEM.
    init(certificate: String? = nil) {
        var configuration = HTTPTransport.Configuration()
        configuration.trustedCertificates = certificate
        http = HTTPTransport(configuration)
    }

    /// The requests in the order of their beginnings.
    var requests: [Recorded] { sent.withLock { $0 } }
    /// The last of them.
    var request: Recorded { requests.last ?? Recorded() }

    func forget() { sent.withLock { $0 = [] } }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        var request = request, body: [UInt8] = []
        switch request.body {
        case .stream(_, let next): while let piece = try next() { body += piece }
        case .bytes(let bytes): body = bytes
        case .none, .file: break
        }
        request.body = .bytes(body)
        sent.withLock { $0.append(Recorded(method: request.method, url: request.url, headers: request.headers, body: body)) }
        return try http.send(request, receive: receive)
    }
}

extension Bench {
    fileprivate static let itemColumns = Item.metadata.attributes.map(\.name)
}

extension RecordingTransport.Recorded {
    /// Prepares the same request for libcurl alone.
    func withCURL<R>(_ work: (OpaquePointer) throws -> R) throws -> R {
        var message = CMessage()
        return try body.withUnsafeBytes { body in
            guard let client = br_http_open(url, body.baseAddress, body.count, &message.characters, CMessage.size) else {
                throw WrongResult("libcurl: \(message.text)")
            }
            defer { br_http_close(client) }
            for header in headers where !br_http_add_header(client, "\(header.name): \(header.value)") { throw WrongResult("libcurl: out of memory") }
            return try work(client)
        }
    }
}
