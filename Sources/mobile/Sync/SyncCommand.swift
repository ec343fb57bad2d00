import Foundation
import MobileExecution
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

/// `mobile sync`: what a device of a user gets from a server.
enum SyncCommand {
    static let summary = "synchronizes a scratch device, and shows what a device of a user gets"

    static let usage = """
        usage: mobile sync --server URL --model FILE --user NAME [--password-fd N] [--parameters OBJECT=JSON ...]
                           [--personalization JSON] [--groups NAME,...] [--keep FILE] [--json]

        \(ScratchDeviceArguments.usage)
          --keep FILE              keeps the database of the device in a file, which must not exist, for mobile inspect
          --json                   writes the figures as one JSON object

        The device registers, subscribes, synchronizes once, and is forgotten: no part of it stays on the server.
        """

    /// - Parameter arguments: the arguments after `sync`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        do {
            let (device, keep, isJSON) = try parse(arguments)
            let report = try synchronize(device, keep: keep)
            for line in isJSON ? [report.json.description] : report.lines { print(line) }
            return 0
        } catch let error as UsageError {
            Terminal.refuse(error, of: "sync")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile sync: \(Terminal.words(for: error))")
            return 1
        }
    }

    static func parse(_ arguments: [String]) throws(UsageError) -> (device: ScratchDeviceArguments, keep: String?, isJSON: Bool) {
        var device = ScratchDeviceArguments(), keep: String?, isJSON = false, rest = arguments[...]
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError(message: "sync: \"\(option)\" is not an option") }
            if option == "--json" {
                isJSON = true
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError(message: "sync: \(option) needs a value") }
            if option == "--keep" {
                keep = value
            } else if try !device.take(option, value, of: "sync") {
                throw UsageError(message: "sync: there is no option \(option)")
            }
        }
        try device.check("sync")
        return (device, keep, isJSON)
    }

    /// Synchronizes a scratch device once.
    /// - Parameter keep: the file for its database; nil: it is removed.
    static func synchronize(_ arguments: ScratchDeviceArguments, keep: String? = nil) throws -> SyncReport {
        if let keep, FileManager.default.fileExists(atPath: keep) { throw CommandFailure("the file \(keep) exists already") }
        let folder = keep.map { $0 + ".work" } ?? FileManager.default.temporaryDirectory.path + "/mobile-sync-\(UUID().uuidString)"
        let device = try ScratchDevice(arguments, arguments.packageModel(), folder: folder)
        defer { device.remove() }
        try device.register()
        try device.package.subscribe()
        let bar = SynchronizationBar("synchronize")
        defer { bar.finish() }
        let result = try device.package.synchronize(arguments.groups, listener: bar)
        try device.package.closeConnection()
        let report = try SyncReport(device.package.metadata.model, result, path: folder + "/package.db")
        if let keep {
            try FileManager.default.moveItem(atPath: folder + "/package.db", toPath: keep)
        }
        return report
    }
}

/// The figures of a synchronization, and the rows of each object.
struct SyncReport {
    private let package: String
    private let result: SynchronizationResult
    private let objects: [ClientDatabaseReport.Entity]

    /// - Parameters:
    ///   - model: the model of the package.
    ///   - path: the closed database of the device.
    init(_ model: PackageModel, _ result: SynchronizationResult, path: String) throws {
        (package, self.result) = ("\(model.name):\(model.version)", result)
        let names = Set(model.objects.filter { !$0.isLocal }.map(\.name))
        objects = try ClientDatabaseReport(path: path).entities.filter { names.contains($0.name) }
    }

    /// The report for people.
    var lines: [String] {
        let rows = Format.count(result.rowsImported, "row"), values = Format.count(result.largeValuesImported, "large value")
        return Terminal.table([["object", "rows"]] + objects.map { [$0.name, Format.count($0.rows)] }) + [
            "\(package): \(rows) and \(values) in \(Format.bytes(result.bytesReceived)), groups \(result.groups.joined(separator: ", "))",
            "network \(Format.time(result.networkDuration)), import \(Format.time(result.importDuration))",
        ]
    }

    /// The report for scripts: one object.
    var json: JSONValue {
        func milliseconds(_ duration: Duration) -> JSONValue { .integer(Int64(duration / .milliseconds(1))) }
        return [
            "package": .string(package), "groups": .array(result.groups.map { .string($0) }),
            "objects": .array(objects.map { ["object": .string($0.name), "rows": .integer(Int64($0.rows))] }),
            "rows": .integer(Int64(result.rowsImported)), "largeValues": .integer(Int64(result.largeValuesImported)),
            "bytesReceived": .integer(result.bytesReceived), "networkMilliseconds": milliseconds(result.networkDuration),
            "importMilliseconds": milliseconds(result.importDuration),
        ]
    }
}
