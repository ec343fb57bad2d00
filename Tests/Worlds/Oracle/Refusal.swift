internal import MobileSync

/// Whether the back end had a reason to refuse an operation.
extension Rig {
    func judgeRefusal(_ edit: Edit, _ message: String, _ device: DeviceBench) throws {
        guard try !isJustified(edit, message, device) else { return }
        throw failure(.refused, "device \(device.index): \(edit.change) of \(edit.tag) (\(edit.stamp), step \(edit.step)): \(message)")
    }

    private func isJustified(_ edit: Edit, _ message: String, _ device: DeviceBench) throws -> Bool {
        let model = world.objects[edit.object], truth = try Truth(enterprise, world), ledger = try Truth.ledger(enterprise)
        func wasDeleted(_ tag: String) -> Bool { ledger.contains { $0.tag == tag && $0.change == "DELETE" } }
        func wasRejected(_ tag: String) -> Bool {
            edits.contains { if case .rejected = $0.fate { $0.tag == tag && $0.change == .create } else { false } }
        }
        if model.triggers.contains(.refuse), edit.stamp.hasSuffix("7") { return true }
        // The back end removes the row, and others refer to it.
        if model.triggers.contains(.archive), edit.stamp.hasSuffix("3"), !world.references(to: edit.object).isEmpty { return true }
        // Batches are the trees of composites: the operation with the reason is judged by itself.
        let isInTree = model.references.contains(where: \.isComposite) || world.references(to: edit.object).contains { $0.reference.isComposite }
        if isInTree, message.contains("another operation of its batch") { return true }
        if edit.change == .create {
            if edit.mayRepeat, ledger.contains(where: { $0.tag == edit.tag && $0.change == "INSERT" }) { return true }
            let key = world.keyColumns(edit.object).map { (edit.values[$0] ?? nil) ?? "" }
            if model.key != .generated, let row = truth.row(edit.object, key: key, world), row.tag != edit.tag { return true }
        } else if let row = truth.rows[edit.tag], !truth.fits(row, world) {
            return true
        } else if truth.rows[edit.tag] == nil || wasDeleted(edit.tag) || wasRejected(edit.tag) {
            return true
        }
        if edit.change != .create, let row = truth.rows[edit.tag],
            !truth.isSeen(row, subscribed: device.subscribed, bound: rights[device.user], world)
        {
            return true
        }
        // A copied device knows only what its original knew of the row.
        let isInherited = edits.contains { $0.device == device.id && $0.tag == edit.tag && $0.mayRepeat }
        // Keys that a restored back end gives again may be those of other rows.
        if hasRestoredBackEnd, ([edit.object] + model.references.map(\.target)).contains(where: { world.objects[$0].key == .generated }) {
            return true
        }
        if model.refusesConflicts, edit.change != .create,
            isInherited || ledger.contains(where: { $0.tag == edit.tag && $0.change == "UPDATE" }) || model.key == .generated
        {
            return true
        }
        if model.partition == .bound, formerRights[device.user].count < Region.allCases.count || rights[device.user].count < Region.allCases.count {
            return true
        }
        // Another row refers to the same one, or did.
        for (index, tag) in edit.linked where !tag.isEmpty && model.references.indices.contains(index) && model.references[index].isSingle {
            let columns = Set(World.referenceColumns(index))
            if ledger.contains(where: {
                $0.object == edit.object && $0.tag != edit.tag && ($0.change != "UPDATE" || !columns.isDisjoint(with: $0.columns))
            }) {
                return true
            }
        }
        for (index, tag) in edit.linked where tag == Edit.byKey {
            let key = world.columns(ofReference: index, edit.object).map { (edit.values[$0.name] ?? nil) ?? "" }
            if truth.row(world.objects[edit.object].references[index].target, key: key, world) == nil { return true }
        }
        for (index, tag) in edit.linked where !tag.isEmpty && tag != Edit.byKey && world.objects[edit.object].references.indices.contains(index) {
            if truth.rows[tag] == nil || wasDeleted(tag) || wasRejected(tag) { return true }
        }
        // Other rows may refer to it, also rows that the device does not have.
        if edit.change == .delete {
            for (_, _, reference) in world.references(to: edit.object) where reference.onDelete != .setNull { return true }
        }
        return false
    }
}
