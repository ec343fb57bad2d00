import Foundation
import MobileProtocol
import MobileServer
import MobileStore

/// `mobile admin`: the administration of a server, on its cache, also while the server runs.
enum AdminCommand {
    static let summary = "manages users and devices of a server, cleans its log records, and reads logs and traces"
    static let usage = """
        usage: mobile admin --cache FILE|--store ADDRESS [--json] COMMAND

        \(AccountCommands.usage)
          logs                          the tables of log records, with their rows
          logs PACKAGE                  the newest log records of a package, such as CRM:1.0
          clean PACKAGE FROM TO         deletes the log records that were stored from one day to another (YYYY-MM-DD, UTC, both included)
          expire PACKAGE                deletes the uploaded log records that are older than any application needs them
          cleanup PACKAGE               removes deleted log records whose devices have followed
          get-trace APPLICATION DEVICE  asks a device for its performance log; it comes with the device's next synchronization
          domain-log [DEVICE]           prints what devices have sent
          traces [TRANSACTION]          lists the uploaded end-to-end traces; of one transaction, document and requests

        \(QuarantineCommand.usage)\(RestoreCommands.usage)
        \(WorklightCommands.usage)
        --json prints one JSON text for scripts in place of lines for people: a list of objects, the numbers of a cleaning, or {}. It may also be the last word.
        FILE or ADDRESS is the server's own database as for mobile serve; it may be in use. Cleaning goes in short transactions: synchronizations go through in between.
        """

    /// - Parameter arguments: the arguments after `admin`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        do {
            var arguments = arguments, isJSON = false
            // No name of a user, a role or a package is lost by it: the option is before the command, or its last word.
            if arguments.count > 2, arguments[2] == "--json" {
                (isJSON, _) = (true, arguments.remove(at: 2))
            } else if arguments.count > 3, arguments.last == "--json" {
                (isJSON, _) = (true, arguments.removeLast())
            }
            guard arguments.count >= 3, ["--cache", "--store"].contains(arguments[0]) else {
                throw UsageError(message: "admin: name the server's database with --cache or --store, and a command")
            }
            let command = arguments[2], values = Array(arguments.dropFirst(3))
            let action: (ServerConfiguration) throws -> AdminResult
            if command == "worklight" {
                let work = try WorklightCommands.work(values)
                action = { try WorklightCommands.run(work, $0) }
            } else {
                let work = try work(command, values)
                action = { try run(work, $0) }
            }
            let isFile = arguments[0] == "--cache"
            var configuration = ServerConfiguration(cachePath: isFile ? arguments[1] : "")
            if !isFile { configuration.storeAddress = arguments[1] }
            let result = try action(configuration)
            for line in isJSON ? [result.json.description] : result.lines { print(line) }
            return 0
        } catch let error as UsageError {
            Terminal.refuse(error, of: "admin")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile admin: \(Terminal.words(for: error))")
            return 1
        }
    }

    private static func run(_ work: (ServerAdministration) throws -> AdminResult, _ configuration: ServerConfiguration) throws -> AdminResult {
        let administration = try ServerAdministration(cacheOf: configuration)
        let outcome = Result { try work(administration) }
        try administration.close()
        return try outcome.get()
    }

    /// The action of a command; its arguments are checked before the cache is opened.
    private static func work(_ command: String, _ values: [String]) throws(UsageError) -> (ServerAdministration) throws -> AdminResult {
        switch (command, values.count) {
        case ("logs", 0):
            return {
                .table(
                    [("package", "package"), ("table", "table"), ("rows", "rows")],
                    try $0.logTables().map { [.text($0.package), .text($0.name), .number(Int64($0.rows))] })
            }
        case ("logs", 1): return { logs(try $0.logRecords(ofPackage: values[0])) }
        case ("clean", 3):
            let from = try day(values[1]), to = try day(values[2]).addingTimeInterval(86_400 - 0.001)
            return { deleted(try $0.cleanLogRecords(ofPackage: values[0], from: from, to: to)) }
        case ("expire", 1): return { deleted(try $0.applyLogRetention(ofPackage: values[0])) }
        case ("cleanup", 1):
            return {
                let count = try $0.removeDeletedLogRecords(ofPackage: values[0])
                return AdminResult(["\(count) log records are removed"], ["removed": .integer(Int64(count))])
            }
        case ("get-trace", 2):
            return {
                try $0.requestPerformanceLog(ofDevice: values[1], application: values[0])
                return AdminResult(["asked; see domain-log when the device has synchronized"], [:])
            }
        case ("domain-log", 0...1): return { domainLog(try $0.domainLog(ofDevice: values.first)) }
        case ("traces", 0): return { traces(try $0.traces()) }
        case ("traces", 1): return { documents(try $0.traces(transaction: values[0])) }
        default:
            if let work = try AccountCommands.work(command, values) { return work }
            if let work = try RestoreCommands.work(command, values) { return work }
            if let work = QuarantineCommand.work(command, values) { return work }
            throw UsageError(message: "admin: there is no command \"\(([command] + values).joined(separator: " ").prefix(80))\"")
        }
    }

    private static func deleted(_ count: Int) -> AdminResult {
        AdminResult(
            ["\(count) log records are deleted; devices follow with their next synchronization"], ["deleted": .integer(Int64(count))])
    }

    private static func logs(_ records: [ServerAdministration.LogRecord]) -> AdminResult {
        .lines(
            records.map(line),
            [
                "stored", "user", "client", "isFromClient", "isDeleted", "level", "code", "eisCode", "message", "component", "entityKey", "operation",
                "requestId", "timestamp",
            ],
            records.map { record in
                let entry = record.entry
                return [
                    .time(record.stored), .text(record.user), .text(record.client), .flag(record.isFromClient, ""), .flag(record.isDeleted, ""),
                    .text(String(describing: entry.level)), .number(Int64(entry.code)), .text(entry.eisCode), .text(entry.message),
                    .text(entry.component), .text(entry.entityKey), .text(entry.operation), .text(entry.requestId), .text(entry.timestamp),
                ]
            })
    }

    private static func domainLog(_ entries: [DomainLogEntry]) -> AdminResult {
        .lines(
            entries.map {
                LogSanitizer.escaped("\(time($0.received)) \($0.device) \($0.user) \($0.package)") + "\n"
                    + LogSanitizer.escaped($0.text, keepingLines: true)
            },
            ["received", "application", "device", "user", "package", "name", "text"],
            entries.map {
                [.time($0.received), .text($0.application), .text($0.device), .text($0.user), .text($0.package), .text($0.name), .text($0.text)]
            })
    }

    private static func traces(_ traces: [UploadedTrace]) -> AdminResult {
        .lines(
            traces.map {
                LogSanitizer.escaped("\($0.transaction) \(time($0.received)) \($0.device) \($0.user), \($0.requests.count) requests")
            },
            ["transaction", "received", "application", "device", "user", "requests"],
            traces.map {
                [
                    .text($0.transaction), .time($0.received), .text($0.application), .text($0.device), .text($0.user),
                    .number(Int64($0.requests.count)),
                ]
            })
    }

    private static func documents(_ traces: [UploadedTrace]) -> AdminResult {
        AdminResult(
            traces.flatMap { [LogSanitizer.escaped($0.document, keepingLines: true)] + $0.requests },
            .array(traces.map { ["document": .string($0.document), "requests": .array($0.requests.map { .string($0) })] }))
    }

    private static func line(_ record: ServerAdministration.LogRecord) -> String {
        // Devices have written most of the line, so it is escaped.
        LogSanitizer.escaped(
            "\(time(record.stored)) \(record.user) \(record.isFromClient ? "client" : "server")\(record.isDeleted ? " deleted" : ""): \(record.line)")
    }

    static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func day(_ text: String) throws(UsageError) -> Date {
        let style = Date.ISO8601FormatStyle().year().month().day()
        // The system accepts the 30th of February as a day in March.
        guard let date = try? Date(text, strategy: style), date.formatted(style) == text else {
            throw UsageError(message: "admin: \"\(text.prefix(80))\" is not a day: write YYYY-MM-DD")
        }
        return date
    }
}
