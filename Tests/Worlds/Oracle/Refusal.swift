internal import MobileSync

/// Whether the back end had a reason to refuse an operation.
extension Rig {
    func judgeRefusal(_ edit: Edit, _ message: String, _ device: DeviceBench) throws {
        guard try !isJustified(edit, message, device) else { return }
        throw failure(.refused, "device \(device.index): \(edit.change) of \(edit.tag) (\(edit.stamp), step \(edit.step)): \(message)")
    }

    private func isJustified(_ edit: Edit, _ message: String, _ device: DeviceBench) throws -> Bool {
        // An answer may come after a restore that took its reason away.
        let model = world.objects[edit.object], truth = try Truth(enterprise, world), ledger = try undone + Truth.ledger(enterprise)
        if model.triggers.contains(.refuse), edit.stamp.hasSuffix("7") { return true }
        // Batches are the trees of composites: the operation with the reason is judged by itself.
        let isInTree = model.references.contains(where: \.isComposite) || world.references(to: edit.object).contains { $0.reference.isComposite }
        // A row of the batch is removed by the back end as soon as the batch changes it.
        let archived = Set(
            edits.filter { $0.device == device.id && $0.stamp.hasSuffix("3") && world.objects[$0.object].triggers.contains(.archive) }.map(\.tag))
        if !archived.isDisjoint(with: edit.linked.values) || model.partition == .bound && archived.contains(edit.tag) { return true }
        if isInTree, message.contains("another operation of its batch") { return true }
        // Keys that a restored back end gives again may be those of other rows.
        if hasRestoredBackEnd, ([edit.object] + model.references.map(\.target)).contains(where: { world.objects[$0].key == .generated }) {
            return true
        }
        return switch edit.change {
        case .create:
            isTaken(edit, truth, ledger) || isForbidden(edit, device, truth, ledger) || hasLostTarget(edit, truth, ledger) || isNotKept(edit)
        case .update, .delete:
            isGone(edit, truth, ledger) || isForbidden(edit, device, truth, ledger) || isConflict(edit, device, truth, ledger)
                || isHeld(edit, truth, ledger) || hasLostTarget(edit, truth, ledger) || isNotKept(edit)
                || isUnknown(edit, device, truth, ledger)
        }
    }

    /// The server has other surrogate keys now, and the row was not among the device's rows when it got them: a key that the back
    /// end makes does not identify it, because another row may have the number.
    private func isUnknown(_ edit: Edit, _ device: DeviceBench, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        lostStates > 0 && world.objects[edit.object].key == .generated && hasLeft(edit, device, truth, ledger)
    }

    /// A column of SQLite makes a double of a decimal: more than 15 digits are not kept for sure.
    private func isNotKept(_ edit: Edit) -> Bool {
        guard stores == .sqlite else { return false }
        let wide = world.allColumns(edit.object).filter { [.decimal, .wideDecimal, .longDecimal].contains($0.type) }
        return wide.contains { column in (edit.values[column.name] ?? nil).map { $0.count { $0.isNumber } > 15 } ?? false }
    }

    /// The key of a new row, or its one-to-one partner, has another row, or had one.
    private func isTaken(_ edit: Edit, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        let model = world.objects[edit.object]
        if edit.mayRepeat, ledger.contains(where: { $0.tag == edit.tag && $0.change == "INSERT" }) { return true }
        let key = world.keyColumns(edit.object).map { (edit.values[$0] ?? nil) ?? "" }
        if model.key != .generated, let row = truth.row(edit.object, key: key, world), row.tag != edit.tag { return true }
        // The back end removes the row at once, and another one of the batch refers to it.
        return model.triggers.contains(.archive) && edit.stamp.hasSuffix("3") && !world.references(to: edit.object).isEmpty
    }

    /// The row is not in the back end, was not for some time, or is held back.
    private func isGone(_ edit: Edit, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        guard let row = truth.rows[edit.tag] else { return true }
        return !truth.fits(row, world) || wasDeleted(edit.tag, ledger) || wasRejected(edit.tag)
    }

    private func wasDeleted(_ tag: String, _ ledger: [Truth.Entry]) -> Bool { ledger.contains { $0.tag == tag && $0.change == "DELETE" } }

    private func wasRejected(_ tag: String) -> Bool {
        edits.contains { if case .rejected = $0.fate { $0.tag == tag && $0.change == .create } else { false } }
    }

    /// The row, or the one that it becomes, has a region that its user does not have, or has not had.
    private func isForbidden(_ edit: Edit, _ device: DeviceBench, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        guard world.objects[edit.object].partition == .bound else { return false }
        var regions = Set([edit.values["region"] ?? nil, truth.rows[edit.tag]?.values["region"]].compactMap { $0 })
        for entry in ledger where entry.tag == edit.tag { regions.formUnion([entry.beforeRegion, entry.afterRegion].compactMap { $0 }) }
        // Other changes of the device may give it a region first; the back end moves rows to the south.
        for other in edits where other.tag == edit.tag { regions.formUnion([other.values["region"] ?? nil].compactMap { $0 }) }
        if world.objects[edit.object].triggers.contains(.move) { regions.insert(Region.south.rawValue) }
        return regions.contains { region in lackedRights[device.user].contains { $0.rawValue == region } }
    }

    /// Another application or device has changed the row.
    private func isConflict(_ edit: Edit, _ device: DeviceBench, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        guard world.objects[edit.object].refusesConflicts else { return false }
        // A copied device knows only what its original knew of the row.
        if edits.contains(where: { $0.device == device.id && $0.tag == edit.tag && $0.mayRepeat }) { return true }
        // An earlier version of the package has another digest of the row that the device's own operation left.
        if device.version > 1, edits.contains(where: { $0.device == device.id && $0.tag == edit.tag && $0.step < edit.step && $0.operation != nil }) {
            return true
        }
        // The device may have seen a row that the restored back end does not have so.
        if hasRestoredBackEnd || hasLeft(edit, device, truth, ledger) { return true }
        let own = Set(edits.filter { $0.device == device.id && $0.tag == edit.tag }.map(\.stamp))
        return ledger.contains { entry in
            guard entry.tag == edit.tag, entry.change == "UPDATE" else { return false }
            return entry.before == entry.after || !(entry.after.map(own.contains) ?? false)
        }
    }

    /// The row is in none of the device's partitions, or was in none for some time.
    private func hasLeft(_ edit: Edit, _ device: DeviceBench, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        guard let row = truth.rows[edit.tag] else { return true }
        if !truth.isSeen(row, subscribed: device.subscribed, bound: rights[device.user], world) { return true }
        switch world.objects[edit.object].partition {
        case .all: return false
        // Its parent, or the parent's region, may have been another one.
        case .parent: return true
        case .region, .bound:
            let regions = ledger.filter { $0.tag == edit.tag }.flatMap { [$0.beforeRegion, $0.afterRegion].compactMap(\.self) }
            return Set(regions).count > 1 || device.hasLeftRegions
        }
    }

    /// Other rows refer to the row, also rows that the device does not have.
    private func isHeld(_ edit: Edit, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        let model = world.objects[edit.object], isArchived = model.triggers.contains(.archive) && edit.stamp.hasSuffix("3")
        guard edit.change == .delete || isArchived, let row = truth.rows[edit.tag] else { return false }
        if isHeld(row, truth, []) { return true }
        // An operation of the same batch may have referred to it, and was taken back with it.
        if edits.contains(where: { $0.device == edit.device && $0.linked.values.contains(edit.tag) }) { return true }
        // They may have left it after the operation, or rows that go with it.
        let cascades = world.references(to: edit.object).filter { $0.reference.onDelete == .cascade }.map(\.object)
        return ([edit.object] + cascades).flatMap { world.references(to: $0) }.contains { child, index, _ in
            let columns = Set(World.referenceColumns(index))
            return ledger.contains { entry in
                entry.sequence > edit.line && entry.object == child && (entry.change == "DELETE" || !columns.isDisjoint(with: entry.columns))
            }
        }
    }

    private func isHeld(_ row: Truth.Row, _ truth: Truth, _ above: Set<String>) -> Bool {
        let key = row.key(world)
        return world.references(to: row.object).contains { child, index, reference in
            truth.rows.values.contains { other in
                guard other.object == child, truth.key(other, index, world) == key, !above.contains(other.tag) else { return false }
                return switch reference.onDelete {
                case .noAction: true
                case .cascade: isHeld(other, truth, above.union([row.tag]))
                case .setNull: !reference.isNullable
                }
            }
        }
    }

    /// Whether a row may have come to the back end after an operation was done: it was submitted later, or elsewhere.
    private func hasCome(_ row: Truth.Row, after edit: Edit, _ ledger: [Truth.Entry]) -> Bool {
        guard ledger.contains(where: { $0.tag == row.tag && $0.change == "INSERT" && $0.sequence > edit.line }) else { return false }
        let own = edits.filter { $0.tag == row.tag && $0.device == edit.device }, creates = own.filter { $0.change == .create }
        // A later change may have taken the place of the create before it was submitted.
        let created = creates.compactMap(\.operation).max() ?? own.compactMap(\.operation).min()
        guard !creates.isEmpty, let created, let operation = edit.operation else { return creates.isEmpty }
        return created > operation
    }

    /// A reference leads to a row that is not there, or another row has it in a one-to-one relationship.
    private func hasLostTarget(_ edit: Edit, _ truth: Truth, _ ledger: [Truth.Entry]) -> Bool {
        let references = world.objects[edit.object].references
        return edit.linked.contains { index, tag in
            guard !tag.isEmpty, references.indices.contains(index) else { return false }
            let columns = Set(World.referenceColumns(index))
            if references[index].isSingle,
                ledger.contains(where: {
                    $0.object == edit.object && $0.tag != edit.tag && ($0.change != "UPDATE" || !columns.isDisjoint(with: $0.columns))
                })
            {
                return true
            }
            guard tag == Edit.byKey else { return truth.rows[tag] == nil || wasDeleted(tag, ledger) || wasRejected(tag) }
            let key = world.columns(ofReference: index, edit.object).map { (edit.values[$0.name] ?? nil) ?? "" }
            guard let row = truth.row(references[index].target, key: key, world) else { return true }
            return hasCome(row, after: edit, ledger)
        }
    }
}
