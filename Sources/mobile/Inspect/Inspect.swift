import Foundation
import MobileStore

/// `mobile inspect`: shows the contents of a client database, without its model and without a change.
enum Inspect {
    static let summary = "shows what is in a client database: objects, pending changes, outbox, settings, space"
    static let usage = """
        usage: mobile inspect [--stats] DATABASE

          --stats   the settings in force, what reading all of it costs, and how full its pages are; of any SQLite database

        Opens the file for reading only. Pending changes: C created, U updated, D deleted, P parent of pending children.
        """

    static let run: @Sendable ([String]) -> Int32 = { arguments in
        if arguments.contains("--help") {
            print(usage)
            return 0
        }
        let names = arguments.filter { $0 != "--stats" }
        guard names.count == 1, arguments.count <= 2, let path = names.first, !path.hasPrefix("-") else {
            Terminal.complain(usage)
            return Command.usageStatus
        }
        do {
            let lines = try arguments.count == 2 ? TuningReport(path: path).lines : ClientDatabaseReport(path: path).lines
            for line in lines { print(line) }
            return 0
        } catch {
            Terminal.complain("mobile inspect: \(message(of: error))")
            return 1
        }
    }

    private static func message(of error: any Error) -> String { (error as? StoreError)?.message ?? "\(error)" }
}
