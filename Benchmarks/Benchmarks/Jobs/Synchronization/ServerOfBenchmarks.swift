import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore

/// A server in a process of its own, so that its memory and its threads are not those of the client: the tool starts itself with `--serve FOLDER`.
final class ServerOfBenchmarks {
    static let option = "--serve"
    static let user = "bench", password = "bench"

    let port: Int
    let folder: String
    private let process = Process()
    private let input = Pipe()

    /// Starts a server over the back end `enterprise.db` in a folder.
    init(folder: String) throws {
        self.folder = folder
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [Self.option, folder]
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

    /// Ends the server, and waits for its end.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    static func backEnd(in folder: String) -> String { folder + "/enterprise.db" }

    /// Forgets the cached rows of a server that does not run: its next first synchronization finds nothing prepared.
    static func removeState(in folder: String) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder + "/cache.db" + suffix) }
    }

    /// Serves until the standard input ends.
    static func run(folder: String) throws {
        let deployment = PackageDeployment(Bench.metadata.model, backEnds: ["none": backEnd(in: folder)])
        var configuration = ServerConfiguration(cachePath: folder + "/cache.db", packages: [deployment], users: [user: password])
        configuration.log = { _ in }
        let server = try MobileServer(configuration), http = try HTTPServer(serving: server)
        print(http.port)
        fflush(nil)
        _ = FileHandle.standardInput.readDataToEndOfFile()
        http.stop()
        try server.close()
    }
}

extension Workspace {
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
