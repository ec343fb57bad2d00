import Foundation
import MobileExecution

/// `mobile serve` in a separate process, which can be killed and started again on the same port.
final class ServerProcess {
    static let password = "offline-first"

    private let executable: URL
    private let arguments: [String]
    private let log: String
    private var process: Process?
    private(set) var port = 0

    /// - Parameters:
    ///   - arguments: the arguments after `serve`, without the port.
    ///   - log: the file for the server's error stream.
    init(arguments: [String], log: String, executable: URL? = Bundle.main.executableURL) throws {
        guard let executable else { throw DemoFailure("the path of this program is unknown, so it cannot start itself as server") }
        (self.arguments, self.log, self.executable) = (arguments, log, executable)
        try Data().write(to: URL(fileURLWithPath: log))
    }

    deinit { kill() }

    var processID: Int32? { process?.processIdentifier }

    /// Starts the server and waits until it listens: on any free port at first, on the same one later.
    /// - Throws: ``DemoFailure`` with the server's messages, if it ends instead.
    func start() throws {
        let child = Process()
        child.executableURL = executable
        child.arguments = ["serve"] + arguments + ["--port", String(port)]
        let output = Pipe()
        child.standardOutput = output
        let input = Pipe()
        child.standardInput = input
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try errors.seekToEnd()
        child.standardError = errors
        // The line for `--password-fd 0`. The pipe takes it at once, and before the other end can be closed.
        try input.fileHandleForWriting.write(contentsOf: Data((Self.password + "\n").utf8))
        try child.run()
        process = child
        try input.fileHandleForWriting.close()
        var text = ""
        // `read(upToCount:)` would wait for all of the bytes.
        while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
            if let found = Self.port(in: text) {
                port = found
                discard(output.fileHandleForReading)
                return
            }
        }
        child.waitUntilExit()
        let reason = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        throw DemoFailure("the server ended with status \(child.terminationStatus): \(reason)")
    }

    /// Reads later output to its end, so that the server never waits for a reader. Not by a `readabilityHandler`: Dispatch's event loop has used one after it
    /// was freed. If there is no thread, the server has the room of a pipe.
    private func discard(_ output: FileHandle) {
        _ = SystemThread.start { while !output.availableData.isEmpty {} }
    }

    /// Sends SIGKILL: the server cannot finish any work.
    func kill() {
        guard let child = process else { return }
        process = nil
        #if canImport(Glibc) || canImport(Darwin) || canImport(Musl)
            Foundation.kill(child.processIdentifier, SIGKILL)
        #endif
        child.waitUntilExit()
    }

    /// The number after the last colon of `serving CRM:1.0 at http://127.0.0.1:8090`, once the line is complete.
    static func port(in text: String) -> Int? {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() where line.contains(" http") {
            let digits = line.split(separator: ":").last?.prefix { $0.isNumber }
            if let port = digits.flatMap({ Int($0) }) { return port }
        }
        return nil
    }
}
