import Foundation
import MobileModel
import MobileServer

/// `mobile capture`: the trigger logs that tell a server which rows of a back end have changed.
enum CaptureCommand {
    static let summary = "installs and removes the logs of changed rows in back ends"
    static let usage = """
        usage: mobile capture install|remove|status --model FILE [--backend NAME=PLACE ...] [--apply yes]
               mobile capture prune --model FILE [--backend NAME=PLACE ...] [--days N]

          install                writes the SQL that installs the logs of the model's objects to the standard output, for the owner of the back end;
                                 with --apply yes it runs the SQL
          remove                 the same for their removal
          status                 lists the tables and whether their logs are complete; the status is 1 if one is not
          prune                  removes entries that are older than N days, default 7
          --model FILE           the package model (*.mbo.json); its objects with "changeDetection": "triggerLog" need logs
          --backend NAME=PLACE   the SQLite file or PostgreSQL database of a back end, over the path in the model, as for mobile serve

        Each insert, update and delete of a logged table writes the keys of its rows. The server then reads these rows only.
        """

    private struct Options {
        var model = ""
        var backEnds: [String: String] = [:]
        var isApplied = false
        var days: Int64 = 7
    }

    /// - Parameter arguments: the arguments after `capture`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        do {
            return try work(arguments.first ?? "", options(arguments.dropFirst()))
        } catch let error as UsageError {
            Terminal.refuse(error, of: "capture")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile capture: \(Terminal.words(for: error))")
            return 1
        }
    }

    private static func options(_ arguments: ArraySlice<String>) throws(UsageError) -> Options {
        var options = Options(), rest = arguments
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw UsageError(message: "capture: \(option) needs a value") }
            switch option {
            case "--model": options.model = value
            case "--backend":
                let parts = value.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { throw UsageError(message: "capture: --backend \"\(value)\" is not NAME=PLACE") }
                options.backEnds[String(parts[0])] = String(parts[1])
            case "--apply" where ["yes", "no"].contains(value): options.isApplied = value == "yes"
            case "--days":
                guard let days = Int64(value), (0...36_500).contains(days) else {
                    throw UsageError(message: "capture: --days \"\(value)\": use 0 to 36500")
                }
                options.days = days
            default: throw UsageError(message: "capture: \"\(option) \(value)\" is not an option")
            }
        }
        guard !options.model.isEmpty else { throw UsageError(message: "capture: name a model with --model") }
        return options
    }

    private static func work(_ command: String, _ options: Options) throws -> Int32 {
        guard ["install", "remove", "status", "prune"].contains(command) else {
            throw UsageError(message: "capture: say install, remove, status or prune")
        }
        let file = URL(fileURLWithPath: options.model)
        let capture = ChangeCapture(
            PackageDeployment(
                try PackageModel(contentsOf: file), backEnds: options.backEnds, directory: file.deletingLastPathComponent().path))
        switch command {
        case "install" where options.isApplied: try capture.install()
        case "install": show(try capture.installationScripts())
        case "remove" where options.isApplied: try capture.remove()
        case "remove": show(try capture.removalScripts())
        case "prune": print("\(try capture.prune(olderThan: .seconds(options.days * 86_400))) entries are removed")
        default:
            let tables = try capture.status()
            for line in Terminal.table(
                [["back end", "table", "log"]] + tables.map { [$0.backEnd, $0.table, $0.isInstalled ? "installed" : "missing"] })
            {
                print(line)
            }
            return tables.allSatisfy(\.isInstalled) ? 0 : 1
        }
        return 0
    }

    private static func show(_ scripts: [(backEnd: String, script: String)]) {
        for (backEnd, script) in scripts { print("-- back end \(backEnd)\n\(script)", terminator: "") }
    }
}
