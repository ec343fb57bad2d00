import Foundation

/// The tool that was built with the tests.
enum Tool {
    static let executable = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("mobile")

    /// Runs it to its end.
    /// - Parameter input: its standard input; nil (default) for none.
    static func run(_ arguments: [String], input: Pipe? = nil) throws -> (status: Int32, output: String) {
        let process = Process(), output = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
