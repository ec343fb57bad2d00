import Foundation
import MobileStore

/// The measurement of peak memory. It takes a separate process, because earlier work would hide the peak: the tool starts itself with
/// `--memory-of ID`, runs the subject once and prints the growth of the peak in bytes.
enum MemoryOfChild {
    static let option = "--memory-of"

    /// Runs the parent's half. Returns nil when the system does not report a process's peak.
    static func growth(of benchmark: Benchmark, isQuick: Bool) throws -> Int? {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        child.arguments = [option, benchmark.id] + (isQuick ? ["--quick"] : [])
        let output = Pipe()
        child.standardOutput = output
        try child.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        guard child.terminationStatus == 0 else {
            throw WrongResult("\(benchmark.id): the process that measures memory ended with status \(child.terminationStatus)")
        }
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Runs the child's half.
    static func run(_ benchmark: Benchmark, isQuick: Bool) throws {
        let workspace = try Workspace(isQuick: isQuick)
        defer { workspace.remove() }
        try benchmark.prepare?(workspace)
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident()
        var watch = Stopwatch()
        _ = try benchmark.subject.run(workspace, &watch)
        if let before, let peak = ProcessMemory.peak() { print(max(0, peak - before)) } else { print("unknown") }
    }
}
