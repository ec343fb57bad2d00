import Foundation
import MobileCrypto
import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport

@testable import MobileServer

/// A server over its own back end, which a test can close and open again.
final class TestServer {
    let folder: TemporaryDirectory
    let model: PackageModel
    let backEndPath: String
    /// The database of the back end; nil for the file ``backEndPath``.
    let backEndDatabase: PostgreSQLTestDatabase?
    private(set) var server: MobileServer
    /// The database of the server's state; nil for the file `cache.db`.
    private var stateDatabase: PostgreSQLTestDatabase?
    private var savedStates: [String: PostgreSQLTestDatabase] = [:]
    private var savedBackEnds: [String: PostgreSQLTestDatabase] = [:]
    private var adjust: (inout ServerConfiguration) -> Void = { _ in }

    /// Opens a server. Trigger logs that the model needs are installed before.
    /// - Parameters:
    ///   - model: a package with one back end.
    ///   - tables: SQL that creates the back end; nil when the file already exists.
    ///   - postgreSQL: SQL that creates the same back end in PostgreSQL; nil where a test is about a file.
    ///   - kind: the engine of the back end.
    init(
        model: PackageModel, tables: String? = nil, postgreSQL: String? = nil, on kind: BackEndKind = .underTest, folder: TemporaryDirectory? = nil,
        adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        self.folder = try folder ?? TemporaryDirectory()
        self.model = model
        self.adjust = adjust
        backEndPath = self.folder.file("enterprise.db")
        backEndDatabase = kind == .postgreSQL ? try postgreSQL.map { try PostgreSQLTestDatabase(tables: $0) } : nil
        if let tables, backEndDatabase == nil {
            let database = try Database(ConnectionProfile(path: backEndPath, journal: .unchanged))
            try database.write { _ = try $0.execute(tables) }
            try database.close()
        }
        stateDatabase = try StoreUnderTest.database()
        let configuration = Self.configuration(model, self.folder, backEndDatabase?.address ?? backEndPath, stateDatabase, adjust)
        if tables != nil { for deployment in configuration.packages { try ChangeCapture(deployment).install() } }
        server = try MobileServer(configuration)
    }

    var configuration: ServerConfiguration {
        Self.configuration(model, folder, backEndDatabase?.address ?? backEndPath, stateDatabase, adjust)
    }

    private static func configuration(
        _ model: PackageModel, _ folder: TemporaryDirectory, _ backEnd: String, _ state: PostgreSQLTestDatabase?,
        _ adjust: (inout ServerConfiguration) -> Void
    ) -> ServerConfiguration {
        let deployment = PackageDeployment(model, backEnds: Dictionary(uniqueKeysWithValues: model.backEnds.map { ($0.name, backEnd) }))
        var configuration = ServerConfiguration(cachePath: folder.file("cache.db"), packages: [deployment], users: ["ada": "secret", "bob": "other"])
        configuration.storeAddress = state?.configuration.address
        configuration.keyRangeSize = 1000
        configuration.passwordParameters = .init(n: 16)
        adjust(&configuration)
        return configuration
    }

    var package: String { "\(model.name):\(model.version)" }

    /// The place of the back end, as a deployment names it.
    var backEndPlace: String { backEndDatabase?.address ?? backEndPath }

    /// Closes the server and opens it again on the same files.
    /// - Parameter change: changes the configuration for good.
    func restart(_ change: ((inout ServerConfiguration) -> Void)? = nil) throws {
        try server.close()
        if let change {
            adjust = { [adjust] in
                adjust(&$0)
                change(&$0)
            }
        }
        server = try MobileServer(configuration)
    }

    /// Opens the server again after the caller has closed it.
    func restartClosed() throws { server = try MobileServer(configuration) }

    /// Works on the server's state independently of the server.
    func state<R>(_ body: (any StateConnection) throws -> R) throws -> R {
        let store = try configuration.openStateStore(createsFile: false)
        defer { try? store.close() }
        return try store.write(label: "test", body)
    }

    /// Removes the closed server's state.
    func removeCache() throws {
        if stateDatabase != nil { stateDatabase = try StoreUnderTest.database() }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.file("cache.db") + suffix) }
    }

    /// Closes the server, removes its cache, and opens the server again.
    func loseCache() throws {
        try server.close()
        try removeCache()
        server = try MobileServer(configuration)
    }

    /// Restarts the server, and copies its cache while the server is closed.
    func saveCache(to path: String) throws {
        try server.close()
        if let stateDatabase {
            savedStates[path] = try PostgreSQLTestDatabase(copyOf: stateDatabase)
        } else {
            try FileManager.default.copyItem(atPath: folder.file("cache.db"), toPath: path)
        }
        server = try MobileServer(configuration)
    }

    /// Opens the server again on a saved cache.
    func reopen(withCache path: String) throws {
        try server.close()
        try removeCache()
        if let saved = savedStates[path] {
            stateDatabase = try PostgreSQLTestDatabase(copyOf: saved)
        } else {
            try FileManager.default.copyItem(atPath: path, toPath: folder.file("cache.db"))
        }
        server = try MobileServer(configuration)
    }

    /// Replaces the state's database by a saved one under the running server, as a failover does.
    func failOver(toCache path: String) throws {
        guard let stateDatabase, let saved = savedStates[path] else { return }
        try stateDatabase.replace(with: saved)
    }

    /// Restarts the server, and copies its back end while the server is closed.
    func saveBackEnd(to path: String) throws {
        try server.close()
        if let backEndDatabase {
            savedBackEnds[path] = try PostgreSQLTestDatabase(copyOf: backEndDatabase)
        } else {
            try FileManager.default.copyItem(atPath: backEndPath, toPath: path)
        }
        server = try MobileServer(configuration)
    }

    /// Opens the server again on a saved back end, which has the place of the present one.
    func reopen(withBackEnd path: String) throws {
        try server.close()
        if let saved = savedBackEnds[path] {
            try backEndDatabase?.replace(with: saved)
        } else {
            for suffix in ["", "-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: backEndPath + suffix) }
            try FileManager.default.copyItem(atPath: path, toPath: backEndPath)
        }
        server = try MobileServer(configuration)
    }

    /// Copies the back end's database under the running server.
    func copyBackEnd(to path: String) throws { savedBackEnds[path] = try backEndDatabase.map { try PostgreSQLTestDatabase(copyOfOpen: $0) } }

    /// Copies the state's database under the running server.
    func copyCache(to path: String) throws { savedStates[path] = try stateDatabase.map { try PostgreSQLTestDatabase(copyOfOpen: $0) } }

    /// Replaces the back end's database by a saved one under the running server, as a failover does.
    func failOver(toBackEnd path: String) throws {
        guard let saved = savedBackEnds[path] else { return }
        try backEndDatabase?.replace(with: saved)
    }

    /// Works on the back end independently of the server.
    @discardableResult
    func backEnd<R>(_ body: (TestBackEnd) throws -> R) throws -> R {
        if let backEndDatabase {
            return try backEndDatabase.connect().transaction { try body(TestBackEnd(PostgreSQLBackEndConnection(connection: $0))) }
        }
        var profile = ConnectionProfile(path: backEndPath, journal: .unchanged)
        profile.createsFile = false
        profile.foreignKeys = true
        let database = try Database(profile)
        let result = try database.write { try body(TestBackEnd(SQLiteBackEndConnection(connection: $0))) }
        try database.close()
        return result
    }

    /// Returns the first column of the first row of a query on the back end.
    func backEndValue(_ sql: String) throws -> Value? { try backEnd { try $0.first(sql)?[0] } }

    /// Sends messages and returns the answers.
    func send(_ messages: [Message], token: String? = nil) throws -> [Message] {
        let response = server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.messages, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:],
                body: Spool(Message.bytes(messages))))
        return try Message.messages(parsing: Self.bytes(of: response))
    }

    /// Returns all bytes of a response's body.
    static func bytes(of response: ServerResponse) throws -> [UInt8] {
        switch response.body {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(_, let next):
            var bytes: [UInt8] = []
            while let chunk = try next() { bytes += chunk }
            return bytes
        case .file(let file):
            var bytes: [UInt8] = []
            while let chunk = try file.nextChunk() { bytes += chunk }
            return bytes
        }
    }
}

extension RecordedLines {
    /// Returns a server's lines since the last call, without those about rejected operations.
    func takeWarnings() -> [String] { take().filter { !$0.contains("rejected:") } }
}
