import Foundation
import MobileExecution
import MobileStore
import TestSupport
import Testing

/// Waiting, cancelling and closing from Swift's side. The tests of the core cover the pool itself.
@Suite struct ConcurrencyTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { try $0.execute("CREATE TABLE t(a)") }
    }

    private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    /// Holds the writer on its own thread until `release` is called.
    private final class Holder: Sendable {
        private let isHeld = DispatchSemaphore(value: 0), mayEnd = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)

        init(_ database: Database, label: String = "") {
            Thread.detachNewThread { [self] in
                _ = try? database.write(label: label) { _ in
                    isHeld.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }
            isHeld.wait()
        }

        func release() {
            mayEnd.signal()
            hasEnded.wait()
        }
    }

    @Test func `a write that waits in vain says who is in the way, with and without a thread`() async throws {
        let holder = Holder(database, label: "a long import")
        let error = #expect(throws: StoreError.self) { try database.write(timeout: .milliseconds(10)) { _ in } }
        #expect(error?.code == .timeout)
        #expect(error?.message.contains("\"a long import\" has held it for") == true)
        let later = await #expect(throws: StoreError.self) { try await database.write(timeout: .milliseconds(10)) { _ in } }
        #expect(later?.code == .timeout)
        #expect(later?.message.contains("\"a long import\" has held it for") == true)
        holder.release()
        try await database.write(timeout: .zero) { _ in }
    }

    @Test(.timeLimit(.minutes(1))) func `each of many waits ends, also where its time is over before it begins`() async throws {
        let holder = Holder(database), database = database
        await withTaskGroup(of: StoreError.Code?.self) { group in
            for number in 0..<4000 {
                group.addTask {
                    do { try await database.write(timeout: .microseconds(number % 100)) { _ in } } catch { return (error as? StoreError)?.code }
                    return nil
                }
            }
            for await code in group { #expect(code == .timeout) }
        }
        holder.release()
        try await database.write { _ in }
    }

    @Test func `tasks that wait hold no cooperative thread`() async throws {
        let holder = Holder(database)
        let database = database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let value = Value.integer(Int64(number))
                    try await database.write { _ = try $0.execute("INSERT INTO t VALUES (?)", [value]) }
                }
            }
            // With a blocked thread per waiting task, no other task would ever run.
            #expect(try await database.read { try $0.first("SELECT count(*) FROM t") } == [0])
            await Task {}.value
            holder.release()
            try await group.waitForAll()
        }
        #expect(try await database.read { try $0.first("SELECT count(*) FROM t") } == [100])
    }

    @Test func `cancelling a task ends its wait`() async throws {
        let holder = Holder(database)
        let database = database
        let task = Task { try await database.write { _ in } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        holder.release()
    }

    @Test func `cancelling a task interrupts its work, which is rolled back`() async throws {
        let database = database
        let hasBegun = DispatchSemaphore(value: 0)
        let task = Task {
            try await database.write { connection in
                try connection.execute("INSERT INTO t VALUES (1)")
                hasBegun.signal()
                try connection.execute(Self.endless)
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                hasBegun.wait()
                continuation.resume()
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await database.read { try $0.first("SELECT count(*) FROM t") } == [0])
    }

    @Test func `another thread interrupts a read`() throws {
        let interruption = try Interruption()
        let error = #expect(throws: StoreError.self) {
            try database.read(interruption: interruption) { connection in
                Thread.detachNewThread { interruption.interrupt() }
                try connection.execute(Self.endless)
            }
        }
        #expect(error?.code == .interrupted)
        #expect(try database.read { try $0.first("SELECT 1") } == [1])
    }

    @Test func `readers go on while somebody writes`() throws {
        try database.write { writer in
            try writer.execute("INSERT INTO t VALUES (1)")
            let seen = SystemLock<[Value]?>(nil)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [database] in
                seen.withLock { $0 = try? database.read { try $0.first("SELECT count(*) FROM t") } }
                done.signal()
            }
            done.wait()
            #expect(seen.withLock { $0 } == [0])
        }
    }

    @Test func `close inside of a read is refused`() throws {
        try database.read { _ in
            let error = #expect(throws: StoreError.self) { try database.close() }
            #expect(error?.code == .misuse)
        }
        #expect(try database.read { try $0.first("SELECT 1") } == [1])
    }

    @Test func `a database is closed without a thread as well`() async throws {
        let database = database
        try await database.close()
        let error = await #expect(throws: StoreError.self) { try await database.read { _ in } }
        #expect(error?.code == .closed)
    }
}
