/// The checks of the ledger, and of the rows that accepted operations left.
extension Rig {
    /// Each operation was done once, or refused, and those of a device in their order.
    func compareLedger() throws {
        var done: [String: [Int]] = [:]
        for entry in try Truth.ledger(enterprise) where !foreignLines.contains(entry.sequence) {
            guard let stamp = entry.after, stamp != entry.before else { continue }
            done[stamp, default: []].append(entry.sequence)
        }
        var accepted: [String: Int] = [:], possible: Set<String> = []
        for edit in edits where !edit.stamp.isEmpty {
            if case .accepted = edit.fate { accepted[edit.stamp, default: 0] += 1 }
            switch edit.fate {
            case .unknown, .submitted: possible.insert(edit.stamp)
            // A request that comes once more is a new one: where it was deferred before, or the back end has lost its record of it.
            case .cancelled: if hasSentAgain { possible.insert(edit.stamp) }
            case .lost, .rejected: if hasRestoredBackEnd, hasSentAgain { possible.insert(edit.stamp) }
            default: break
            }
        }
        for edit in edits where !edit.stamp.isEmpty {
            let times = done[edit.stamp]?.count ?? 0, text = "\(edit.change) of \(edit.tag) (\(edit.stamp), step \(edit.step), device \(edit.device))"
            let mayRepeat = edits.contains { $0.stamp == edit.stamp && $0.mayRepeat }
            if times > 1, !mayRepeat { throw failure(.appliedTwice, "\(text): \(times) times") }
            if accepted[edit.stamp] != nil {
                // An operation that its original has discarded, or that was rejected there, counts as settled for a copy.
                let isDiscarded =
                    mayRepeat
                    && edits.contains { other in
                        guard other.stamp == edit.stamp else { return false }
                        if case .accepted = other.fate { return false }
                        return true
                    }
                guard times > 0 || isDiscarded || mayRepeat && hasRestoredBackEnd else {
                    throw failure(.notApplied, "\(text): accepted, and not in the back end's ledger")
                }
            } else if times > 0, !possible.contains(edit.stamp) {
                throw failure(.appliedAnyway, "\(text): \(edit.fate)")
            }
        }
        try compareAccepted()
        try compareDeletes()
        try compareChanges()
        try compareQuietChanges()
        for device in devices { for life in 0...device.life { try compareOrder(device, life, done) } }
    }

    /// The operations of a device were done in their order.
    private func compareOrder(_ device: DeviceBench, _ life: Int, _ done: [String: [Int]]) throws {
        var last = 0
        let own = edits.compactMap { edit -> (id: Int64, sequence: Int)? in
            guard edit.device == device.id, edit.life == life, !edit.mayRepeat, case .accepted(let id) = edit.fate,
                let sequence = done[edit.stamp]?.first
            else { return nil }
            return (id, sequence)
        }
        for (id, sequence) in own.sorted(by: { $0.id < $1.id }) {
            guard sequence > last else { throw failure(.wrongOrder, "device \(device.index): operation \(id) was done before an earlier one") }
            last = sequence
        }
    }

    /// A row without a later change has the values of the accepted operation.
    private func compareAccepted() throws {
        let truth = try Truth(enterprise, world), ledger = try Truth.ledger(enterprise)
        for edit in edits {
            guard case .accepted = edit.fate, !edit.stamp.isEmpty, let row = truth.rows[edit.tag], row.values["stamp"] == edit.stamp else { continue }
            let model = world.objects[edit.object]
            var moved: Set<String> = model.triggers.contains(.move) ? ["region"] : []
            for (index, reference) in model.references.enumerated() where reference.onDelete == .setNull {
                moved.formUnion(world.columns(ofReference: index, edit.object).map(\.name))
            }
            // Changes without a stamp may come later.
            for entry in ledger where entry.tag == edit.tag && entry.before == entry.after { moved.formUnion(entry.columns) }
            for (column, value) in edit.values.sorted(by: { $0.key < $1.key }) where !moved.contains(column) && row.values[column] != value {
                throw failure(
                    .changedValue,
                    "\(edit.change) of \(edit.tag) (step \(edit.step)) was accepted: \(column) was \(value ?? "NULL"), and is \(row.values[column] ?? "NULL")"
                )
            }
        }
    }

    /// Rows that devices have deleted are gone, and changes without a stamp are there, or were there until a later change.
    private func compareDeletes() throws {
        let truth = try Truth(enterprise, world), ledger = try Truth.ledger(enterprise)
        for edit in edits where !edit.mayRepeat && !hasRestoredBackEnd {
            guard case .accepted(let id) = edit.fate, let row = truth.rows[edit.tag] else { continue }
            // A row that its user may not have counts as deleted.
            let isKept = world.objects[edit.object].keepsRows && row.values["stamp"].map { $0.hasPrefix("d") && $0.hasSuffix("4") } ?? false
            if edit.change == .delete, !isKept, world.objects[edit.object].partition != .bound {
                throw failure(.notApplied, "the delete of \(edit.tag) (step \(edit.step)) was accepted, and the row is there")
            }
            guard edit.change == .update, edit.stamp.isEmpty else { continue }
            for (column, value) in edit.values.sorted(by: { $0.key < $1.key }) where row.values[column] != value {
                guard !ledger.contains(where: { $0.tag == edit.tag && $0.sequence > edit.line && $0.columns.contains(column) }) else { continue }
                throw failure(
                    .notApplied, "\(column) of \(edit.tag) (operation \(id), step \(edit.step)) was accepted, and is not \(value ?? "NULL")")
            }
        }
    }

    /// A change without a stamp changes what its user has set. The back end itself changes some columns, too.
    private func compareQuietChanges() throws {
        for entry in try Truth.ledger(enterprise)
        where !foreignLines.contains(entry.sequence) && entry.change == "UPDATE" && entry.before == entry.after {
            let model = world.objects[entry.object]
            // The same operation once more changes nothing.
            let isMoved = model.triggers.contains(.move) && (entry.after ?? "").hasSuffix("5")
            if entry.columns.isEmpty, !isMoved, !edits.contains(where: { $0.tag == entry.tag && ($0.stamp.isEmpty || $0.mayRepeat) }) {
                throw failure(.appliedTwice, "an operation on \(entry.tag) with the stamp \(entry.after ?? "") was done once more")
            }
            var allowed: Set<String> = ["made", "region"]
            for edit in edits where edit.tag == entry.tag { allowed.formUnion(edit.values.keys) }
            for index in model.references.indices where model.references[index].onDelete == .setNull {
                allowed.formUnion(world.columns(ofReference: index, entry.object).map(\.name))
            }
            if let other = entry.columns.first(where: { !allowed.contains($0) }) {
                throw failure(.otherColumn, "a change of \(entry.tag) without a stamp changed the column \(other)")
            }
        }
    }

    /// An operation changes the columns that its user has set, in rows of the user, as the device knew them.
    private func compareChanges() throws {
        let byStamp = Dictionary(grouping: edits.filter { !$0.stamp.isEmpty }, by: \.stamp)
        for entry in try Truth.ledger(enterprise) where !foreignLines.contains(entry.sequence) && entry.before != entry.after {
            guard let stamp = entry.after, let edits = byStamp[stamp] else { continue }
            let edit = edits[0], model = world.objects[edit.object],
                place = "\(edit.change) of \(edit.tag) (step \(edit.step), device \(edit.device))"
            var allowed: Set<String> = ["stamp", "made"]
            for edit in edits {
                allowed.formUnion(edit.values.keys)
                for index in edit.linked.keys { allowed.formUnion(world.columns(ofReference: index, edit.object).map(\.name)) }
            }
            // A row came after a change that leads to it, and before the next operation: that one leads there, too.
            for earlier in self.edits where earlier.tag == edit.tag && earlier.device == edit.device {
                for (index, tag) in earlier.linked where tag == Edit.byKey || self.edits.contains(where: { $0.tag == tag && $0.change == .create }) {
                    allowed.formUnion(world.columns(ofReference: index, edit.object).map(\.name))
                }
            }
            if let other = entry.columns.first(where: { !allowed.contains($0) }) {
                throw failure(.otherColumn, "\(place) changed the column \(other), too")
            }
            // The back end moves the row on at once, to the south.
            let isMoved = model.triggers.contains(.move) && stamp.hasSuffix("5")
            if model.partition == .bound, let user = users[edit.device],
                let region = [entry.beforeRegion, entry.afterRegion].compactMap({ $0 }).first(where: { region in
                    !(isMoved && region == entry.afterRegion) && !(lineRights[entry.sequence] ?? rights)[user].contains { $0.rawValue == region }
                })
            {
                throw failure(.notAllowed, "\(place): user \(user) did not have the region \(region)")
            }
            let own = Set(self.edits.filter { $0.device == edit.device && $0.tag == edit.tag }.map(\.stamp))
            if model.refusesConflicts, edits.count == 1, let base = edit.base, let before = entry.before, before != base, !own.contains(before) {
                throw failure(.overwritten, "\(place) was made on \(base), and took the place of \(before)")
            }
        }
    }
}
