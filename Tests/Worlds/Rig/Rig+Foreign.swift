/// Changes of other applications in the back end.
extension Rig {
    func foreignStep(_ kind: Step.Kind, _ picks: inout Picks) throws -> String? {
        if kind == .foreignInsert { return try foreignInsert(picks.next(world.objects.count), picks.next(1000)) }
        let truth = try Truth(enterprise, world)
        guard let row = picks.next(of: truth.rows.values.sorted { $0.tag < $1.tag }) else { return nil }
        let object = row.object, model = world.objects[object]
        meet(kind, object)
        var assignments = ["stamp = 'f\(number())'"], place = "tag = '\(row.tag)'"
        switch kind {
        case .foreignDelete:
            let before = truth.rows
            guard try foreign("DELETE FROM \(World.table(object)) WHERE tag = '\(row.tag)'") else { return nil }
            let after = try Truth(enterprise, world).rows
            for (tag, row) in before where after[tag] == nil { noteFreeKey(row) }
            return row.tag
        case .foreignMove:
            guard model.hasRegion else { return nil }
            assignments.append("region = '\(Region.allCases[picks.next(3)].rawValue)'")
            // All rows of a region at once: many rows go to devices in another way than one.
            if picks.isOne(of: 2), let region = row.values["region"] { place = "region = '\(region)'" }
        case .foreignReference:
            guard !model.references.isEmpty else { return nil }
            let index = picks.next(model.references.count), reference = model.references[index], columns = world.columns(ofReference: index, object)
            let targets = truth.rows.values.filter { $0.object == reference.target }.sorted { $0.tag < $1.tag }
            let target = reference.isNullable && picks.isOne(of: 3) ? nil : picks.next(of: targets)
            guard target != nil || reference.isNullable else { return nil }
            for (place, column) in columns.enumerated() {
                assignments.append("\(column.name) = \(target.map { column.type.literal($0.key(world)[place], stores) } ?? "NULL")")
            }
        default:
            let index = picks.next(model.attributes.count), attribute = model.attributes[index]
            assignments.append("a\(index) = \(value(of: attribute, picks.next(4), picks.next(1000)))")
        }
        guard try foreign("UPDATE \(World.table(object)) SET \(assignments.joined(separator: ", ")) WHERE \(place)") else { return nil }
        return "\(place): \(assignments.joined(separator: ", "))"
    }

    /// Remembers the key of a row that is gone, so that another row may have it.
    private func noteFreeKey(_ row: Truth.Row) {
        guard world.objects[row.object].key != .generated else { return }
        let key = row.key(world)
        if let number = (0...counter).first(where: { world.objects[row.object].key.values($0) == key }) {
            freeKeys[row.object, default: []].append(number)
        }
    }

    /// A value as another application writes it: rarely NULL, or one that the attribute cannot hold.
    private func value(of attribute: WorldAttribute, _ kind: Int, _ pick: Int) -> String {
        if attribute.getsUnfitValues, kind == 2 {
            let unfit = attribute.type.unfitValues(stores) + (attribute.isNullable ? [] : ["NULL"])
            if !unfit.isEmpty { return unfit[pick % unfit.count] }
        }
        return attribute.isNullable && kind == 3 ? "NULL" : attribute.type.literal(attribute.type.pool[pick % attribute.type.pool.count], stores)
    }

    /// Inserts a row that refers to any rows.
    @discardableResult
    func foreignInsert(_ object: Int, _ pick: Int) throws -> String? {
        let model = world.objects[object], truth = try Truth(enterprise, world), number = self.number(), tag = Self.tag(number)
        var values = ["tag": "'\(tag)'", "stamp": "'f\(self.number())'"]
        if model.key != .generated {
            var key = model.key.values(number)
            if pick % 3 == 2 { key = longKey(object, key, truth) }
            for ((column, value), type) in zip(zip(world.keyColumns(object), key), model.key.types) { values[column] = type.literal(value, stores) }
        }
        if model.hasRegion { values["region"] = "'\(Region.allCases[pick % 3].rawValue)'" }
        for (index, attribute) in model.attributes.enumerated() {
            values["a\(index)"] =
                attribute.isNullable && pick % 4 == 3
                ? "NULL" : attribute.type.literal(attribute.type.pool[pick / 3 % attribute.type.pool.count], stores)
        }
        for (index, reference) in model.references.enumerated() {
            let targets = truth.rows.values.filter { $0.object == reference.target }.sorted { $0.tag < $1.tag }
            guard !targets.isEmpty else {
                guard reference.isNullable else { return nil }
                continue
            }
            if reference.isNullable, pick % 5 == 4 { continue }
            let target = targets[(pick / 2 + index) % targets.count]
            for (column, value) in zip(world.columns(ofReference: index, object), target.key(world)) {
                values[column.name] = column.type.literal(value, stores)
            }
        }
        let columns = values.sorted { $0.key < $1.key }
        let sql =
            "INSERT INTO \(World.table(object)) (\(columns.map(\.key).joined(separator: ", "))) VALUES (\(columns.map(\.value).joined(separator: ", ")))"
        guard try foreign(sql) else { return nil }
        meet(.foreignInsert, object)
        return tag
    }

    /// A key with more digits than the model knows, from another application: a decimal, or a time within the millisecond of another row.
    private func longKey(_ object: Int, _ key: [String], _ truth: Truth) -> [String] {
        switch world.objects[object].key {
        case .decimal: return [key[0] + "0001"]
        case .dateTime where stores != .sqlite:
            let other = truth.rows.values.filter { $0.object == object && $0.key(world)[0].count == 23 }.min { $0.tag < $1.tag }
            return [(other?.key(world) ?? key)[0] + "001"]
        default: return key
        }
    }
}
