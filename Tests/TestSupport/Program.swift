public import Foundation

/// Programs that tests run as separate processes.
public enum Program {
    /// A program of the package, which the build puts next to the tests.
    public static func built(_ name: String) -> URL {
        URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
    }

    /// Runs a program to its end.
    /// - Parameters:
    ///   - input: its standard input; nil (default) for none.
    ///   - configure: changes the process before it starts, for example its environment.
    /// - Returns: its status, and its standard output and standard error in one text.
    public static func run(
        _ program: URL, _ arguments: [String], input: Pipe? = nil, configure: (ChildProcess) -> Void = { _ in }
    ) throws -> (status: Int32, output: String) {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        configure(process)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
