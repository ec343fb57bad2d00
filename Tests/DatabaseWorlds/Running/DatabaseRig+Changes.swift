internal import MobileModel
internal import MobileObjects

/// Changes of the device, each next to the same statement in the database.
extension DatabaseRig {
    func changeRows(of index: Int) throws {
        let table = world.tables[index]
        guard let object = objects[index], !table.key.isEmpty else { return }
        for change in table.changes where table.rows.indices.contains(change.row) { try update(change, index, object) }
        for (place, row) in table.newRows.enumerated() { try create(row, isShort: place == 0, index, object) }
        if let row = table.deleted, table.rows.indices.contains(row) { try delete(table.rows[row], index, object) }
    }

    /// A change that both do.
    private struct Change {
        let text: String
        let index: Int, object: ObjectModel
        /// The columns that the device has set.
        let columns: [Int]
        /// The texts that the device has set, by column.
        let values: [Int: String]
        var volatile: Set<Int> = []
        let before: DatabaseTruth.Rows
        let twin: DatabaseTruth.Twin
    }

    private func update(_ change: DatabaseChange, _ index: Int, _ object: ObjectModel) throws {
        let table = world.tables[index], column = table.columns[change.column]
        guard let attribute = attribute(change.column, of: table, object), let key = try truth.key(ofRow: table.rows[change.row], index),
            let shownKey = shownKey(key, of: table, object), let entity = try shownRows(object).first(where: { $0.key == shownKey })?.entity,
            let value = try truth.value(change.value, column),
            case .shown(let text) = Meaning(value, in: attribute, isKey: table.isKey(change.column), world.engine)
        else { return }
        let statement = """
            UPDATE \(world.name(index)) SET \(NamePool.quoted(column.name)) = \(change.value) WHERE \(world.condition(table.rows[change.row], of: index))
            """
        let done = Change(
            text: statement, index: index, object: object, columns: [change.column], values: text.map { [change.column: $0] } ?? [:],
            before: try truth.rows(), twin: try truth.twin(statement))
        // The reference is set before the answer is known, so that one that cannot be set makes no change.
        let isSet = try setReference(of: entity, [change.column], ["\(change.column)": text], index, object)
        try perform(done) {
            if !isSet { try device.set(text, attribute, of: entity) }
            try entity.update()
        }
    }

    private func create(_ row: [String], isShort: Bool, _ index: Int, _ object: ObjectModel) throws {
        let table = world.tables[index], required = table.required(world.engine)
        // A key with a function as its default is the database's in the model: a device gives it no value.
        let columns = (isShort ? required : table.columns.indices.filter { !table.columns[$0].isMade }).filter { place in
            guard table.columns[place].defaultValue != nil, let attribute = attribute(place, of: table, object) else { return true }
            // So does a device that has nothing for a column whose default is not in the model.
            return !attribute.isGenerated && (row[place] != "NULL" || attribute.defaultValue != nil)
        }
        var values: [String: String?] = [:]
        for place in columns {
            guard let attribute = attribute(place, of: table, object), let value = try truth.value(row[place], table.columns[place]),
                case .shown(let text) = Meaning(value, in: attribute, isKey: table.isKey(place), world.engine)
            else { return }
            values["\(place)"] = text
        }
        let statement = world.insert(row, into: index, columns: columns)
        let volatile = table.columns.indices.filter { place in
            let column = table.columns[place], isFunction = column.defaultValue.map { $0.hasSuffix(")") || $0.hasPrefix("CURRENT") } ?? false
            return !columns.contains(place) && (isFunction || column.isMade && !column.isComputed)
        }
        let done = Change(
            text: statement, index: index, object: object, columns: columns,
            values: Dictionary(uniqueKeysWithValues: columns.compactMap { place in (values["\(place)"] ?? nil).map { (place, $0) } }),
            volatile: Set(volatile), before: try truth.rows(), twin: try truth.twin(statement))
        let entity = try GenericEntity(object.name, in: device.package)
        var left = columns
        for reference in table.references where Set(reference.columns).isSubset(of: columns) {
            if try setReference(of: entity, reference.columns, values, index, object) { left.removeAll { reference.columns.contains($0) } }
        }
        try perform(done) {
            for place in left {
                guard let attribute = attribute(place, of: table, object) else { continue }
                try device.set(values["\(place)"] ?? nil, attribute, of: entity)
            }
            try entity.create()
        }
    }

    private func delete(_ row: [String], _ index: Int, _ object: ObjectModel) throws {
        let table = world.tables[index]
        guard let key = try truth.key(ofRow: row, index), let shownKey = shownKey(key, of: table, object),
            let entity = try shownRows(object).first(where: { $0.key == shownKey })?.entity
        else { return }
        let statement = "DELETE FROM \(world.name(index)) WHERE \(world.condition(row, of: index))"
        let done = Change(
            text: statement, index: index, object: object, columns: [], values: [:], before: try truth.rows(), twin: try truth.twin(statement))
        try perform(done) { try entity.delete() }
    }

    /// Sets a reference by its object, in every second world.
    /// - Returns: false in other worlds, where its attributes are set, if these columns are not the reference of a relationship, and if there is no such
    ///   object.
    private func setReference(of entity: GenericEntity, _ columns: [Int], _ values: [String: String?], _ index: Int, _ object: ObjectModel) throws
        -> Bool
    {
        guard world.seed.isMultiple(of: 2) else { return false }
        let table = world.tables[index], names = Set(columns.compactMap { attribute($0, of: table, object)?.name })
        guard let relationship = object.relationships.first(where: { $0.cardinality == .manyToOne && Set($0.mapping.map(\.source)) == names }),
            let target = objects.values.first(where: { $0.name == relationship.target })
        else { return false }
        var wanted: [String: String?] = [:]
        for place in columns {
            guard let name = attribute(place, of: table, object)?.name, let pair = relationship.mapping.first(where: { $0.source == name }) else {
                continue
            }
            wanted[pair.target] = values["\(place)"] ?? nil
        }
        let key = target.primaryKey.map { wanted[$0] ?? nil }
        guard !key.contains(nil) else {
            try entity.setParent(nil as GenericEntity?, relationship.name)
            return true
        }
        guard let parent = try shownRows(target).first(where: { $0.key == key })?.entity else { return false }
        try entity.setParent(parent, relationship.name)
        return true
    }

    // MARK: Judging

    private func perform(_ change: Change, _ body: () throws -> Void) throws {
        changes += 1
        do { try body() } catch {
            note("\(change.text): the device refuses it: \(error)")
            // SQLite does not enforce the lengths that its declarations have.
            guard case .accepted = change.twin, !isTooLong(change) else { return }
            throw DatabaseFailure(kind: .refusedLocally, text: "\(change.text): \(error)")
        }
        let answer: DatabaseDevice.Answer
        do { answer = try device.submit() } catch { throw DatabaseFailure(kind: .deviceStuck, text: "\(change.text): \(error)") }
        switch (change.twin, answer) {
        case (_, .deferred): throw DatabaseFailure(kind: .undecided, text: change.text)
        case (.accepted(let expected), .accepted):
            note("\(change.text): accepted")
            try compare(change, expected)
        case (.accepted(let rows), .rejected(let message)):
            guard try isUnkept(change, rows) else { throw DatabaseFailure(kind: .refused, text: "\(change.text): \(message)") }
            note("\(change.text): refused: \(message)")
            try undo(change)
        case (.refused(let reason), .accepted):
            throw DatabaseFailure(kind: .acceptedAnyway, text: "\(change.text): \(reason)")
        case (.refused(let reason), .rejected(let message)):
            note("\(change.text): refused: \(message)")
            try checkRefusal(message, reason, change)
            try undo(change)
        }
        try synchronizeAndCompare("after \(change.text)")
    }

    private func undo(_ change: Change) throws {
        try compare(change, change.before)
        do { try device.package.cancelPendingOperations() } catch {
            throw DatabaseFailure(kind: .deviceStuck, text: "\(change.text): cancelling: \(error)")
        }
    }

    /// Whether the server has to refuse what the database takes: a column that makes another value of the text that the device has set, or a new row
    /// with a value of its own that the attribute cannot hold.
    private func isUnkept(_ change: Change, _ rows: DatabaseTruth.Rows) throws -> Bool {
        let table = world.tables[change.index]
        func isString(_ attribute: AttributeModel) -> Bool { [.string, .char, .bigString].contains(attribute.type) }
        for (place, text) in change.values {
            guard let attribute = attribute(place, of: table, change.object), isString(attribute),
                let kept = try truth.value(NamePool.literal(text), table.columns[place])
            else { continue }
            if Meaning(kept, in: attribute, world.engine) != .shown(text) { return true }
        }
        let new = rows[change.index].filter { change.before[change.index][$0.key] == nil }.values
        return table.columns.indices.contains { place in
            guard !change.columns.contains(place), let attribute = attribute(place, of: table, change.object) else { return false }
            return new.contains { Meaning($0[place], in: attribute, world.engine) == .unfit }
        }
    }

    private func isTooLong(_ change: Change) -> Bool {
        guard world.engine == .sqlite, case .accepted(let rows) = change.twin else { return false }
        let table = world.tables[change.index]
        return change.columns.contains { place in
            guard let attribute = attribute(place, of: table, change.object), let length = attribute.length else { return false }
            let isDeclared = ColumnType.of(table.columns[place].type, .sqlite).sql.contains("\(length)")
            return isDeclared && rows[change.index].values.contains { Meaning.isTooLong($0[place], for: attribute) }
        }
    }

    private func compare(_ change: Change, _ expected: DatabaseTruth.Rows) throws {
        let table = world.tables[change.index], engine = world.engine
        var set: [Int: (StoredValue, StoredValue) -> Bool] = [:]
        for place in change.columns {
            guard let attribute = attribute(place, of: table, change.object) else { continue }
            set[place] = { expected, found in
                let first = Meaning(expected, in: attribute, engine)
                // A string is written as a text, also where the row had its bytes.
                let isString = [.string, .char, .bigString].contains(attribute.type)
                return first != .unfit && (expected.isBytes == found.isBytes || isString && expected.isBytes)
                    && first == Meaning(found, in: attribute, engine)
            }
        }
        let rows = ChangedRows(world: world, before: change.before, expected: expected, table: change.index, set: set, volatile: change.volatile)
        if let difference = rows.difference(try truth.rows()) { throw DatabaseFailure(kind: .wrongResult, text: "\(change.text): \(difference)") }
    }

    /// A refusal names a constraint, a column, an attribute, an allowed value, or has the words of the trigger.
    private func checkRefusal(_ message: String, _ reason: String, _ change: Change) throws {
        let table = world.tables[change.index]
        var names = reason.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        names += change.columns.flatMap { [table.columns[$0].name, attribute($0, of: table, change.object)?.name ?? ""] }
        names += change.columns.flatMap { ColumnType.of(table.columns[$0].type, world.engine).values.map { String($0.dropFirst().dropLast()) } }
        names += [DatabaseWorld.refusal, "refers"]
        if let mark = reason.firstRange(of: "constraint failed: ") { names.append(String(reason[mark.upperBound...])) }
        guard
            !names.contains(where: { !$0.isEmpty && $0 != table.name && message.contains($0) })
                || (reason.contains(DatabaseWorld.refusal) && !message.contains(DatabaseWorld.refusal))
        else { return }
        throw DatabaseFailure(kind: .vagueRefusal, text: "\(change.text): \"\(message)\" for \(reason.split(separator: "\n").first ?? "")")
    }
}
