internal import MobileObjects

/// Changes of users on their devices.
extension Rig {
    /// Runs a step of a user, then takes notice of the outbox.
    func local(_ device: DeviceBench, _ body: () throws -> String?) throws -> String? {
        let text = try body()
        if text != nil { try noteOutbox(device) }
        return text.map { "device \(device.index): \($0)" }
    }

    func change(_ kind: Step.Kind, _ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try check(.localFailure, "reading all rows") { try device.shown() }
        if kind == .create { return try newRow(device, shown, &picks).flatMap { try save($0, device) } }
        guard let row = picks.next(of: shown) else { return nil }
        meet(kind, row.object)
        if kind == .delete { return try delete(row, device, shown, inBatch: picks.isOne(of: 3)) }
        guard let draft = try draft(kind, row, device, shown, &picks) else { return nil }
        if kind == .rollBack { return try rollBack(draft, device, shown) }
        if kind == .edit, picks.isOne(of: 4) { return try updateInBatch(draft, device) }
        return try save(draft, device)
    }

    /// An object with changes that are not saved.
    struct Draft {
        let entity: GenericEntity
        let edit: Edit
        /// The columns of large values, which a new row gets after it is there.
        var large: [String] = []

        var text: String { "\(edit.tag) \(Rig.text(edit.values)) \(Rig.text(edit.linked))" }
    }

    /// Changes an object in memory.
    /// - Returns: nil if there is nothing to change.
    func draft(_ kind: Step.Kind, _ row: ShownRow, _ device: DeviceBench, _ shown: [ShownRow], _ picks: inout Picks) throws -> Draft? {
        let entity = try check(.localFailure, "reading \(row.tag)") { try device.entity(row) }
        var values: [String: String?] = [:], linked: [Int: String] = [:]
        let model = world.objects[row.object]
        switch kind {
        case .moveRegion:
            guard model.hasRegion else { return nil }
            values["region"] = Region.allCases[picks.next(3)].rawValue
        case .setReference:
            guard !model.references.isEmpty else { return nil }
            let index = picks.next(model.references.count)
            guard !model.references[index].isComposite,
                try setReference(index, entity, row.object, device, shown, &picks, &values, &linked)
            else { return nil }
        default:
            for _ in 0..<2 {
                let index = picks.next(model.attributes.count), attribute = model.attributes[index]
                guard attribute.isIn(version: device.version) else { continue }
                let isNull = attribute.isNullable && picks.isOne(of: 4)
                let value = isNull ? nil : attribute.type.pool[picks.next(attribute.type.pool.count)]
                // A large value that was NULL and stays so does not count as a change.
                if attribute.type == .largeBinary, value == nil, row.values["a\(index)"] == nil { continue }
                values["a\(index)"] = value
            }
            guard !values.isEmpty else { return nil }
        }
        var stamp = ""
        if kind == .touch {
            // The stamp stays; a change that is not submitted yet keeps its own.
            if let last = places(device, row.tag).last(where: { edits[$0].isAlive }) {
                // Two devices would have one stamp for different changes.
                guard edits[last].fate == .open, !edits[last].mayRepeat else { return nil }
                stamp = edits[last].stamp
            }
        } else {
            stamp = "d\(number())"
            values["stamp"] = stamp
        }
        try check(.localFailure, "a change of \(row.tag)") {
            for (column, value) in values.sorted(by: { $0.key < $1.key }) where !column.hasPrefix("r") || column == "region" {
                try device.setValue(value, column, entity, row.object)
            }
        }
        let edit = Edit(
            device: device.id, object: row.object, tag: row.tag, change: .update, stamp: stamp, step: step,
            base: row.change == .none ? row.values["stamp"] : nil, values: values, linked: linked)
        return Draft(entity: entity, edit: edit)
    }

    private func save(_ draft: Draft, _ device: DeviceBench) throws -> String {
        let edit = draft.edit
        guard edit.change == .create else {
            try check(.localFailure, "update of \(edit.tag)") { try draft.entity.update() }
            record(edit, device)
            return draft.text
        }
        do { try draft.entity.create() } catch let error as ObjectError where error.code == .duplicateKey {
            // The device still has a row with this key, which is gone in the back end.
            return "\(edit.tag): its key is not free"
        } catch { throw failure(.localFailure, "create of \(edit.tag): \(error)") }
        try noteCreated(draft, device)
        return "\(World.name(edit.object)) \(draft.text)"
    }

    /// Makes the same change in an object that a query finds.
    private func updateInBatch(_ draft: Draft, _ device: DeviceBench) throws -> String {
        let edit = draft.edit
        try check(.localFailure, "update of \(edit.tag) in a batch") {
            let found = try device.package.entity(World.name(edit.object)).update(rows(edit.tag)) { entity in
                for (column, value) in edit.values.sorted(by: { $0.key < $1.key }) { try device.setValue(value, column, entity, edit.object) }
            }
            guard found == 1 else { throw failure(.localFailure, "a batch has found \(found) rows of \(edit.tag)") }
        }
        record(edit, device)
        return draft.text + " in a batch"
    }

    private func rows(_ tag: String) -> Query { Query().where(.equal("tag", tag)) }

    /// Gives a new row its large values, and takes notice of it.
    private func noteCreated(_ draft: Draft, _ device: DeviceBench) throws {
        let edit = draft.edit
        if !draft.large.isEmpty {
            try check(.localFailure, "large values of \(edit.tag)") {
                for column in draft.large { try device.setValue(edit.values[column] ?? nil, column, draft.entity, edit.object) }
                try draft.entity.update()
            }
        }
        record(edit, device)
        device.tags[.init(object: edit.object, surrogateKey: draft.entity.surrogateKey)] = edit.tag
    }

    /// Saves changes of several rows, and perhaps a new one, at once.
    func saveMany(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try check(.localFailure, "reading all rows") { try device.shown() }
        var drafts: [Draft] = []
        if picks.isOne(of: 2), let draft = try newRow(device, shown, &picks) { drafts.append(draft) }
        for _ in 0..<3 {
            guard let row = picks.next(of: shown.filter { row in !drafts.contains { $0.edit.tag == row.tag } }),
                let draft = try draft(.edit, row, device, shown, &picks)
            else { continue }
            meet(.saveMany, row.object)
            drafts.append(draft)
        }
        guard !drafts.isEmpty else { return nil }
        do { try device.package.save(drafts.map(\.entity)) } catch let error as ObjectError where error.code == .duplicateKey {
            guard try device.shown() == shown else { throw failure(.localFailure, "a save of several rows failed, and has changed some") }
            return "a key is not free"
        } catch { throw failure(.localFailure, "save of \(drafts.map(\.edit.tag)): \(error)") }
        for draft in drafts {
            if draft.edit.change == .create { try noteCreated(draft, device) } else { record(draft.edit, device) }
        }
        return drafts.map(\.text).joined(separator: ", ")
    }

    /// Saves a change in a transaction that fails afterwards.
    private func rollBack(_ draft: Draft, _ device: DeviceBench, _ shown: [ShownRow]) throws -> String {
        struct Failed: Error {}
        do {
            try device.package.transaction {
                try draft.entity.update()
                throw Failed()
            }
        } catch {
            // The database wraps no error of its caller.
            guard error is Failed else { throw failure(.localFailure, "update of \(draft.edit.tag) in a transaction: \(error)") }
        }
        guard try device.shown() == shown else {
            throw failure(.wrongValue, "device \(device.index): \(draft.edit.tag) has changed in a transaction that failed")
        }
        return draft.text
    }

    private func newRow(_ device: DeviceBench, _ shown: [ShownRow], _ picks: inout Picks) throws -> Draft? {
        let object = picks.next(world.objects.count), model = world.objects[object], number = self.number()
        meet(.create, object)
        let tag = Self.tag(number), stamp = "d\(self.number())"
        var values: [String: String?] = ["tag": tag, "stamp": stamp], linked: [Int: String] = [:]
        let entity = try check(.localFailure, "a new \(World.name(object))") { try GenericEntity(World.name(object), in: device.package) }
        if model.key != .generated {
            for (column, value) in zip(world.keyColumns(object), model.key.values(key(object, number, device, &picks))) { values[column] = value }
        }
        if model.hasRegion {
            values["region"] =
                (picks.isOne(of: 5) ? Region.allCases[picks.next(3)] : device.subscribed.min() ?? .north).rawValue
        }
        for index in model.attributes.indices where model.attributes[index].isIn(version: device.version) {
            let attribute = model.attributes[index], isNull = attribute.isNullable && picks.isOne(of: 3)
            values["a\(index)"] = isNull ? .some(nil) : attribute.type.pool[picks.next(attribute.type.pool.count)]
        }
        for index in model.references.indices {
            guard try setReference(index, entity, object, device, shown, &picks, &values, &linked) || model.references[index].isNullable else {
                return nil
            }
        }
        let large = world.columns(object, version: device.version).filter { $0.type == .largeBinary }.map(\.name)
        try check(.localFailure, "a new \(tag)") {
            for (column, value) in values.sorted(by: { $0.key < $1.key })
            where (!column.hasPrefix("r") || column == "region") && !large.contains(column) {
                try device.setValue(value, column, entity, object)
            }
        }
        let edit = Edit(
            device: device.id, object: object, tag: tag, change: .create, stamp: stamp, step: step, values: values, linked: linked)
        return Draft(entity: entity, edit: edit, large: large.filter { (values[$0] ?? nil) != nil })
    }

    static func tag(_ number: Int) -> String { "t" + String(repeating: "0", count: max(0, 4 - "\(number)".count)) + "\(number)" }

    /// A key that a reference has already, or one that no row has, or once more the key of a row that was deleted.
    func key(_ object: Int, _ number: Int, _ device: DeviceBench, _ picks: inout Picks) -> Int {
        if let planned = device.plannedKeys[object]?.popLast() { return planned }
        if !avoided.contains(.reusedKeys), picks.isOne(of: 3), let free = freeKeys[object]?.popLast() { return free }
        return number
    }

    /// Sets a reference: to nothing, to an object, by the list of an object, or by its attributes.
    /// - Returns: false if there is nothing to refer to.
    private func setReference(
        _ index: Int, _ entity: GenericEntity, _ object: Int, _ device: DeviceBench, _ shown: [ShownRow], _ picks: inout Picks,
        _ values: inout [String: String?], _ linked: inout [Int: String]
    ) throws -> Bool {
        let reference = world.objects[object].references[index], columns = world.columns(ofReference: index, object)
        let taken = reference.isSingle ? partners(index, object, device, shown) : []
        let targets = shown.filter { $0.object == reference.target && !taken.contains($0.tag) }
        let mode = picks.next(6), target = picks.next(of: targets)
        // The back end's key of an accepted row comes with the next synchronization of its group.
        let hasKey = target.map { world.objects[$0.object].key != .generated || $0.change != .create && $0.key(world) != [""] } ?? false
        if reference.isNullable, mode == 0 {
            let isByObject = picks.isOne(of: 2)
            for column in columns {
                if !isByObject { try check(.localFailure, "nil as \(column.name)") { try device.setValue(nil, column.name, entity, object) } }
                values[column.name] = .some(nil)
            }
            if isByObject {
                try check(.localFailure, "no object as a reference") { try entity.setParent(nil as GenericEntity?, World.reference(index)) }
            }
            linked[index] = ""
            return true
        }
        if mode == 3, !reference.isComposite, !reference.isSingle, world.objects[reference.target].key != .generated {
            // The key of a row that the user makes later, or never.
            let number = self.number()
            device.plannedKeys[reference.target, default: []].append(number)
            for (column, value) in zip(columns, world.objects[reference.target].key.values(number)) {
                try check(.localFailure, "a key as \(column.name)") { try device.setValue(value, column.name, entity, object) }
                values[column.name] = value
            }
            linked[index] = Edit.byKey
            return true
        }
        guard let target else { return false }
        if mode < 3, hasKey, !reference.isComposite {
            for (column, value) in zip(columns, target.key(world)) {
                try check(.localFailure, "a key as \(column.name)") { try device.setValue(value, column.name, entity, object) }
                values[column.name] = value
            }
        } else {
            let parent = try check(.localFailure, "reading \(target.tag)") { try device.entity(target) }
            try check(.localFailure, "a reference to \(target.tag)") {
                if mode == 4, reference.hasInverse, !reference.isSingle, !reference.isComposite {
                    let children: Children<GenericEntity> = try parent.children(World.list(object, index))
                    children.append(entity)
                } else {
                    try entity.setParent(parent, World.reference(index))
                }
            }
            for (column, value) in zip(columns, target.key(world)) { values[column.name] = hasKey ? .some(value) : nil as String?? }
        }
        linked[index] = target.tag
        return true
    }

    /// The rows that others already refer to.
    private func partners(_ index: Int, _ object: Int, _ device: DeviceBench, _ shown: [ShownRow]) -> Set<String> {
        let target = world.objects[object].references[index].target, columns = world.columns(ofReference: index, object).map(\.name)
        let keys = Set(shown.filter { $0.object == object }.map { row in columns.map { row.values[$0] ?? "" } })
        let linked = edits.filter { $0.device == device.id && $0.object == object && $0.isAlive }.compactMap { $0.linked[index] }
        return Set(shown.filter { $0.object == target && keys.contains($0.key(world)) }.map(\.tag) + linked)
    }

    private func delete(_ row: ShownRow, _ device: DeviceBench, _ shown: [ShownRow], inBatch: Bool) throws -> String? {
        try check(.localFailure, "delete of \(row.tag)\(inBatch ? " in a batch" : "")") {
            if inBatch { try device.package.entity(World.name(row.object)).delete(rows(row.tag)) } else { try device.entity(row).delete() }
        }
        let left = try check(.localFailure, "reading all rows") { Set(try device.shown().map(\.tag)) }
        let gone = shown.filter { !left.contains($0.tag) }
        for row in gone {
            let isSent = edits.contains { edit in
                guard edit.device == device.id, edit.tag == row.tag else { return false }
                switch edit.fate {
                case .submitted, .accepted, .rejected: return true
                default: return false
                }
            }
            if row.change == .create, !isSent {
                drop(row.tag, device)
            } else {
                record(Edit(device: device.id, object: row.object, tag: row.tag, change: .delete, stamp: "", step: step), device)
            }
        }
        return gone.map(\.tag).joined(separator: " ")
    }

    /// Notes a change. It takes the place of one that is not submitted yet; a delete that of a rejected one, too.
    func record(_ made: Edit, _ device: DeviceBench) {
        var edit = made
        for place in places(device, edit.tag) where edits[place].isAlive {
            if case .rejected = edits[place].fate, edit.change == .delete { edits[place].isTakenBack = true }
            guard edits[place].fate == .open else { continue }
            edits[place].fate = .replaced
            if edit.change != .delete { edit.include(edits[place]) }
        }
        edits.append(edit)
    }

    /// The user takes back what waits for a row.
    func drop(_ tag: String, _ device: DeviceBench) {
        for place in places(device, tag) {
            if edits[place].fate == .open { edits[place].fate = .cancelled }
            edits[place].isTakenBack = true
        }
    }

    /// The places of the changes of a row on a device, in their order.
    func places(_ device: DeviceBench, _ tag: String) -> [Int] { edits.indices.filter { edits[$0].device == device.id && edits[$0].tag == tag } }

    /// The rows of a device that show changes of the user: the last change, and the values and links that all changes set.
    func alive(_ device: DeviceBench) -> [String: Edit] {
        var rows: [String: Edit] = [:]
        for edit in edits where edit.device == device.id && edit.isAlive {
            var edit = edit
            if edit.change != .delete, let earlier = rows[edit.tag] { edit.include(earlier) }
            rows[edit.tag] = edit
        }
        return rows
    }

    static func text(_ values: [String: String?]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value ?? "NULL")" }.joined(separator: " ")
    }

    static func text(_ linked: [Int: String]) -> String {
        linked.sorted { $0.key < $1.key }.map { "ref\($0.key)->\($0.value)" }.joined(separator: " ")
    }

    // MARK: Submitting and cancelling

    func pending(_ kind: Step.Kind, _ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try device.shown()
        switch kind {
        case .submitAll:
            try check(.localFailure, "submitting all") { try device.package.submitPendingOperations() }
            return "all"
        case .sendLost: return try sendLost(device, &picks)
        case .submitRow:
            guard let row = picks.next(of: shown.filter { $0.change != .none }) else { return nil }
            meet(kind, row.object)
            let isInBatch = picks.isOne(of: 3)
            try check(.localFailure, "submitting \(row.tag)") {
                if isInBatch {
                    try device.package.entity(World.name(row.object)).submit(rows(row.tag))
                } else {
                    try device.entity(row).submitPending()
                }
            }
            return row.tag + (isInBatch ? " in a batch" : "")
        case .cancelRow:
            guard let row = picks.next(of: shown.filter { $0.change != .none }) else { return nil }
            meet(kind, row.object)
            try check(.localFailure, "cancelling \(row.tag)") { try device.entity(row).cancelPending() }
            try noteCancelled(device, shown, all: false)
            return row.tag
        default:
            try check(.localFailure, "cancelling all") { try device.package.cancelPendingOperations() }
            try noteCancelled(device, shown, all: true)
            return "all"
        }
    }

    /// Submits an operation again that a restored back end has lost.
    private func sendLost(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        guard let lost = picks.next(of: try device.package.lostOperations()),
            var edit = edits.last(where: { $0.device == device.id && $0.fate == .lost(lost.id) })
        else { return nil }
        let before = Set(try device.package.outbox.map(\.id))
        try check(.localFailure, "submitting the lost operation \(lost.id)") { try device.package.submitAgain(lost) }
        guard let id = try device.package.outbox.map(\.id).first(where: { !before.contains($0) }) else {
            throw failure(.lostEdit, "device \(device.index): the lost operation \(lost.id) was submitted again, and does not wait")
        }
        for place in edits.indices where edits[place].device == device.id && edits[place].fate == .lost(lost.id) { edits[place].isForgotten = true }
        // The row shows what the back end has until the answer comes. Large values are not kept.
        (edit.fate, edit.isTakenBack) = (.submitted(id), true)
        (edit.line, edit.life) = (lastLine, device.life)
        let large = Set(world.allColumns(edit.object).filter { $0.type == .largeBinary }.map(\.name))
        edit.values = edit.values.filter { !large.contains($0.key) }
        edits.append(edit)
        return "\(edit.tag) \(edit.stamp)"
    }

    /// Takes notice of rows that are not pending any more, and of deleted ones that are back.
    func noteCancelled(_ device: DeviceBench, _ before: [ShownRow], all: Bool) throws {
        let after = Dictionary(grouping: try device.shown(), by: \.tag), waiting = Set(try device.package.outbox.map(\.id))
        for row in before where row.change != .none && after[row.tag]?.contains(where: { $0.change != .none }) != true { drop(row.tag, device) }
        for place in edits.indices where edits[place].device == device.id {
            if case .submitted(let id) = edits[place].fate, !waiting.contains(id) { edits[place].fate = .cancelled }
            guard edits[place].isAlive else { continue }
            let rows = after[edits[place].tag] ?? []
            if edits[place].change == .delete {
                if rows.contains(where: { $0.change != .none }), edits[place].fate == .open {
                    // The submission before the delete waits again.
                    edits[place].fate = .cancelled
                } else if !rows.isEmpty || (all && edits[place].fate == .open) {
                    drop(edits[place].tag, device)
                }
            } else if all, edits[place].fate == .open, rows.allSatisfy({ $0.values["stamp"] != edits[place].stamp }) {
                // The row shows the values of its submission again.
                edits[place].fate = .cancelled
            }
        }
    }
}
