import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync

/// A server whose partition one device has synchronized already, and the same rows as a deflated file.
final class PreparedPartition {
    /// JSON arrays of rows, deflated at level 1, as a server sends them.
    let file: String
    private let folder: String
    private var running: ServerOfBenchmarks?

    static let rules: [String: JSONColumnRule] = {
        var rules = ItemTable.rules
        rules["id"] = JSONColumnRule(.integer, isNullable: false)
        return rules
    }()

    /// Returns the partition of a workspace; prepares it at the first call.
    static func of(_ workspace: Workspace, rows: Int) throws -> PreparedPartition {
        if let known = workspace.partitions[rows] { return known }
        let made = try PreparedPartition(workspace, rows: rows)
        workspace.partitions[rows] = made
        return made
    }

    private init(_ workspace: Workspace, rows: Int) throws {
        folder = try workspace.serverFolder(rows: rows)
        file = workspace.newFile("rows.deflated")
        let device = try BenchDevice(workspace, port: server().port)
        try device.package.synchronize()
        try device.package.closeConnection()
        try device.close()
        let database = try Database(ConnectionProfile(path: device.path))
        try Data().write(to: URL(fileURLWithPath: file))
        guard let output = FileHandle(forWritingAtPath: file) else { throw WrongResult("cannot write \(file)") }
        let types = BenchDevice.columns.map { Self.rules[$0]?.type ?? .any }
        try database.read { connection in
            let exporter = try connection.exporter(BenchDevice.rows, types: types), deflater = try Deflater(level: 1, capacity: 8 << 20)
            try deflater.begin()
            func write(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws {
                try output.write(contentsOf: Data(deflater.take(bytes, isLast: isLast)))
            }
            while let piece = try exporter.nextChunk() { try piece.withUnsafeBytes { try write($0, isLast: false) } }
            try write(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        }
        try output.close()
        try database.close()
        device.remove(from: workspace)
    }

    /// Ends the server, if it runs.
    func stop() {
        running?.stop()
        running = nil
    }

    /// The server, started at the first call.
    func server() throws -> ServerOfBenchmarks {
        if let running { return running }
        let server = try ServerOfBenchmarks(folder: folder)
        running = server
        return server
    }
}
