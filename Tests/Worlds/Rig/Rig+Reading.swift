internal import MobileObjects
internal import MobileSync

/// Objects in memory, pages while rows change, and the change log.
extension Rig {
    /// Changes an object in memory, and reads it again: it is as it was.
    func refresh(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try device.shown()
        guard let row = picks.next(of: shown), let draft = try draft(picks.isOne(of: 2) ? .edit : .setReference, row, device, shown, &picks) else {
            return nil
        }
        meet(.refresh, row.object)
        // A large value is written before its row is saved, and has to be given back.
        try check(.localFailure, "refresh of \(row.tag)") { try draft.entity.refresh() }
        guard try device.shown() == shown, try device.shown(draft.entity, row.object) == row else {
            throw failure(.wrongValue, "device \(device.index): \(row.tag) was read again, and is not what it was")
        }
        return draft.text
    }

    /// Reads the rows of an object a page at a time, while they change. Rows that stay come once.
    func page(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let object = picks.next(world.objects.count), rows = try device.shown().filter { $0.object == object }, before = rows.map(\.tag)
        guard before.count > 2 else { return nil }
        meet(.page, object)
        let entity = try device.package.entity(World.name(object)), sorted = Query().sorted(by: .ascending("tag"))
        let cursor = try entity.cursor(sorted, pageSize: 2, readsAhead: picks.isOne(of: 2)), list = try entity.list(sorted, pageSize: 2)
        func next() throws -> String? { try cursor.nextObject()?.value("tag").description }
        var seen = [try next(), try next()].compactMap { $0 }
        _ = try list[1].value("tag")
        let kind = [Step.Kind.create, .edit, .delete, .synchronize][picks.next(4)]
        let change =
            if kind == .synchronize {
                try synchronize(device, nil, nil)
            } else {
                try local(device) { try self.change(kind, device, &picks) }
            }
        try check(.localFailure, "the next pages of \(World.name(object))") { while let tag = try next() { seen.append(tag) } }
        let present = try device.shown().filter { $0.object == object }, after = present.map(\.tag), staying = Set(before).intersection(after)
        // A row that comes again with another surrogate key, because the server has lost its state, is another row for a cursor.
        let renamed = Set(present.filter { row in rows.contains { $0.tag == row.tag && $0.surrogateKey != row.surrogateKey } }.map(\.tag))
        seen = seen.reduce(into: []) { seen, tag in if seen.last != tag || !renamed.contains(tag) { seen.append(tag) } }
        guard seen == seen.sorted(), Set(seen).count == seen.count, staying.isSubset(of: seen), Set(seen).isSubset(of: before + after) else {
            throw failure(.wrongQuery, "device \(device.index): a cursor found \(seen) while \(before) became \(after)")
        }
        let listed = try (0..<(try list.count())).map { try list[$0].value("tag").description }
        guard listed == after.sorted() else {
            throw failure(.wrongQuery, "device \(device.index): a list has \(listed) after \(before) became \(after)")
        }
        return "device \(device.index): \(World.name(object)), \(change ?? "nothing")"
    }

    /// Synchronizes or submits while the disk of the device is full.
    func fillDisk(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try device.shown(), isSubmit = picks.isOne(of: 3), room = picks.next(3)
        var text = "device \(device.index)"
        try device.limitFile(to: room)
        do {
            if isSubmit { try device.package.submitPendingOperations() } else { try device.package.synchronize() }
        } catch {
            text += ": \(error)"
            if isSubmit, try device.shown() != shown { throw failure(.wrongValue, "device \(device.index): a submit failed, and has changed rows") }
        }
        try device.limitFile(to: nil)
        try noteAnswers(device)
        try checkEdits(device)
        return text
    }

    // MARK: The change log

    /// Runs a synchronization, after which the change log must have the server's changes that the device shows.
    func withChangeLog(_ device: DeviceBench, _ body: () throws -> Void) throws {
        guard device.logsChanges else { return try body() }
        _ = try device.package.takeChangeLogs()
        let before = try rowsByKey(device)
        try body()
        let after = try rowsByKey(device), place = "device \(device.index), change log"
        var logged: [DeviceBench.Place: ChangeLog.Operation] = [:]
        for entry in try device.package.takeChangeLogs() {
            guard let object = world.objects.indices.first(where: { World.name($0) == entry.entity }) else { continue }
            logged[.init(object: object, surrogateKey: entry.surrogateKey)] = entry.operationType
        }
        for (key, row) in after where row.change == .none && before[key]?.values != row.values {
            guard logged[key] != .update else { continue }
            throw failure(.wrongQuery, "\(place): no entry for \(row.tag), which is new or has other values")
        }
        for (key, row) in before where row.change == .none && after[key] == nil && logged[key] != .delete {
            throw failure(.wrongQuery, "\(place): no entry for \(row.tag), which is gone")
        }
        for (key, operation) in logged where (operation == .delete) == (after[key] != nil) {
            throw failure(
                .wrongQuery, "\(place): \(operation) of \(World.name(key.object)) \(key.surrogateKey), which is \(after[key]?.tag ?? "gone")")
        }
    }

    private func rowsByKey(_ device: DeviceBench) throws -> [DeviceBench.Place: ShownRow] {
        Dictionary(try device.shown().map { (.init(object: $0.object, surrogateKey: $0.surrogateKey), $0) }) { first, _ in first }
    }
}
