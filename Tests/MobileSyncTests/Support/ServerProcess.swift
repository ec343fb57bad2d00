import Foundation
import MobileExecution
import MobileModel
import MobileObjects
import MobileTransport
import SampleCRM
import TestSupport

/// `mobile serve` as a process that can be started, killed, and started again over the same files.
final class ServerProcess: Sendable {
    private struct State {
        var process: ChildProcess?
        var port = 0
    }
    private let state = SystemLock(State())
    private let directory: TemporaryDirectory
    private let backEnd: String

    init(_ directory: TemporaryDirectory, backEnd: String) throws {
        self.directory = directory
        self.backEnd = backEnd
        try CRM.metadata.model.write(to: URL(fileURLWithPath: directory.file("crm.mbo.json")))
    }

    deinit { kill() }

    var port: Int { state.withLock { $0.port } }

    /// Starts the server on a free port and waits until it listens.
    func start() throws {
        let process = ChildProcess(), output = Pipe(), input = Pipe()
        process.executableURL = Program.built("mobile")
        process.arguments = [
            "serve", "--model", directory.file("crm.mbo.json"), "--backend", "enterprise=\(backEnd)", "--cache", directory.file("served.db"),
            "--user", TestBench.user, "--password-fd", "0",
        ]
        process.standardInput = input
        process.standardOutput = output
        // A file, because a reader of this process's own standard error would wait for the server as well.
        process.standardError = try Self.appending(to: directory.file("server.log"))
        try input.fileHandleForWriting.write(contentsOf: Data((TestBench.password + "\n").utf8))
        try process.run()
        try input.fileHandleForWriting.close()
        var line: [UInt8] = []
        while !line.contains(UInt8(ascii: "\n")) {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else {
                let messages = (try? String(contentsOfFile: directory.file("server.log"), encoding: .utf8)) ?? ""
                throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: messages])
            }
            line += piece
        }
        let text = String(decoding: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard let port = text.split(separator: ":").last.flatMap({ Int($0) }) else { throw CocoaError(.formatting) }
        state.withLock { state in
            state.process = process
            state.port = port
        }
    }

    /// Opens a file for messages, positioned at its end.
    static func appending(to path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        return file
    }

    /// Kills the server at any point of its work (SIGKILL), and waits until it is gone.
    func kill() {
        let process = state.withLock { state in
            defer { state.process = nil }
            return state.process
        }
        guard let process else { return }
        process.signal(SIGKILL)
        process.waitUntilExit()
    }
}

/// HTTP to the server's current port, because a restarted server has another one.
final class MovingTransport: Transport {
    private let http = HTTPTransport()
    private let port: @Sendable () -> Int

    init(port: @escaping @Sendable () -> Int) { self.port = port }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        var request = request
        var url = URLComponents(string: request.url)
        url?.host = "127.0.0.1"
        url?.port = port()
        request.url = url?.string ?? request.url
        return try http.send(request, receive: receive)
    }
}
