import Foundation
import MobileModel
import MobileObjects
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// The end of `mobile serve` by signals.
@Suite struct ServeSignalTests {
    /// Starts a server; its standard error goes to a file.
    private func start(_ folder: TemporaryDirectory, _ arguments: [String]) throws -> (process: ChildProcess, port: UInt16) {
        let backEnd = folder.file("enterprise.db"), model = folder.file("crm.mbo.json")
        _ = try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try Data().write(to: URL(filePath: folder.file("log")))
        let process = ChildProcess(), output = Pipe()
        process.executableURL = Tool.executable
        process.arguments =
            ["serve", "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(backEnd)"] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: URL(filePath: folder.file("log")))
        try process.run()
        var line = ""
        while !line.contains("\n"), case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
            line += String(decoding: piece, as: UTF8.self)
        }
        let port = try #require(line.dropLast().split(separator: ":").last.flatMap { UInt16($0) }, "\(line)")
        return (process, port)
    }

    /// Waits for the end of a process, and kills it if it does not end.
    private func waitForExit(_ process: ChildProcess) throws {
        let hasEnded = eventually { !process.isRunning }
        if !hasEnded { process.signal(SIGKILL) }
        process.waitUntilExit()
        try #require(hasEnded)
    }

    /// Makes a client whose request is in progress: the server waits for its body.
    private func sender(_ port: UInt16) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        connection.send("POST /mobile/v1/messages HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(connection.status() == 100)
        return connection
    }

    @Test("a SIGTERM finishes the request in progress, and the process ends with status 0; its log is JSON")
    func drain() throws {
        let folder = try TemporaryDirectory()
        let (process, port) = try start(folder, ["--log-format", "json", "--drain-notice", "0", "--drain-time", "600"])
        let going = try sender(port)
        process.terminate()
        let isRefused = try eventually {
            let later = try RawConnection(port: port)
            later.send("GET /mobile/v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
            return later.status() == 503
        }
        #expect(isRefused)
        going.send("[]")
        #expect(going.receiveText()?.hasPrefix("HTTP/1.1 200 ") == true)
        try waitForExit(process)
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
        let log = try String(contentsOfFile: folder.file("log"), encoding: .utf8).split(separator: "\n")
        #expect(log.count == 3 && log.first?.contains("no users yet") == true, "\(log)")
        for line in log { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any], "\(line)") }
    }

    @Test("a second signal ends the process at once", arguments: [SIGTERM, SIGINT])
    func second(_ signal: Int32) throws {
        let folder = try TemporaryDirectory()
        let (process, port) = try start(folder, ["--drain-notice", "86400"])
        let going = try sender(port)
        process.terminate()
        #expect(try eventually { try String(contentsOfFile: folder.file("log"), encoding: .utf8).contains("draining") })
        process.signal(signal)
        try waitForExit(process)
        #expect(process.terminationReason == .exit && process.terminationStatus == 128 + signal)
        #expect(going.receiveAll() != nil)
    }

    @Test(
        "settings out of range are refused",
        arguments: [["--log-format", "xml"], ["--drain-time", "-1"], ["--drain-notice", "soon"], ["--synchronizations", "0"]])
    func arguments(_ option: [String]) throws {
        let answer = try Tool.run(["serve", "--model", "x", "--cache", "x.db"] + option)
        #expect(answer.status == 64 && answer.output.contains("\(option[0]) \"\(option[1])\": use "), "\(answer.output)")
    }
}
