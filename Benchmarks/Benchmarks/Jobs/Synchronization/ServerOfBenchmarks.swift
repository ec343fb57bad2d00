import Foundation
import MobileCrypto
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport

/// A server in a process of its own, so that its memory and its threads are not those of the client: the tool starts itself with `--serve FOLDER`.
final class ServerOfBenchmarks {
    static let option = "--serve", settingsOption = "--serve-settings"

    /// The settings of one benchmark's server, apart from its folder.
    struct Settings: Codable {
        /// The objects of the synchronization group `boxes`; the others are in `default`.
        var boxes: [String] = []
        /// The address of the state in PostgreSQL; nil for the SQLite file `cache.db` in the folder.
        var store: String?
        /// Whether it speaks TLS.
        var isSecure = false
    }

    static let user = "bench", password = "bench"

    let port: Int
    let folder: String
    private let process = Process()
    private let input = Pipe()
    /// The database of its state, which ends with it; nil for a file.
    private let database: PostgreSQLTestDatabase?

    /// Starts a server over the back end `enterprise.db` in a folder.
    /// - Parameter database: the database of its state; nil (default) for a file in the folder.
    init(folder: String, _ settings: Settings = Settings(), database: PostgreSQLTestDatabase? = nil) throws {
        (self.folder, self.database) = (folder, database)
        var settings = settings
        settings.store = database?.configuration.address
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [Self.option, folder, Self.settingsOption, String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = output.fileHandleForReading.availableData
        guard let port = Int(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw WrongResult("the server of the benchmarks did not start")
        }
        self.port = port
    }

    deinit { stop() }

    /// The largest number of bytes that the server has occupied since its start; nil when the system does not report it.
    var peakMemory: Int? { ProcessMemory.peak(of: process.processIdentifier) }

    /// The number of bytes that the server occupies now.
    var memory: Int? { ProcessMemory.resident(of: process.processIdentifier) }

    /// The time that its threads have run on a processor.
    var processorTime: Duration { ProcessorTime.of(process.processIdentifier) }

    /// Ends the server, and waits for its end.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    static func backEnd(in folder: String) -> String { folder + "/enterprise.db" }

    /// Opens the back end of a folder as another application does.
    static func openBackEnd(in folder: String) throws -> Database { try Database(ConnectionProfile(path: backEnd(in: folder), journal: .unchanged)) }

    /// Forgets the cached rows of a server that does not run: its next first synchronization finds nothing prepared.
    static func removeState(in folder: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder + "/cache.db" + suffix) }
    }

    /// The package over the back end of a folder. Its objects find changes in the trigger log, if there is one.
    private static func deployment(folder: String, isLogged: Bool, boxes: [String] = []) -> PackageDeployment {
        var model = Bench.metadata.model
        if !boxes.isEmpty {
            model.synchronizationGroups = [SynchronizationGroupModel(name: "default"), SynchronizationGroupModel(name: "boxes")]
            model.objects = model.objects.map { object in
                var object = object
                object.synchronizationGroup = boxes.contains(object.name) ? "boxes" : "default"
                return object
            }
        }
        if isLogged {
            model.objects = model.objects.map { object in
                var object = object
                object.binding?.changeDetection = .triggerLog(tables: [])
                return object
            }
        }
        return PackageDeployment(model, backEnds: ["none": backEnd(in: folder)])
    }

    /// Installs the trigger log in the back end of a folder.
    static func installLog(folder: String) throws { try ChangeCapture(deployment(folder: folder, isLogged: true)).install() }

    /// Serves until the standard input ends.
    static func run(folder: String, _ settings: Settings) throws {
        let hasLog = try ChangeCapture(deployment(folder: folder, isLogged: true)).status().allSatisfy(\.isInstalled)
        let deployment = deployment(folder: folder, isLogged: hasLog, boxes: settings.boxes)
        var configuration = ServerConfiguration(cachePath: folder + "/cache.db", packages: [deployment], users: [user: password])
        configuration.log = { _ in }
        configuration.storeAddress = settings.store
        configuration.segmentDirectory = folder + "/segments"
        // Registrations are preparations: with the default, 1,800 devices of one benchmark would take four minutes.
        configuration.passwordParameters.n = 1024
        // All connections of a benchmark belong to one device.
        configuration.limits.listeningConnections = 12_000
        configuration.limits.listeningConnectionsPerUser = 12_000
        configuration.limits.listeningConnectionsPerDevice = 12_000
        var listener = HTTPServer.Configuration()
        listener.maximumConnections = 12_500
        if settings.isSecure { (listener.certificate, listener.privateKey) = (LoopbackCertificate.certificate, LoopbackCertificate.privateKey) }
        let server = try MobileServer(configuration), http = try HTTPServer(listener, serving: server)
        print(http.port)
        fflush(nil)
        _ = FileHandle.standardInput.readDataToEndOfFile()
        http.stop()
        try server.close()
    }
}

extension Workspace {
    /// The place of a server's state.
    enum Store: Hashable {
        case sqlite, postgreSQL

        /// The end of the ids of benchmarks.
        var suffix: String { self == .sqlite ? "" : ".postgresql" }
    }

    /// Starts a server over a back end of `rows` rows.
    func server(rows: Int, _ store: Store = .sqlite, folder: String? = nil) throws -> ServerOfBenchmarks {
        let database = store == .sqlite ? nil : try postgreSQL.get().database()
        return try ServerOfBenchmarks(folder: folder ?? serverFolder(rows: rows), database: database)
    }

    /// Makes a folder with a back end of `rows` rows, once, and returns a copy of it: a server's own.
    func serverFolder(rows: Int) throws -> String {
        let master = try file("enterprise-\(rows).db") { path in try Self.makeBackEnd(path, rows: rows, items: PagingBenchmarks.filledTable(self)) }
        let copy = newFile("server")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        try copyDatabase(master, to: ServerOfBenchmarks.backEnd(in: copy))
        return copy
    }

    /// The rows of R30, again and again under new keys.
    private static func makeBackEnd(_ path: String, rows: Int, items: String) throws {
        var profile = ConnectionProfile(path: path)
        profile.journal = .unchanged
        let database = try Database(profile)
        let columns = ItemTable.columns.dropFirst().joined(separator: ", ")
        _ = try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER, small INTEGER, price NUMERIC, rate NUMERIC, moment TEXT, flag INTEGER,
                    words3 TEXT, words8 TEXT, quoted TEXT, place TEXT, digest TEXT);
                CREATE TABLE box (id INTEGER PRIMARY KEY, name TEXT, city TEXT, open INTEGER);
                CREATE TABLE part (id INTEGER PRIMARY KEY, boxId INTEGER, name TEXT, quantity INTEGER, weight REAL, note TEXT);
                CREATE TABLE article (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                CREATE TABLE plain_article (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                """)
        }
        let source = try Database(ConnectionProfile(path: items))
        try database.write { connection in
            let insert = try connection.statement(
                "INSERT INTO item (id, \(columns)) VALUES (?1, ?2, ?3, ?4 / 100.0, ?5 / 1000000.0, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")
            var key: Int64 = 0
            while key < rows {
                var pages = try source.pages(ItemTable.select, size: 1000)
                while let page = try pages.next() {
                    for row in page where key < rows {
                        key += 1
                        _ = try insert.run([.integer(key)] + row.values.dropFirst())
                    }
                }
            }
        }
        try source.close()
        try database.close()
    }
}
