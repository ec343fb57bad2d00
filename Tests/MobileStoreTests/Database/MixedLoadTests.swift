import Foundation
import MobileExecution
import MobileStore
import Synchronization
import TestSupport
import Testing

/// A mixed load: eight threads and some tasks write, import, read, page, observe, interrupt and read statistics at the same time.
/// `make soak` runs it for 60 seconds under the thread sanitizer (`SOAK_SECONDS=60` in the environment), the suite for some rounds.
@Suite struct MixedLoadTests {
    private static let threads = 8

    /// The end of the test: after some rounds, or after a time.
    private struct Limit: Sendable {
        private let deadline = TestSetting.number("SOAK_SECONDS").map { (seconds: Double) in ContinuousClock.now + .seconds(seconds) }

        func allows(_ round: Int) -> Bool { deadline.map { ContinuousClock.now < $0 } ?? (round < 25) }
    }

    /// The counters of all threads.
    private final class Tally: Sendable {
        let failures = SystemLock<[String]>([])
        let told = Atomic(0), written = Atomic(0)
    }

    /// Checks the rule of every snapshot: `total` has the number of rows of `item` and the sum of their amounts.
    private static func check(_ connection: Connection) throws {
        let row = try connection.first("SELECT rows, amount, (SELECT count(*) FROM item), (SELECT total(amount) FROM item) FROM total")
        guard let row, row[0] == row[2], row[1].real == row[3].real else { throw Inconsistent(description: "\(row ?? [])") }
    }

    private struct Inconsistent: Error, CustomStringConvertible { let description: String }

    private static func add(_ connection: Connection, _ thread: Int, _ round: Int) throws {
        try connection.execute("INSERT INTO item (amount, text) VALUES (?, ?), (1, 'x')", [.integer(Int64(round)), .text("thread \(thread)")])
        try connection.execute("DELETE FROM item WHERE id < (SELECT max(id) FROM item) - 2000")
        try connection.execute("UPDATE total SET rows = (SELECT count(*) FROM item), amount = (SELECT total(amount) FROM item)")
    }

    @Test func `eight threads do everything at once, and every state that anybody sees is whole`() async throws {
        let directory = try TemporaryDirectory()
        let database = try Database(
            directory.profile {
                $0.pageSize = 1024
                $0.cacheSize = .kilobytes(30)
                $0.checkpointPages = 100
                $0.maxConnections = 3
                $0.warning = { _ in }
            })
        try await database.write {
            _ = try $0.execute(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, amount, text); CREATE TABLE total (rows, amount); INSERT INTO total VALUES (0, 0)")
        }
        let limit = Limit(), tally = Tally()
        let observation = try database.observe(["item"]) { changes in
            if changes.mayChange("item") { tally.told.add(1, ordering: .relaxed) }
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<Self.threads {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            var round = 0
                            while limit.allows(round) {
                                do {
                                    if try Self.step(database, thread, round) { tally.written.add(1, ordering: .relaxed) }
                                } catch {
                                    tally.failures.withLock { $0.append("thread \(thread), round \(round): \(error)") }
                                }
                                round += 1
                            }
                            continuation.resume()
                        }
                    }
                }
            }
            for task in 0..<2 {
                group.addTask {
                    var round = 0
                    while limit.allows(round) {
                        do {
                            try await database.read(length: task == 0 ? .short : .long) { try Self.check($0) }
                            try await database.write { [round] in try Self.add($0, 100 + task, round) }
                            tally.written.add(1, ordering: .relaxed)
                        } catch {
                            tally.failures.withLock { $0.append("task \(task), round \(round): \(error)") }
                        }
                        round += 1
                    }
                }
            }
        }
        #expect(tally.failures.withLock { $0.prefix(5) } == [])
        #expect(tally.written.load(ordering: .relaxed) == tally.told.load(ordering: .relaxed))
        try await database.read { try Self.check($0) }
        #expect(try await database.read { try $0.first("PRAGMA integrity_check") } == ["ok"])
        let statistics = database.statistics
        #expect(statistics.waitingForReader == 0 && statistics.waitingForWriter == 0 && !statistics.isWriting)
        withExtendedLifetime(observation) {}
        try await database.close()
    }

    /// Does one piece of work. Returns whether it has committed changes of `item`.
    private static func step(_ database: Database, _ thread: Int, _ round: Int) throws -> Bool {
        switch (thread + round) % 8 {
        case 0, 1:
            try database.write(label: "small write") { try add($0, thread, round) }
            return true
        case 2:
            try database.write(label: "import") { connection in
                let importer = try connection.importer(into: "item", columns: ["amount", "text"], mode: .insert)
                try importer.push(Array("[[1, \"a\"], [2, \"b\"], [3, \"c\"]]".utf8))
                _ = try importer.finish()
                try add(connection, thread, round)
            }
            return true
        case 3:
            var pages = try database.pages("SELECT id, amount, text FROM item ORDER BY id", size: 50)
            var last: Int64 = -1
            while let page = try pages.next() {
                for row in page {
                    guard row.integer(0) > last else { throw Inconsistent(description: "\(row.integer(0)) behind \(last)") }
                    last = row.integer(0)
                }
            }
        case 4:
            let interruption = try Interruption()
            Thread.detachNewThread { interruption.interrupt() }
            do {
                try database.write(label: "interrupted write", interruption: interruption) { try add($0, thread, round) }
                return true
            } catch let error as StoreError where error.code == .interrupted {}
        case 5:
            _ = try database.observe { _ in }
            _ = database.connectionStatistics
            _ = database.statistics
        case 6:
            do { try database.read(timeout: .milliseconds(1)) { try check($0) } } catch let error as StoreError where error.code == .timeout {}
        default:
            try database.read { outer in
                try check(outer)
                try database.read { try check($0) }
            }
        }
        return false
    }
}
