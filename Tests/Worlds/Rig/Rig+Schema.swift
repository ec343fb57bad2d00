internal import MobileObjects
internal import MobileSync

/// Changes of the back end's tables while devices work.
extension Rig {
    /// A column has another name for a moment, and devices submit meanwhile. Nothing may be refused for that.
    func renameColumn(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        guard !avoided.contains(.schemaChangeRejects) else { return nil }
        let object = picks.next(world.objects.count), columns = world.objects[object].attributes.indices.map { "a\($0)" }
        guard let column = picks.next(of: columns) else { return nil }
        meet(.renameColumn, object)
        let isNew = picks.isOne(of: 2)
        if let text = try local(device, { try self.change(isNew ? .create : .edit, device, &picks) }) { note("  \(text)") }
        for device in devices {
            try check(.localFailure, "submitting all") { try device.package.submitPendingOperations() }
            try noteOutbox(device)
        }
        let away = column + "_away"
        try enterprise.run(world.renaming(object, column, to: away, in: stores))
        var text = "\(World.table(object)).\(column)"
        for device in devices {
            do { try device.package.synchronize(nil) } catch { text += ", device \(device.index): \(error.code)" }
        }
        try enterprise.run(world.renaming(object, away, to: column, in: stores))
        for device in devices {
            try noteAnswers(device)
            try checkEdits(device)
        }
        return text
    }
}

extension World {
    /// Statements that rename a column. The ledger does without the column while it has another name.
    func renaming(_ object: Int, _ column: String, to name: String, in stores: Stores) -> String {
        let statement = "ALTER TABLE \(Self.table(object)) RENAME COLUMN \(column) TO \(name)"
        // SQLite changes its triggers itself.
        guard stores != .sqlite else { return statement }
        let hasColumn = allColumns(object).contains { $0.name == name }
        return statement + "; "
            + ledgerFunction(object, without: hasColumn ? nil : column).replacing("CREATE FUNCTION", with: "CREATE OR REPLACE FUNCTION")
    }
}
