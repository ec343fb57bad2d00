internal import MobileObjects
internal import MobileSync
internal import TestSupport

/// The checks at rest: the network is whole, and all devices have synchronized until nothing moves.
extension Rig {
    /// Brings everything to rest and checks it: first with changes that are not submitted, then without any.
    func settle() throws {
        note("at rest")
        try rest()
        try noteRights()
        try compare()
        try compareLedger()
        try compareLost()
        note("all is submitted")
        for device in devices {
            try check(.localFailure, "submitting all") { try device.package.submitPendingOperations() }
            try noteOutbox(device)
        }
        try rest()
        for device in devices {
            let before = try device.shown()
            for object in world.objects.indices {
                let entity = try device.package.entity(World.name(object)).metadata
                try check(.localFailure, "cancelling all") { try device.package.cancelPendingOperations(of: entity) }
            }
            try noteCancelled(device, before, all: true)
        }
        note("what was rejected is cancelled")
        try rest()
        for device in devices {
            if let record = try device.package.outbox.first {
                throw failure(
                    .restless, "device \(device.index): operation \(record.id) on \(record.entity) \(record.surrogateKey) is never answered")
            }
            for row in try device.shown() where row.change != .none {
                throw failure(.pendingWithoutReason, "device \(device.index): \(row.tag) is pending after a cancel")
            }
        }
        try compare()
        try compareLedger()
        try compareLost()
        try compareFiles()
    }

    /// Lets all devices synchronize until nothing moves.
    private func rest() throws {
        var last = try state()
        for _ in 0..<8 {
            for device in devices {
                clock.advance(by: .seconds(600))
                try withChangeLog(device) { try healing(device) { try device.package.synchronize() } }
                try noteAnswers(device)
                try checkEdits(device)
            }
            let now = try state()
            if now == last { return }
            last = now
        }
        throw failure(.restless, "rows still change after eight rounds of synchronizations")
    }

    /// The rows that all devices show, and the operations that wait there.
    private func state() throws -> [DeviceState] {
        try devices.map { DeviceState(rows: try $0.shown(), waiting: try $0.package.outbox.map(\.id)) }
    }

    private struct DeviceState: Equatable {
        let rows: [ShownRow], waiting: [Int64]
    }

    // MARK: Rows

    private func compare() throws {
        let truth = try Truth(enterprise, world)
        for device in devices { try compare(device, truth) }
    }

    private func compare(_ device: DeviceBench, _ truth: Truth) throws {
        let shown = try device.shown(), place = "device \(device.index)"
        // Everything is compared after it was cancelled.
        if shown.contains(where: { row in hasNoKey(row) && shown.contains { $0.tag == row.tag && $0.change == .none } }) { return }
        var byTag: [String: ShownRow] = [:], keys: Set<[String]> = []
        for row in shown {
            if byTag.updateValue(row, forKey: row.tag) != nil { throw failure(.doubleRow, "\(place): \(row.tag) is there twice") }
            let key = row.key(world)
            guard world.objects[row.object].key != .generated || row.change != .create else { continue }
            if !keys.insert(["\(row.object)"] + key).inserted {
                throw failure(.doubleRow, "\(place): two rows of \(World.name(row.object)) have the key \(key)")
            }
        }
        let own = alive(device), deleted = Set(own.values.filter { $0.change == .delete }.map(\.tag))
        for row in truth.rows.values.sorted(by: { $0.tag < $1.tag })
        where truth.isSeen(row, subscribed: device.subscribed, bound: rights[device.user], world) && !deleted.contains(row.tag) {
            guard byTag[row.tag] == nil, truth.fits(row, world) else { continue }
            // A restored back end has given its key to another row, which is the same to the device.
            if hasRestoredBackEnd, world.objects[row.object].key == .generated,
                own.values.contains(where: { $0.object == row.object && $0.change == .delete })
            {
                continue
            }
            throw failure(.missingRow, "\(place): \(World.name(row.object)) \(row.tag) is missing: \(Self.text(row.values))")
        }
        for row in shown {
            if row.change != .none && row.change != .parent {
                guard let edit = own[row.tag], edit.change != .delete else {
                    // The record of a rejection whose answer was lost may have been removed long ago.
                    if lastLeap >= 0 { continue }
                    throw failure(.pendingWithoutReason, "\(place): \(row.tag) is pending (\(row.change))")
                }
                continue
            }
            guard let expected = truth.rows[row.tag] else {
                throw failure(.ghostRow, "\(place): \(row.tag) is not in the back end: \(Self.text(row.values))")
            }
            // The server holds it back: a device that had it keeps its former version.
            let fits = truth.fits(expected, world), keys = world.keyColumns(row.object)
            guard !fits || truth.isSeen(expected, subscribed: device.subscribed, bound: rights[device.user], world) || row.change == .parent else {
                throw failure(.ghostRow, "\(place): \(row.tag) is in none of its partitions: \(Self.text(row.values))")
            }
            for (column, _) in world.columns(row.object, version: device.version)
            where (fits || keys.contains(column)) && row.values[column] != expected.values[column] {
                let isReference = column.first == "r" && column != "region"
                throw failure(
                    isReference ? .wrongReference : .wrongValue,
                    "\(place): \(row.tag).\(column) is \(row.values[column] ?? "NULL"), in the back end \(expected.values[column] ?? "NULL")")
            }
        }
        try compareQuarantine(device, truth, place)
        try compareReferences(device, shown, own, place)
        try compareQueries(device, shown, place)
    }

    /// Whether a row with a change waits without its key, which the back end may have given to another row: the server has lost its state, and the row was not
    /// among the device's rows then. It may come again as a row that the device does not know.
    private func hasNoKey(_ row: ShownRow) -> Bool {
        lostStates > 0 && !hasRestoredBackEnd && row.change != .none && world.objects[row.object].key == .generated && row.key(world) == [""]
    }

    /// The server has a record of each row that it holds back from the device.
    private func compareQuarantine(_ device: DeviceBench, _ truth: Truth, _ place: String) throws {
        for object in world.objects.indices {
            let held = truth.rows.values.filter { row in
                row.object == object && !truth.fits(row, world, version: device.version)
                    && truth.isSeen(row, subscribed: device.subscribed, bound: rights[device.user], world)
            }
            guard !held.isEmpty, let known = try server.quarantined(World.name(object), package: "\(device.packageName):\(device.version).0"),
                known < held.count
            else { continue }
            let tags = held.map(\.tag).sorted().joined(separator: ", ")
            throw failure(.missingRow, "\(place): the server holds back \(tags), and has a record of \(known)")
        }
    }

    /// References, their attributes and lists agree.
    private func compareReferences(_ device: DeviceBench, _ shown: [ShownRow], _ own: [String: Edit], _ place: String) throws {
        var parents: [String: [Int: String]] = [:]
        for row in shown {
            for index in world.objects[row.object].references.indices {
                let expected = expectedParent(row, index, own[row.tag], shown)
                let entity = try check(.localFailure, "\(place): reading \(row.tag)") { try device.entity(row) }
                let parent: GenericEntity? = try check(.localFailure, "\(place): reading the reference of \(row.tag)") {
                    try entity.parent(World.reference(index))
                }
                let found = try parent.map { try $0.value("tag").description }
                parents[row.tag, default: [:]][index] = found
                guard found != expected else { continue }
                // A row without the key that the back end has given it: it was accepted, and then it was not among the device's rows any more.
                let target = shown.first { $0.object == world.objects[row.object].references[index].target && $0.tag == found }
                if let target, world.objects[target.object].key == .generated, target.key(world) == [""] { continue }
                // The server may have given the row another surrogate key, and a restored back end its key to another row: nothing leads there.
                let isGenerated = world.objects[world.objects[row.object].references[index].target].key == .generated
                if found == nil, isGenerated, row.change != .none, hasRestoredBackEnd, lostStates > 0 { continue }
                // The row is here for its pending change alone, and the server has another surrogate key for it.
                let meant = shown.first { $0.tag == expected }
                if found == nil, lostStates > 0, let meant, meant.change != .none, try !isSeen(meant, device) { continue }
                throw failure(.wrongReference, "\(place): \(row.tag).ref\(index) leads to \(found ?? "nothing") instead of \(expected ?? "nothing")")
            }
        }
        for row in shown where row.change == .none {
            for (child, index, reference) in world.references(to: row.object) where reference.isComposite {
                let part = shown.first { $0.object == child && $0.change != .none && parents[$0.tag]?[index] == row.tag }
                guard let part else { continue }
                throw failure(.wrongReference, "\(place): \(row.tag) is not pending, and its part \(part.tag) is")
            }
        }
        for row in shown {
            for (child, index, reference) in world.references(to: row.object) where reference.hasInverse {
                let entity = try device.entity(row)
                let expected = shown.filter { $0.object == child && parents[$0.tag]?[index] == row.tag }.map(\.tag)
                let found: [String]
                if reference.isSingle {
                    let partner: GenericEntity? = try entity.parent(World.list(child, index))
                    found = try [partner].compactMap { try $0?.value("tag").description }
                    // Two rows refer to one while a change of the device waits.
                    if expected.count > 1, let partner = found.first, expected.contains(partner) { continue }
                } else {
                    let children: Children<GenericEntity> = try entity.children(World.list(child, index))
                    found = try children.map { try $0.value("tag").description }.sorted()
                }
                guard found != expected else { continue }
                throw failure(.wrongReference, "\(place): the list of \(row.tag) has \(found), and \(expected) refer to it")
            }
        }
    }

    private func isSeen(_ row: ShownRow, _ device: DeviceBench) throws -> Bool {
        let truth = try Truth(enterprise, world)
        return truth.rows[row.tag].map { truth.isSeen($0, subscribed: device.subscribed, bound: rights[device.user], world) } ?? false
    }

    private func expectedParent(_ row: ShownRow, _ index: Int, _ edit: Edit?, _ shown: [ShownRow]) -> String? {
        let columns = world.columns(ofReference: index, row.object)
        // The key of the row that was set is not known yet. Otherwise the reference leads to the row that has it.
        if row.change != .none, let edit, let tag = edit.linked[index], columns.contains(where: { edit.values[$0.name] == nil }) {
            return shown.contains { $0.tag == tag } ? tag : nil
        }
        let key = columns.compactMap { row.values[$0.name] }
        guard key.count == columns.count else { return nil }
        let target = world.objects[row.object].references[index].target
        return shown.first { $0.object == target && $0.key(world) == key && (world.objects[target].key != .generated || $0.change != .create) }?.tag
    }
}
