import Foundation
import TestSupport
import Testing

/// The tool that was built with the tests.
enum Tool {
    static let executable = Program.built("mobile")

    /// Runs the tool to its end.
    /// - Parameter input: its standard input; nil (default): no input.
    static func run(_ arguments: [String], input: Pipe? = nil) throws -> (status: Int32, output: String) {
        try Program.run(executable, arguments, input: input)
    }

    /// Runs the tool on a terminal to its end, which must be a success.
    /// - Parameters:
    ///   - question: text after whose output `answer` is typed; nil (default): nothing is typed.
    /// - Returns: everything that the terminal has shown.
    static func runOnTerminal(_ arguments: [String], answering question: String? = nil, with answer: String = "") throws -> String {
        // A function of <pty.h>, which Swift does not import.
        typealias OpenTerminal =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
            ) -> Int32
        let openTerminal = unsafeBitCast(try #require(dlsym(nil, "openpty")), to: OpenTerminal.self)
        var screen: Int32 = 0, descriptor: Int32 = 0
        try #require(openTerminal(&screen, &descriptor, nil, nil, nil) == 0)
        let shownScreen = screen
        defer { close(shownScreen) }
        let terminal = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let process = ChildProcess()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { $1 }
        process.standardInput = terminal
        process.standardOutput = terminal
        process.standardError = terminal
        try process.run()
        try terminal.close()
        var shown = ""
        if let question {
            while !shown.contains(question), let piece = read(from: screen) { shown += piece }
            let bytes = Array(answer.utf8)
            #expect(write(screen, bytes, bytes.count) == bytes.count)
        }
        while let piece = read(from: screen) { shown += piece }
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return shown
    }

    /// Reads the next output; nil when the other end is closed.
    private static func read(from descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
