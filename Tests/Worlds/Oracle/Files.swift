internal import Foundation
internal import MobileObjects

/// The checks of the files: databases are whole, and nothing is left over.
extension Rig {
    func compareFiles() throws {
        for device in devices {
            let place = "device \(device.index)"
            try requireWhole(device.file, place)
            let downloads = (try? FileManager.default.contentsOfDirectory(atPath: device.file + "-download")) ?? []
            guard downloads.isEmpty else { throw failure(.leftOver, "\(place): files of downloads are left: \(downloads.sorted())") }
            guard world.features.contains(.largeValues) else { continue }
            // A transaction removes values that were not saved.
            try device.package.transaction {}
            let left = try SQLiteEnterprise(path: device.file, isReadOnly: true).orphanValues(world)
            guard left.isEmpty else { throw failure(.leftOver, "\(place): no row has the large values \(left)") }
        }
        if let state = (server as? ServerBench)?.stateFile { try requireWhole(state, "the state of the server") }
    }

    private func requireWhole(_ file: String, _ place: String) throws {
        let database = try SQLiteEnterprise(path: file, isReadOnly: true)
        let errors = try check(.damaged, place) { try database.rows("PRAGMA integrity_check") }
        guard errors == [["ok"]] else { throw failure(.damaged, "\(place): \(errors)") }
    }
}

extension SQLiteEnterprise {
    /// The ids of large values that are in no column of the database.
    fileprivate func orphanValues(_ world: World) throws -> [String] {
        let names = Set(
            world.objects.indices.flatMap { object in
                [1, 2].flatMap { version in
                    world.columns(object, version: version).filter { $0.type == .largeBinary }.map {
                        world.attribute(ofColumn: $0.name, object, version: version)
                    }
                }
            })
        var used: Set<String> = []
        let columns = try rows(
            """
            SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
            WHERE m.type = 'table' AND substr(m.name, 1, 4) <> '_mc_' ORDER BY 1, 2
            """)
        for line in columns {
            guard let table = line[0], let column = line[1], names.contains(column) else { continue }
            used.formUnion(try rows("SELECT \"\(column)\" FROM \"\(table)\" WHERE \"\(column)\" IS NOT NULL").compactMap { $0[0] })
        }
        return try rows("SELECT id FROM _mc_value WHERE state < 2 ORDER BY id").compactMap { $0[0] }.filter { !used.contains($0) }
    }
}
