internal import TestSupport

/// Rules of the engines, and the rows.
extension DatabaseDraw {
    /// Takes back what the engines or other parts exclude.
    func repair(_ world: inout DatabaseWorld) {
        for index in world.tables.indices {
            var table = world.tables[index]
            repairOptions(&table)
            for place in table.columns.indices { repairColumn(place, &table) }
            if table.columns.allSatisfy(\.isComputed) { table.columns.append(DatabaseColumn(name: "plain", type: .integers)) }
            world.tables[index] = table
        }
        for index in world.tables.indices { repairTimes(&world.tables[index]) }
        for index in world.tables.indices {
            let tables = world.tables
            world.tables[index].references.removeAll { reference in
                let target = tables[reference.table]
                return target.options.contains(.partitions) && reference.targets != target.key
                    || reference.targets.contains { target.columns[$0].isComputed }
                    || target.options.contains(.nullKey) || reference.targets != target.key && !target.columns[reference.targets[0]].isUnique
            }
        }
    }

    /// Keeps the rules of SQLite's columns of times away from their text.
    private func repairTimes(_ table: inout DatabaseTable) {
        guard engine == .sqlite, avoided.contains(.textOfTimes) else { return }
        for place in table.columns.indices
        where [.timestamps, .dateTimes].contains(table.columns[place].type) || table.columns[place].specials.contains(.numberInTime) {
            (table.columns[place].excluded, table.columns[place].isUnique) = (nil, false)
            // The trigger is about one of the columns.
            table.options.remove(.refusingTrigger)
        }
    }

    private func repairOptions(_ table: inout DatabaseTable) {
        if table.key.isEmpty || table.key.contains(where: { table.columns[$0].made == .serial }) { table.options.remove(.withoutRowID) }
        if table.options.contains(.strict), !table.columns.allSatisfy({ ColumnType.strictTypes.contains($0.type) }) {
            // An ANY column exists in such a table only: the other columns follow.
            if table.columns.contains(where: { $0.type == .anyValues }) {
                for place in table.columns.indices where !ColumnType.strictTypes.contains(table.columns[place].type) {
                    table.columns[place] = DatabaseColumn(
                        name: table.columns[place].name, type: .texts, isNullable: table.columns[place].isNullable,
                        made: table.columns[place].isComputed ? .stored : .given)
                }
            } else {
                table.options.remove(.strict)
            }
        }
        if table.options.contains(.nullKey),
            !table.options.isDisjoint(with: [.withoutRowID]) || table.key.isEmpty || table.key.contains(where: { table.columns[$0].isMade })
        {
            table.options.remove(.nullKey)
        }
        if table.options.contains(.descendingKey), table.key.count != 1 || table.columns[table.key[0]].isMade { table.options.remove(.descendingKey) }
        if table.options.contains(.autoincrement), table.key.count != 1 || table.columns[table.key[0]].made != .serial {
            table.options.remove(.autoincrement)
        }
        if table.options.contains(.partitions) {
            if table.key.isEmpty || !table.options.isDisjoint(with: [.inheritance, .otherSchema]) { table.options.remove(.partitions) }
            for place in table.columns.indices { table.columns[place].isUnique = false }
            for place in table.columns.indices where table.columns[place].made == .identityAlways || table.columns[place].made == .identityByDefault {
                table.columns[place].made = table.key.contains(place) ? .serial : .given
            }
        }
        if table.options.contains(.inheritance), table.columns.contains(where: { $0.name == "extra" }) { table.options.remove(.inheritance) }
        if table.options.contains(.foreignCollation), table.options.contains(.strict) { table.options.remove(.foreignCollation) }
    }

    private func repairColumn(_ place: Int, _ table: inout DatabaseTable) {
        var column = table.columns[place]
        let isKey = table.key.contains(place), isReference = table.references.contains { $0.columns.contains(place) }
        if isKey || isReference { (column.excluded, column.isUnique) = (nil, isReference ? false : column.isUnique) }
        if isReference || column.isMade { column.defaultValue = nil }
        if isReference { column.made = .given }
        if column.isMade { (column.excluded, column.specials) = (nil, []) }
        // PostgreSQL compares no value of a composite type with a text.
        if column.type == .composites { column.excluded = nil }
        if isKey { column.specials = column.specials.intersection([.microseconds, .manyDigits, .unicodeText, .emptyText, .emptyBytes]) }
        if column.isUnique || column.excluded != nil { column.specials = [] }
        if column.defaultValue == column.excluded { column.excluded = nil }
        if column.isUnique { column.defaultValue = nil }
        // No draw of its own, so that each seed stays what it was.
        let hasListedValues = !column.isUnique && (column.defaultValue.map { ColumnType.of(column.type, engine).values.contains($0) } ?? true)
        column.isListed = column.excluded != nil && hasListedValues && place % 2 == 0 ? true : nil
        if isKey { column.isNullable = table.options.contains(.nullKey) }
        if table.options.contains(.strict) {
            column.specials.subtract([.textInNumber, .fractionInInteger, .bytesInText].filter { _ in column.type != .anyValues })
        }
        if table.options.contains(.strict), column.type == .integers || column.type == .reals || column.type == .texts {
            column.specials.remove(.manyDigits)
        }
        if engine == .postgreSQL, column.made == .serial || column.made == .identityAlways || column.made == .identityByDefault {
            (column.type, column.isNullable) = (.integers, false)
        }
        if engine == .sqlite, column.made == .serial, table.key != [place] { column.made = .given }
        if column.isComputed { (column.type, column.isUnique, column.isNullable, column.defaultValue) = (.texts, false, true, nil) }
        table.columns[place] = column
    }

    // MARK: Rows

    /// Draws the rows of a table, and the changes of the device. Tables that it refers to have theirs, unless they come later.
    mutating func fill(_ index: Int, _ world: inout DatabaseWorld) {
        let table = world.tables[index], isEmpty = table.options.contains(.emptyTable)
        for place in 0..<(isEmpty ? 0 : element([2, 3, 4])) { world.tables[index].rows.append(row(of: index, place, world)) }
        if may(.laterRow), table.options.contains(.laterRow) || isOne(of: 4) { world.tables[index].laterRows.append(row(of: index, 8, world)) }
        world.tables[index].options.subtract([.laterRow, .emptyTable, .nullValue])
        for place in 0..<2 { world.tables[index].newRows.append(row(of: index, 10 + place, world)) }
        if table.options.contains(.nullKey), let row = world.tables[index].rows.indices.last {
            for place in table.key { world.tables[index].rows[row][place] = "NULL" }
        }
        addChanges(index, &world)
    }

    private mutating func row(of index: Int, _ place: Int, _ world: DatabaseWorld) -> [String] {
        let table = world.tables[index]
        var row = table.columns.indices.map { value($0, of: table, place, world) }
        for reference in table.references {
            let rows = world.tables[reference.table].rows, isNullable = reference.columns.allSatisfy { table.columns[$0].isNullable }
            let isNull = isNullable && (reference.table > index || isOne(of: 3)), target = rows.isEmpty || isNull ? nil : element(rows)
            for (column, other) in zip(reference.columns, reference.targets) { row[column] = target?[other] ?? "NULL" }
        }
        return row
    }

    private mutating func value(_ place: Int, of table: DatabaseTable, _ row: Int, _ world: DatabaseWorld) -> String {
        let column = table.columns[place], known = ColumnType.of(column.type, engine)
        if column.made == .serial || column.made == .identityAlways || column.made == .identityByDefault { return "\(row + 1)" }
        let isKey = table.key.contains(place)
        if !column.specials.isEmpty, row == 1 || isOne(of: 4), let special = column.specials.sorted().randomElement(using: &random),
            !isKey || row == 1
        {
            return element(known.specials[special] ?? known.values)
        }
        if column.isUnique || isKey, let distinct = known.distinct {
            return distinct(table.key.count > 1 && place == table.key.first ? row / 2 : row)
        }
        if column.isNullable, may(.nullValue), isOne(of: 4) { return "NULL" }
        return element(column.excluded == nil ? known.values : known.values.filter { $0 != column.excluded })
    }

    private mutating func addChanges(_ index: Int, _ world: inout DatabaseWorld) {
        let table = world.tables[index]
        guard !table.rows.isEmpty, !table.key.isEmpty else { return }
        let places = table.columns.indices.filter {
            !table.key.contains($0) && !table.columns[$0].isComputed
        }
        for place in places.shuffled(using: &random).prefix(3) {
            let column = table.columns[place], row = Int.random(in: 0..<table.rows.count, using: &random)
            world.tables[index].changes.append(DatabaseChange(row: row, column: place, value: changed(place, of: index, world)))
            let known = ColumnType.of(column.type, engine)
            let refused = column.excluded ?? known.refused ?? (table.options.contains(.refusingTrigger) ? known.values.last : nil)
            if let refused, isOne(of: 2) || column.excluded != nil, !table.references.contains(where: { $0.columns.contains(place) }) {
                world.tables[index].changes.append(DatabaseChange(row: row, column: place, value: refused))
            }
        }
        world.tables[index].deleted = table.rows.count - 1
    }

    private mutating func changed(_ place: Int, of index: Int, _ world: DatabaseWorld) -> String {
        let row = self.row(of: index, 12, world)
        return row[place]
    }
}
