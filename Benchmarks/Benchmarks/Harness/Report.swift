import BenchmarkReferences
import Foundation
import MobileStore

/// The results as a table on the terminal and as JSON for other programs.
struct Report {
    let machine: Machine
    var measurements: [Measurement] = []

    static func header() -> String {
        let names = ["benchmark", "ratio", "limit", "threads", "subject", "reference", "rows/s", "MB/s", "memory"]
        return line(names) + "\n" + String(repeating: "-", count: 112)
    }

    static func row(_ measurement: Measurement) -> String {
        let benchmark = measurement.benchmark
        let seconds = measurement.subject.median_s
        return line([
            benchmark.id, String(format: "%.2f", measurement.ratio),
            (benchmark.limit.map { String(format: benchmark.isRate ? ">%.2f" : "%.2f", $0) } ?? "-") + (measurement.isMet ? "  " : " !"),
            "\(benchmark.subject.threads):\(benchmark.reference.threads)", milliseconds(seconds), milliseconds(measurement.reference.median_s),
            measurement.rowsPerSecond.map(grouped) ?? "-",
            measurement.outcome.bytes == 0 ? "-" : String(format: "%.0f", Double(measurement.outcome.bytes) / seconds / 1e6),
            memory(measurement),
        ])
    }

    /// The growth of the process that measures, and of its server where there is one.
    private static func memory(_ measurement: Measurement) -> String {
        let parts = [measurement.peakMemory, measurement.serverPeakMemory].compactMap { $0 }
        return parts.isEmpty ? "-" : parts.map { String(format: "%.1f", Double($0) / 1_048_576) }.joined(separator: "+") + " MB"
    }

    private static func line(_ columns: [String]) -> String {
        let id = columns[0], widths = [7, 8, 8, 12, 12, 13, 8, 11]
        return id.padding(toLength: max(32, id.count), withPad: " ", startingAt: 0)
            + zip(columns.dropFirst(), widths).map { text, width in String(repeating: " ", count: max(1, width - text.count)) + text }.joined()
    }

    private static func milliseconds(_ seconds: Double) -> String { String(format: "%.2f ms", seconds * 1000) }

    private static func grouped(_ number: Double) -> String {
        var digits = String(Int(number)), parts: [Substring] = []
        while digits.count > 3 {
            parts.insert(digits.suffix(3), at: 0)
            digits = String(digits.dropLast(3))
        }
        return ([Substring(digits)] + parts).joined(separator: ",")
    }

    /// Makes the machine-readable form, schema 1. Figures are in seconds and bytes.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Document(machine: machine, results: measurements.map(Document.Result.init)))
    }
}

/// The machine of the measurements.
struct Machine: Codable, Sendable {
    var cores = ProcessInfo.processInfo.activeProcessorCount
    var cpu = Machine.processor()
    var sqlite = String(cString: br_sqlite_version())
    #if compiler(>=6.4)
        var swift = "6.4 or later"
    #elseif compiler(>=6.3)
        var swift = "6.3"
    #else
        var swift = "6.2"
    #endif

    private static func processor() -> String {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return "unknown" }
        let model = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return model.flatMap { $0.split(separator: ":").last }.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }
}

/// The JSON document, with the names of its members.
private struct Document: Encodable {
    var schema = 1
    let machine: Machine
    let results: [Result]

    struct Reference: Encodable {
        let name: String
        let median_s, min_s, max_s: Double
    }

    struct Threads: Encodable {
        let subject, reference: Int
    }

    struct Units: Encodable {
        let rows_per_s: Double?
        let bytes_per_s: Double?
    }

    struct Result: Encodable {
        let id: String
        let ratio: Double
        let limit: Double?
        let met: Bool
        let subject: Times
        let reference: Reference
        let threads: Threads
        /// Always true: a benchmark whose result is wrong ends the run.
        let verified = true
        let peak_memory_bytes: Int?
        let server_peak_memory_bytes: Int?
        let memory_limit_bytes: Int?
        let units: Units
        let note: String?

        init(_ measurement: Measurement) {
            let seconds = measurement.subject.median_s
            id = measurement.benchmark.id
            ratio = measurement.ratio
            limit = measurement.benchmark.limit
            met = measurement.isMet
            subject = measurement.subject
            reference = Reference(
                name: measurement.benchmark.reference.name, median_s: measurement.reference.median_s, min_s: measurement.reference.min_s,
                max_s: measurement.reference.max_s)
            threads = Threads(subject: measurement.benchmark.subject.threads, reference: measurement.benchmark.reference.threads)
            peak_memory_bytes = measurement.peakMemory
            server_peak_memory_bytes = measurement.serverPeakMemory
            memory_limit_bytes = measurement.benchmark.memoryLimit
            units = Units(
                rows_per_s: measurement.rowsPerSecond,
                bytes_per_s: measurement.outcome.bytes == 0 ? nil : Double(measurement.outcome.bytes) / seconds)
            note = measurement.benchmark.note
        }
    }
}
