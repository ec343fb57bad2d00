import Foundation
import MobileStore

/// `mobile inspect`: shows the contents of a client database, without its model and without a change.
enum Inspect {
    static let summary = "shows what is in a client database: objects, pending changes, outbox, settings, space"
    static let usage = """
        usage: mobile inspect [--pending] [--json] DATABASE
               mobile inspect --stats DATABASE

          --pending   each pending change with its values and the reason why it waits; large values by their length
          --json      one JSON text for scripts, in place of lines for people
          --stats     the settings in force, what reading all of it costs, and how full its pages are; of any SQLite database

        Opens the file for reading only. Pending changes: C created, U updated, D deleted, P parent of pending children.
        """

    static let run: @Sendable ([String]) -> Int32 = { arguments in
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        let options = Set(arguments.filter { $0.hasPrefix("-") }), names = arguments.filter { !$0.hasPrefix("-") }
        guard names.count == 1, let path = names.first, options == ["--stats"] || options.isSubset(of: ["--pending", "--json"]) else {
            Terminal.complain(usage)
            return Command.usageStatus
        }
        do {
            for line in try report(path, options) { print(line) }
            return 0
        } catch {
            Terminal.complain("mobile inspect: \(Terminal.words(for: error))")
            return 1
        }
    }

    private static func report(_ path: String, _ options: Set<String>) throws -> [String] {
        if options.contains("--stats") { return try TuningReport(path: path).lines }
        if options.contains("--pending") {
            let report = try PendingReport(path: path)
            return options.contains("--json") ? [report.json.description] : report.lines
        }
        let report = try ClientDatabaseReport(path: path)
        return options.contains("--json") ? [report.json.description] : report.lines
    }
}
