import Foundation
import TestSupport
import Testing

/// Processes that receive SIGKILL while they write through the coalescing layer, which a pool uses by default.
/// `make soak` kills 200 of them (`KILL_ROUNDS=200` in the environment).
@Suite struct KilledWriterTests {
    private var rounds: Int { TestSetting.number("KILL_ROUNDS") ?? 10 }

    @Test func `a writer that is killed loses no committed transaction, and another process never reads a part of one`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("killed.db")
        var random = SeededGenerator(seed: 11)
        var reader: Child?
        var last: Int64 = -1
        for round in 0..<rounds {
            let writer = try Child(["write", path])
            // The kill hits any moment of the transactions after the last awaited one.
            for _ in 0..<Int.random(in: 1...8, using: &random) { last = try #require(writer.nextLine().flatMap { Int64($0) }) }
            if reader == nil { reader = try Child(["read", path]) }
            writer.kill()
            last = writer.remainingLines().last.flatMap { Int64($0) } ?? last

            let database = try SQLiteHandle(path)
            // The reader may be recovering the log.
            _ = try database.first("PRAGMA busy_timeout = 30000")
            let batch = try #require(try database.first("SELECT batch FROM counter").first.flatMap { Int64($0) })
            #expect(batch == last || batch == last + 1, "round \(round): \(last) was acknowledged, \(batch) is there")
            #expect(try database.first("PRAGMA integrity_check") == ["ok"], "round \(round)")
            #expect(
                try database.first("SELECT count(*), ifnull(sum(length(payload)), 0) FROM item") == database.first("SELECT rows, bytes FROM counter"))
            database.close()
        }
        let (status, words) = try #require(reader).end()
        #expect(status == 0, "\(words)")
        #expect(words.last.flatMap { Int($0) } ?? 0 > 0, "the reader must have read, or it shows nothing")
    }
}

/// A run of `killed-process`, which is built with the tests.
private final class Child {
    private let process = ChildProcess(), input = Pipe(), output = Pipe()
    private var received = Data()

    init(_ arguments: [String]) throws {
        process.executableURL = Program.built("killed-process")
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { if process.isRunning { kill() } }

    /// Returns the next line of its output; `nil` when it has ended.
    func nextLine() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[received.startIndex..<end], as: UTF8.self)
                received.removeSubrange(received.startIndex...end)
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            received += more
        }
    }

    func remainingLines() -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        return lines
    }

    func kill() {
        process.signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Waits until it ends by itself.
    func end() -> (status: Int32, lines: [String]) {
        try? input.fileHandleForWriting.close()
        let lines = remainingLines()
        process.waitUntilExit()
        return (process.terminationStatus, lines)
    }
}
