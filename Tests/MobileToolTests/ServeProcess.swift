import Foundation
import TestSupport
import Testing

@testable import mobile

/// A process of `mobile serve` with a server and a face. Started again, both have the same ports.
final class ServeProcess {
    private let arguments: [String], face: String, password: String
    private var process = ChildProcess()
    /// The ports of the server and of its face.
    private(set) var ports: [UInt16] = []
    /// The lines that say where both listen.
    private(set) var text = ""

    /// - Parameters:
    ///   - arguments: those of `serve`, without ports and password.
    ///   - face: the option that sets the face's port.
    ///   - password: that of the user of the arguments.
    init(_ arguments: [String], face: String, password: String) { (self.arguments, self.face, self.password) = (arguments, face, password) }

    deinit {
        if process.isRunning { process.signal(SIGKILL) }
    }

    func start() throws {
        process = ChildProcess()
        let output = Pipe(), input = Pipe()
        process.executableURL = Tool.executable
        process.arguments = ["serve"] + arguments + ["--port", String(ports.first ?? 0), face, String(ports.last ?? 0), "--password-fd", "0"]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try input.fileHandleForWriting.write(contentsOf: Data((password + "\n").utf8))
        try process.run()
        try input.fileHandleForWriting.close()
        text = ""
        while text.filter({ $0 == "\n" }).count < 2, case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
            text += String(decoding: piece, as: UTF8.self)
        }
        ports = text.matches(of: /127\.0\.0\.1:(\d+)/).compactMap { UInt16($0.1) }
        try #require(ports.count == 2, "\(text)")
    }

    /// Sends the signal, and returns the process's status when it has ended.
    @discardableResult func stop(_ signal: Int32) -> Int32 {
        process.signal(signal)
        process.waitUntilExit()
        return process.terminationStatus
    }
}
