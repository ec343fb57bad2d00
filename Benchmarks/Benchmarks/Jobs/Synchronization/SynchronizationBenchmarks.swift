import BenchmarkReferences
import Foundation
import MobileObjects
import MobileStore
import MobileSync

/// Whole synchronizations over the loopback interface, with the server in a process of its own.
enum SynchronizationBenchmarks {
    static let all =
        [
            first("sync.first.100k", rows: 100_000, limit: 1.30, isCold: false),
            first("sync.first.100k.cold", rows: 100_000, limit: 2.5, isCold: true),
            first("sync.first.1m", rows: 1_000_000, limit: 1.40, isCold: false, memoryLimit: 24 << 20, serverMemoryLimit: 64 << 20),
            first("sync.first.100k", rows: 100_000, limit: nil, isCold: false, .postgreSQL),
            first("sync.first.100k.cold", rows: 100_000, limit: nil, isCold: true, .postgreSQL),
            empty(.sqlite), empty(.postgreSQL), replay(.sqlite), replay(.postgreSQL),
        ] + ChangeBenchmarks.all + ListeningBenchmarks.all + LoadBenchmarks.all

    // MARK: The first synchronization

    private static func first(
        _ id: String, rows count: Int, limit: Double?, isCold: Bool, _ store: Workspace.Store = .sqlite, memoryLimit: Int? = nil,
        serverMemoryLimit: Int? = nil
    ) -> Benchmark {
        let cache: ByteCount = memoryLimit == nil ? .megabytes(10) : .megabytes(1)
        @Sendable func rows(_ workspace: Workspace) -> Int { workspace.isQuick ? count / 10 : count }
        return Benchmark(
            id: id + store.suffix,
            shows:
                "the first synchronization of \(count) rows, \(isCold ? "by the first device of a partition" : "by the second device of a partition")",
            limit: limit, memoryLimit: memoryLimit, serverMemoryLimit: serverMemoryLimit, pairs: count > 100_000 ? 3 : nil,
            note: "from the request to the closed database; registration and subscription are not measured"
                + (memoryLimit == nil ? "" : "; cache 1 MB, memory map off"),
            prepare: { _ = try PreparedPartition.of($0, rows: rows($0), store) },
            reference: Side("import of the same deflated rows from a file", threads: 2) { workspace, watch in
                try importFile(PreparedPartition.of(workspace, rows: rows(workspace), store).file, cache, workspace, &watch)
            },
            subject: Side("synchronize() of a new device", threads: 2) { workspace, watch in
                let prepared = try PreparedPartition.of(workspace, rows: rows(workspace), store)
                let server: ServerOfBenchmarks
                if isCold {
                    server = try workspace.server(rows: rows(workspace), store)
                } else {
                    server = try prepared.server()
                }
                defer { if isCold { server.stop() } }
                let device = try BenchDevice(workspace, port: server.port, cache: cache)
                defer { device.remove(from: workspace) }
                let before = server.memory ?? 0
                let result = try watch.measure {
                    let result = try device.package.synchronize()
                    try device.package.closeConnection()
                    return result
                }
                try device.close()
                guard result.rowsImported == rows(workspace) else { throw WrongResult("\(id): \(result.rowsImported) rows received") }
                let contents = try TableContents(of: device.path, BenchDevice.contents)
                return Outcome(
                    rows: contents.rows, checksum: contents.checksum, bytes: Int(result.bytesReceived),
                    serverMemory: server.peakMemory.map { max(0, $0 - before) })
            })
    }

    /// Imports a file in chunks of 64 KB in one transaction, with the pending protection of a synchronization, and closes the database.
    private static func importFile(
        _ file: String, _ cache: ByteCount, _ workspace: Workspace, _ watch: inout Stopwatch
    ) throws -> Outcome {
        let path = workspace.newFile("import.db")
        defer { workspace.removeDatabase(path) }
        try Bench.open(ImportBenchmarks.profile(path, cache: cache)).closeConnection()
        let database = try Database(ImportBenchmarks.profile(path, cache: cache))
        guard let input = FileHandle(forReadingAtPath: file) else { throw WrongResult("there is no file \(file)") }
        defer { try? input.close() }
        try watch.measure {
            _ = try database.write { connection in
                var options = ImportOptions()
                options.keyColumns = ["_sk"]
                options.onInsert = [(column: "_rc", value: .integer(33_422_977))]
                options.pending = PendingRows.protection
                options.columnRules = PreparedPartition.rules
                options.threads = .on
                let importer = try connection.importer(into: "Item", columns: BenchDevice.columns, mode: .upsert, options: options)
                while let piece = try input.read(upToCount: 65_536), !piece.isEmpty { try piece.withUnsafeBytes { try importer.push($0) } }
                return try importer.finish()
            }
            try database.close()
        }
        let contents = try TableContents(of: path, BenchDevice.contents)
        return Outcome(rows: contents.rows, checksum: contents.checksum)
    }

    // MARK: Nothing to do

    private static let empties = 200

    private static func empty(_ store: Workspace.Store) -> Benchmark {
        Benchmark(
            id: "sync.empty" + store.suffix, shows: "\(empties) synchronizations with nothing to do", limit: store == .sqlite ? 3.0 : nil,
            countsRows: false,
            note: "the request of the reference is that of the subject, byte for byte, so the figure is the share of the client",
            prepare: { _ = try PreparedPartition.of($0, rows: 1000, store) },
            reference: Side("libcurl: the same request to the same server, kept alive") { workspace, watch in
                let recorder = RecordingTransport()
                let device = try BenchDevice(workspace, port: PreparedPartition.of(workspace, rows: 1000, store).server().port, transport: recorder)
                defer { device.remove(from: workspace) }
                try device.package.synchronize()
                try device.package.synchronize()
                let request = recorder.request
                let answers = try request.withCURL { client in
                    guard br_http_send(client, 1) == 1 else { throw WrongResult("libcurl: no answer from \(request.url)") }
                    return watch.measure { br_http_send(client, Int32(empties)) }
                }
                try device.package.closeConnection()
                try device.close()
                return Outcome(rows: Int64(answers), checksum: 0)
            },
            subject: Side("synchronize()", threads: 1) { workspace, watch in
                let prepared = try PreparedPartition.of(workspace, rows: 1000, store)
                let device = try BenchDevice(workspace, port: prepared.server().port)
                defer { device.remove(from: workspace) }
                try device.package.synchronize()
                var done: Int64 = 0
                try watch.measure {
                    for _ in 0..<empties where try device.package.synchronize().rowsImported == 0 { done += 1 }
                }
                try device.package.closeConnection()
                try device.close()
                return Outcome(rows: done, checksum: 0)
            })
    }

    // MARK: Replay

    private static let operations = 2000

    private static func replay(_ store: Workspace.Store) -> Benchmark {
        Benchmark(
            id: "sync.replay.2000" + store.suffix, shows: "2,000 pending updates, uploaded, replayed, settled", limit: store == .sqlite ? 3.0 : nil,
            pairs: 3,
            note: "each operation is a transaction of the back end on either side, and waits for the disk",
            reference: Side("the same statements on the back end in C, prepared once") { workspace, watch in
                let folder = try workspace.serverFolder(rows: 10_000), path = ServerOfBenchmarks.backEnd(in: folder)
                let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
                try watch.measure {
                    for key in 1...Int64(operations) {
                        try database.write { connection in
                            _ = try connection.execute("UPDATE item SET words3 = ?2 WHERE id = ?1", [.integer(key), .text(text(key))])
                        }
                    }
                    try database.close()
                }
                return try contents(of: path)
            },
            subject: Side("synchronize() with 2,000 pending operations") { workspace, watch in
                let folder = try workspace.serverFolder(rows: 10_000)
                let server = try workspace.server(rows: 10_000, store, folder: folder)
                defer { server.stop() }
                let device = try BenchDevice(workspace, port: server.port)
                defer { device.remove(from: workspace) }
                try device.package.synchronize()
                try device.package.transaction {
                    for key in 1...Int64(operations) {
                        guard let item = try Item.findByPrimaryKey(key, in: device.package) else { throw WrongResult("row \(key) is missing") }
                        item.words3 = text(key)
                        try item.update()
                        try item.submitPending()
                    }
                }
                let result = try watch.measure { try device.package.synchronize() }
                guard result.operationsAccepted == operations, try !device.package.hasPendingOperations() else {
                    throw WrongResult("sync.replay.2000: \(result.operationsAccepted) accepted")
                }
                try device.package.closeConnection()
                try device.close()
                return try contents(of: ServerOfBenchmarks.backEnd(in: folder))
            })
    }

    @Sendable private static func text(_ key: Int64) -> String { "changed for the \(key)th time" }

    private static func contents(of backEnd: String) throws -> Outcome {
        let contents = try TableContents(of: backEnd, "SELECT id, words3 FROM item ORDER BY id")
        return Outcome(rows: contents.rows, checksum: contents.checksum)
    }
}
