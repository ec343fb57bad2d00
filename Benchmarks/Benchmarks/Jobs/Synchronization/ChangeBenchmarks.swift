import BenchmarkReferences
import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync

/// Changes in large partitions: work is proportional to what changed, with a trigger log in the back end; without one, a scan finds it.
enum ChangeBenchmarks {
    static let all = [
        oneChanged(.logged), oneChanged(.inPostgreSQL), oneChangedByDigest, listening(.logged), listening(.inPostgreSQL), listening(.compared),
        replayTouch, devices,
    ]

    /// The place of the server's state, and the way in which it finds changes.
    private struct Variant {
        let suffix: String
        var store = Workspace.Store.sqlite
        var isLogged = true

        static let logged = Variant(suffix: ""), inPostgreSQL = Variant(suffix: ".postgresql", store: .postgreSQL)
        static let compared = Variant(suffix: ".digest", isLogged: false)

        func partition(_ workspace: Workspace) throws -> ChangingPartition {
            try ChangingPartition.of(workspace, rows: workspace.isQuick ? 100_000 : 1_000_000, store, isLogged: isLogged)
        }
    }

    private static let changes = 20

    /// Changes a row as another application does.
    private static func change(_ database: Database, row key: Int64, _ text: String) throws {
        try database.write { connection in
            _ = try connection.execute("UPDATE item SET words3 = ?2 WHERE id = ?1", [.integer(key), .text(text)])
        }
    }

    private static func device(_ workspace: Workspace, _ server: ServerOfBenchmarks) throws -> BenchDevice {
        let device = try BenchDevice(workspace, port: server.port)
        try device.package.synchronize()
        return device
    }

    // MARK: One row

    private static func oneChanged(_ variant: Variant) -> Benchmark {
        Benchmark(
            id: "sync.one-changed.1m" + variant.suffix,
            shows: "one row changed in a partition of 1,000,000, found in the trigger log, and delivered to one device",
            limit: variant.store == .sqlite ? 3.0 : nil, countsRows: false, pairs: 3, note: "\(changes) times; the change itself is not measured",
            prepare: { _ = try variant.partition($0) },
            reference: Side("synchronize() with nothing to do, and two commits") { workspace, watch in
                let partition = try variant.partition(workspace)
                let device = try device(workspace, partition.server)
                defer { device.remove(from: workspace) }
                let path = workspace.newFile("commits.db"), database = try Database(ConnectionProfile(path: path))
                defer { workspace.removeDatabase(path) }
                try database.write { _ = try $0.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, words3 TEXT); INSERT INTO item VALUES (1, '')") }
                var done: Int64 = 0
                for number in 1...changes {
                    try watch.measure {
                        if try device.package.synchronize().rowsImported == 0 { done += 1 }
                        for part in 0..<2 { try change(database, row: 1, "commit \(number) \(part)") }
                    }
                }
                try database.close()
                try device.package.closeConnection()
                try device.close()
                return Outcome(rows: done, checksum: 0)
            },
            subject: synchronizing(variant))
    }

    private static func synchronizing(_ variant: Variant) -> Side {
        Side("synchronize() after the change") { workspace, watch in
            try afterChanges(variant, workspace) { device, key, text in try watch.measure { _ = try device.package.synchronize() } }
        }
    }

    /// Makes the changes one after the other, and calls `body` after each commit.
    private static func afterChanges(
        _ variant: Variant, _ workspace: Workspace, count: Int = changes, _ prepare: (BenchDevice, Database) throws -> Void = { _, _ in },
        _ body: (BenchDevice, _ key: Int64, _ text: String) throws -> Void
    ) throws -> Outcome {
        let partition = try variant.partition(workspace)
        let device = try device(workspace, partition.server), database = try ServerOfBenchmarks.openBackEnd(in: partition.folder)
        defer { device.remove(from: workspace) }
        try prepare(device, database)
        var done: Int64 = 0
        for number in 1...count {
            let key = Int64(number * 4999), text = "change \(UUID())"
            try change(database, row: key, text)
            try body(device, key, text)
            if try Item.findByPrimaryKey(key, in: device.package)?.words3 == text { done += 1 }
        }
        device.package.stopBackgroundSynchronization()
        try database.close()
        try device.package.closeConnection()
        try device.close()
        return Outcome(rows: done, checksum: 0)
    }

    // MARK: One row, without a log

    private static let scans = 3

    private static let oneChangedByDigest = Benchmark(
        id: "sync.one-changed.digest", shows: "one row changed in a partition of 1,000,000, found by sums over all rows, and delivered to one device",
        limit: 2.0, countsRows: false, pairs: 3, note: "\(scans) times, on a back end in SQLite without a log; the change itself is not measured",
        prepare: { _ = try Variant.compared.partition($0) },
        reference: Side("C loop that reads every column of the rows") { workspace, watch in
            let partition = try Variant.compared.partition(workspace), rows = workspace.isQuick ? 100_000 : 1_000_000
            let path = ServerOfBenchmarks.backEnd(in: partition.folder)
            var message = CMessage()
            guard let loop = br_keyset_open(path, 10_000_000, "SELECT * FROM item", &message.characters, CMessage.size) else {
                throw WrongResult("the C loop cannot read the back end: \(message.text)")
            }
            defer { br_keyset_close(loop) }
            var done: Int64 = 0
            for _ in 0..<scans {
                var found: Int64 = 0, sum: UInt64 = 0
                guard watch.measure({ br_keyset_all(loop, &found, &sum) }), found == rows, sum != 0 else {
                    throw WrongResult("sync.one-changed.digest: \(found) rows")
                }
                done += 1
            }
            return Outcome(rows: done, checksum: 0)
        },
        subject: Side("synchronize() after the change") { workspace, watch in
            try afterChanges(.compared, workspace, count: scans) { device, key, text in try watch.measure { _ = try device.package.synchronize() } }
        })

    private static func listening(_ variant: Variant) -> Benchmark {
        Benchmark(
            id: "sync.listening.1m" + variant.suffix,
            shows: "one row changed in a partition of 1,000,000: from its commit to the row on a listening device", limit: nil,
            countsRows: false, pairs: 3,
            note: "\(changes) times, \(variant.isLogged ? "with" : "without") a trigger log; the device is looked at every 0.5 ms",
            prepare: { _ = try variant.partition($0) }, reference: synchronizing(variant),
            subject: Side("until the row is there", threads: 2) { workspace, watch in
                try afterChanges(
                    variant, workspace,
                    { device, database in
                        var group = try device.package.synchronizationGroup(named: "default")
                        group.enableSIS = true
                        group.interval = .milliseconds(1)
                        try group.save()
                        device.package.startBackgroundSynchronization()
                        // A change that arrives shows that the device listens.
                        let text = "first \(UUID())"
                        try change(database, row: 1, text)
                        try wait(for: text, in: 1, device)
                    }, { device, key, text in try watch.measure { try wait(for: text, in: key, device) } })
            })
    }

    private static func wait(for text: String, in key: Int64, _ device: BenchDevice) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try Item.findByPrimaryKey(key, in: device.package)?.words3 != text {
            guard .now < deadline else { throw WrongResult("sync.listening: row \(key) has not arrived") }
            usleep(500)
        }
    }

    // MARK: Operations

    private static let operations: Int64 = 100

    private static func replay(_ workspace: Workspace, rows: Int, _ watch: inout Stopwatch) throws -> Outcome {
        let partition = try ChangingPartition.of(workspace, rows: rows), device = try device(workspace, partition.server)
        defer { device.remove(from: workspace) }
        let text = "\(UUID())"
        try device.package.transaction {
            for key in 1...operations {
                guard let item = try Item.findByPrimaryKey(key, in: device.package) else { throw WrongResult("row \(key) is missing") }
                item.words3 = "\(text) \(key)"
                try item.update()
                try item.submitPending()
            }
        }
        let result = try watch.measure { try device.package.synchronize() }
        guard result.operationsAccepted == operations else { throw WrongResult("sync.replay.touch: \(result.operationsAccepted) accepted") }
        var done: Int64 = 0
        for key in 1...operations where try Item.findByPrimaryKey(key, in: device.package)?.words3 == "\(text) \(key)" { done += 1 }
        try device.package.closeConnection()
        try device.close()
        return Outcome(rows: done, checksum: 0)
    }

    private static let replayTouch = Benchmark(
        id: "sync.replay.touch", shows: "\(operations) operations in a partition of 1,000,000 rows, replayed and their rows delivered", limit: 1.5,
        countsRows: false, pairs: 3, note: "with a trigger log on both sides",
        prepare: {
            for rows in [1000, $0.isQuick ? 100_000 : 1_000_000] { _ = try ChangingPartition.of($0, rows: rows) }
        },
        reference: Side("the same in a partition of 1,000 rows") { try replay($0, rows: 1000, &$1) },
        subject: Side("synchronize() with \(operations) pending operations") {
            try replay($0, rows: $0.isQuick ? 100_000 : 1_000_000, &$1)
        })

    // MARK: Devices

    private static let deviceCount = 100

    private static func synchronize(
        _ workspace: Workspace, _ watch: inout Stopwatch, _ work: ([BenchDevice], inout Stopwatch) throws -> Int64
    ) throws -> Outcome {
        let partition = try ChangingPartition.of(workspace, rows: 1000)
        let devices = try (0..<deviceCount).map { _ in try device(workspace, partition.server) }
        let done = try work(devices, &watch)
        for device in devices {
            try device.package.closeConnection()
            try device.close()
            device.remove(from: workspace)
        }
        return Outcome(rows: done, checksum: 0)
    }

    /// Synchronizes all devices, each on a thread of its own that waits for the start.
    private static func atOnce(_ devices: [BenchDevice], _ watch: inout Stopwatch) throws -> Int64 {
        let done = SystemLock<Int64>(0), ready = DispatchGroup(), ended = DispatchGroup(), start = DispatchSemaphore(value: 0)
        for index in devices.indices {
            // Each device is used by one thread.
            nonisolated(unsafe) let device = devices[index]
            ready.enter()
            ended.enter()
            Thread.detachNewThread {
                ready.leave()
                start.wait()
                if (try? device.package.synchronize()) != nil { done.withLock { $0 += 1 } }
                ended.leave()
            }
        }
        ready.wait()
        watch.measure {
            for _ in devices { start.signal() }
            ended.wait()
        }
        return done.withLock { $0 }
    }

    private static let devices = Benchmark(
        id: "sync.devices.100", shows: "synchronizations per second of \(deviceCount) devices at once", limit: 1.5, isRate: true, countsRows: false,
        note: "without changes; clients and server share the machine",
        prepare: { _ = try ChangingPartition.of($0, rows: 1000) },
        reference: Side("one device after the other") { workspace, watch in
            try synchronize(workspace, &watch) { devices, watch in
                try watch.measure { for device in devices { try device.package.synchronize() } }
                return Int64(devices.count)
            }
        },
        subject: Side("all devices at once", threads: 2) { try synchronize($0, &$1, atOnce) })
}

/// A running server over a back end that other applications change.
final class ChangingPartition {
    let folder: String
    let server: ServerOfBenchmarks

    /// Returns the partition of a workspace; prepares it at the first call.
    /// - Parameter isLogged: whether the back end has a trigger log.
    static func of(_ workspace: Workspace, rows: Int, _ store: Workspace.Store = .sqlite, isLogged: Bool = true) throws -> ChangingPartition {
        let place = Place(rows: rows, store: store, isLogged: isLogged)
        if let known = workspace.changingPartitions[place] { return known }
        let made = try ChangingPartition(workspace, place)
        workspace.changingPartitions[place] = made
        return made
    }

    struct Place: Hashable {
        let rows: Int
        let store: Workspace.Store
        let isLogged: Bool
    }

    private init(_ workspace: Workspace, _ place: Place) throws {
        folder = try workspace.serverFolder(rows: place.rows)
        if place.isLogged { try ServerOfBenchmarks.installLog(folder: folder) }
        server = try workspace.server(rows: place.rows, place.store, folder: folder)
    }
}
