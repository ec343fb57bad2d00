import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

/// `mobile snapshot`: writes the database of a package with a user's rows, for devices to begin with.
enum SnapshotCommand {
    static let summary = "writes a client database with the rows of a user, which applications ship or fetch first"

    /// - Parameter arguments: the arguments after `snapshot`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(SnapshotArguments.usage)
            return 0
        }
        do {
            print(try write(SnapshotArguments(arguments)))
            return 0
        } catch let error as UsageError {
            Terminal.refuse(error, of: "snapshot")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile snapshot: \(Terminal.words(for: error))")
            return 1
        }
    }

    /// Synchronizes a database of its own, and writes its content without an owner.
    /// - Returns: a line about the snapshot.
    static func write(_ arguments: SnapshotArguments) throws -> String {
        guard !FileManager.default.fileExists(atPath: arguments.output) else { throw CommandFailure("the file \(arguments.output) exists already") }
        let model = try arguments.device.packageModel()
        // Next to the output, so that the finished file only gets its name.
        let device = try ScratchDevice(arguments.device, model, folder: arguments.output + ".work")
        defer { device.remove() }
        let package = device.package, folder = device.folder
        try device.register()
        try package.subscribe()
        let bar = SynchronizationBar("synchronize")
        defer { bar.finish() }
        let result = try package.synchronize(arguments.device.groups, listener: bar)
        try package.closeConnection()
        try FileManager.default.copyItem(atPath: folder + "/package.db", toPath: folder + "/snapshot.db")
        let snapshot = try PackageDatabase(model: model, profile: ConnectionProfile(path: folder + "/snapshot.db"))
        // It is a copy on purpose: no warning.
        snapshot.console.level = .error
        try snapshot.becomeSnapshot()
        try FileManager.default.moveItem(atPath: folder + "/snapshot.db", toPath: arguments.output)
        try package.unsubscribe()
        let size = try FileManager.default.attributesOfItem(atPath: arguments.output)[.size] as? NSNumber
        return "\(arguments.output): \(Format.count(result.rowsImported, "row")) and \(Format.count(result.largeValuesImported, "large value")) of "
            + "\(model.name):\(model.version), \(Format.bytes(size?.int64Value ?? 0))"
    }
}

/// The arguments after `mobile snapshot`.
struct SnapshotArguments {
    var device = ScratchDeviceArguments()
    var output = ""

    static let usage = """
        usage: mobile snapshot --server URL --model FILE --user NAME --out FILE [--password-fd N]
                               [--parameters OBJECT=JSON ...] [--personalization JSON] [--groups NAME,...]

        \(ScratchDeviceArguments.usage)
          --out FILE               the file to write, which must not exist

        An application puts the file at the path of its database before it opens it, registers, subscribes and synchronizes: only what changed since the
        snapshot travels. Each device that opens a copy becomes a client of its own. The file has the rows of its user: give it to no other user.
        """

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError(message: "snapshot: \"\(option)\" is not an option") }
            guard let value = rest.popFirst() else { throw UsageError(message: "snapshot: \(option) needs a value") }
            if option == "--out" {
                output = value
            } else if try !device.take(option, value, of: "snapshot") {
                throw UsageError(message: "snapshot: there is no option \(option)")
            }
        }
        try device.check("snapshot")
        if output.isEmpty { throw UsageError(message: "snapshot: --out is missing") }
    }
}
