import Foundation
import MobileExecution
import MobileStore
import TestSupport
import Testing

/// Copies of databases in use.
@Suite struct BackupTests {
    private let directory: TemporaryDirectory
    private let database: Database
    private let copy: String

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        copy = directory.file("copy.db")
        try database.write { connection in
            try connection.execute("CREATE TABLE t(a, b)")
            for number in 0..<300 { try connection.execute("INSERT INTO t VALUES (?, zeroblob(2000))", [.integer(Int64(number))]) }
        }
    }

    private func count(_ path: String) throws -> Int64? {
        let database = try Database(ConnectionProfile(path: path))
        defer { try? database.close() }
        return try database.read { try $0.first("SELECT count(*) FROM t") }?[0].integer
    }

    @Test func `a copy has the state of its beginning, and reports its progress`() throws {
        var steps: [Database.BackupProgress] = []
        try database.backUp(to: copy, pagesPerStep: 10) { step in
            steps.append(step)
            return (try? database.write { try $0.execute("DELETE FROM t WHERE a = ?", [.integer(Int64(steps.count))]) }) != nil
        }
        #expect(try count(copy) == 300)
        #expect(steps.count > 5 && steps.last?.fraction == 1 && steps.map(\.fraction) == steps.map(\.fraction).sorted())
        #expect(try database.read { try $0.first("SELECT count(*) FROM t") } == [.integer(300 - Int64(steps.count))])
    }

    @Test func `the progress ends it, and so does an interruption`() throws {
        let cancelled = #expect(throws: StoreError.self) { try database.backUp(to: copy, pagesPerStep: 1) { $0.copiedPages < 3 } }
        #expect(cancelled?.code == .interrupted && cancelled?.message.contains("cancelled after 3 of ") == true)
        let interruption = try Interruption()
        let interrupted = #expect(throws: StoreError.self) {
            try database.backUp(to: copy, pagesPerStep: 1, interruption: interruption) { _ in
                interruption.interrupt()
                return true
            }
        }
        #expect(interrupted?.code == .interrupted)
        #expect(!FileManager.default.fileExists(atPath: copy) && !FileManager.default.fileExists(atPath: copy + ".part"))
        let pages = #expect(throws: StoreError.self) { try database.backUp(to: copy, pagesPerStep: 0) }
        #expect(pages?.code == .misuse)
    }

    @Test func `a task waits without a thread, and its cancellation ends the copy`() async throws {
        let steps = SystemLock(0)
        try await database.backUp(to: copy, pagesPerStep: 20) { _ in steps.withLock { $0 += 1 } }
        #expect(try count(copy) == 300 && steps.withLock { $0 } > 5)
        let task = SystemLock<Task<Void, any Error>?>(nil), second = directory.file("second.db")
        let running = Task { [database] in
            try await database.backUp(to: second, pagesPerStep: 1) { step in
                if step.copiedPages == 1 {
                    while task.withLock({ $0 }) == nil {}
                    task.withLock { $0?.cancel() }
                }
            }
        }
        task.withLock { $0 = running }
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(!FileManager.default.fileExists(atPath: second))
    }

    @Test func `a database in memory is saved to a file`() throws {
        let memory = try Database(.inMemory())
        try memory.write {
            try $0.execute("CREATE TABLE t(a)"); try $0.execute("INSERT INTO t VALUES (1), (2)")
        }
        try memory.backUp(to: copy)
        #expect(try count(copy) == 2)
    }
}
