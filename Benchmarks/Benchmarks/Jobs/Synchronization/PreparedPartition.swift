import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync

/// A server whose partition one device has synchronized already, and the same rows as a deflated file.
final class PreparedPartition {
    /// JSON arrays of rows, deflated at level 1, as a server sends them.
    let file: String
    private var running: ServerOfBenchmarks?

    static let rules: [String: JSONColumnRule] = {
        var rules = ItemTable.rules
        rules["id"] = JSONColumnRule(.integer, isNullable: false)
        return rules
    }()

    /// Returns the partition of a workspace; prepares it at the first call.
    static func of(_ workspace: Workspace, rows: Int, _ store: Workspace.Store = .sqlite) throws -> PreparedPartition {
        let place = Place(rows: rows, store: store)
        if let known = workspace.partitions[place] { return known }
        let made = try PreparedPartition(workspace, place)
        workspace.partitions[place] = made
        return made
    }

    struct Place: Hashable {
        let rows: Int
        let store: Workspace.Store
    }

    private init(_ workspace: Workspace, _ place: Place) throws {
        running = try workspace.server(rows: place.rows, place.store)
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

    /// The running server.
    func server() throws -> ServerOfBenchmarks {
        guard let running else { throw WrongResult("the server has been stopped") }
        return running
    }
}
