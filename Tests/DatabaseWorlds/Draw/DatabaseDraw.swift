internal import TestSupport

/// Draws databases from seeds. Each seed has a *theme*, two features that its database contains: seed after seed goes through all pairs.
package struct DatabaseDraw {
    var random: SeededGenerator
    private let seed: UInt64
    let engine: DatabaseEngine
    /// Features that it leaves out.
    private let left: Set<DatabaseFeature>
    let avoided: Set<DatabaseFault>
    /// Names that the table in the making has, in lower case.
    private var used: Set<String> = []
    private var counter = 0

    /// The draw of one seed; the same seed gives the same database.
    /// - Parameter avoided: known faults that the database keeps away from.
    package init(seed: UInt64, engine: DatabaseEngine, avoiding avoided: Set<DatabaseFault>) {
        self.seed = seed
        self.engine = engine
        self.avoided = avoided
        left = avoided.reduce(into: []) { $0.formUnion($1.features(engine)) }
        random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ 77)
    }

    /// All pairs of features of an engine, in the order in which seeds have them as their themes.
    package static func pairs(_ engine: DatabaseEngine) -> [(DatabaseFeature, DatabaseFeature)] {
        engine == .sqlite ? pairsOfSQLite : pairsOfPostgreSQL
    }
    private static let pairsOfSQLite = shuffledPairs(.sqlite), pairsOfPostgreSQL = shuffledPairs(.postgreSQL)

    private static func shuffledPairs(_ engine: DatabaseEngine) -> [(DatabaseFeature, DatabaseFeature)] {
        let features = DatabaseFeature.all(engine)
        var pairs: [(DatabaseFeature, DatabaseFeature)] = [], random = SeededGenerator(seed: 43)
        for (place, first) in features.enumerated() { for second in features[..<place] { pairs.append((first, second)) } }
        pairs.shuffle(using: &random)
        return pairs
    }

    /// Draws the database.
    package mutating func world() -> DatabaseWorld {
        let pairs = Self.pairs(engine), theme = pairs[Int(seed % UInt64(pairs.count))], wanted = Set([theme.0, theme.1]).subtracting(left)
        var world = self.world(wanted)
        // Two features may exclude each other where chance brings them together: then they are drawn apart.
        for _ in 0..<20 where !world.features.isSuperset(of: wanted) { world = self.world(wanted) }
        return world
    }

    private mutating func world(_ wanted: Set<DatabaseFeature>) -> DatabaseWorld {
        var world = DatabaseWorld(seed: seed, engine: engine, tables: [])
        used = []
        let count = element([1, 1, 2, 2, 3, 4])
        for _ in 0..<count { world.tables.append(table()) }
        for index in world.tables.indices where isOne(of: 2) { addReference(to: index, &world) }
        for feature in wanted.sorted() { force(feature, &world) }
        repair(&world)
        for index in world.tables.indices { fill(index, &world) }
        return world
    }

    // MARK: Chance

    mutating func element<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }
    mutating func isOne(of count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    func may(_ feature: DatabaseFeature) -> Bool { !left.contains(feature) && feature.isPossible(engine) }
    mutating func number() -> Int {
        counter += 1
        return counter
    }

    // MARK: Tables

    private mutating func name(ofTable: Bool, _ feature: DatabaseFeature? = nil) -> String {
        var names: [String] = []
        if let feature {
            names = NamePool.names[feature] ?? []
        } else if isOne(of: 5) {
            let others = ofTable ? NamePool.ofColumns : NamePool.ofTables
            names =
                NamePool.names.keys.filter { may($0) && !others.contains($0) }.sorted().randomElement(using: &random).flatMap { NamePool.names[$0] }
                ?? []
        }
        for name in names.shuffled(using: &random) where isFree(name, ofTable) { return name }
        var plain = ""
        repeat { plain = (ofTable ? "table" : "column") + "\(number())" } while !isFree(plain, ofTable)
        return plain
    }

    /// Names of tables begin with a point here, those of columns do not.
    private mutating func isFree(_ name: String, _ ofTable: Bool) -> Bool {
        let isExact = may(ofTable ? .caseOnlyTables : .caseOnlyColumns)
        return used.insert((ofTable ? "." : "") + (isExact ? name : name.lowercased())).inserted
    }

    private mutating func table() -> DatabaseTable {
        var table = DatabaseTable(name: name(ofTable: true), columns: [], key: [])
        used = used.filter { $0.hasPrefix(".") }
        for _ in 0..<Int.random(in: 1...5, using: &random) { table.columns.append(column()) }
        let kinds: [DatabaseFeature] = [.generatedKey, .generatedKey, .plainKey, .typedKey, .functionKey, .compositeKey, .noKey]
        setKey(element(kinds.filter { may($0) }), &table)
        let options: [DatabaseFeature] = [.withoutRowID, .strict, .view, .refusingTrigger, .computingTrigger, .otherSchema, .inheritance]
        for option in options where may(option) && isOne(of: 10) { table.options.insert(option) }
        return table
    }

    private mutating func column(_ type: DatabaseFeature? = nil) -> DatabaseColumn {
        let types = ColumnType.features(engine).filter { may($0) && $0 != .anyValues }
        var column = DatabaseColumn(name: name(ofTable: false), type: type ?? element(types))
        let known = ColumnType.of(column.type, engine)
        column.isNullable = may(.nullableColumn) && isOne(of: 2)
        if may(.constantDefault), isOne(of: 4) { column.defaultValue = known.values[Int.random(in: 0..<2, using: &random)] }
        if may(.functionDefault), isOne(of: 6), let function = known.function { column.defaultValue = function }
        if may(.check), isOne(of: 8), known.isComparable, known.values.count > 2, known.values.last != known.values.first {
            column.excluded = known.values.last
        }
        if may(.unique), isOne(of: 10), known.distinct != nil, known.isComparable { column.isUnique = true }
        for special in known.specials.keys.sorted() where may(special) && isOne(of: 4) { column.specials.insert(special) }
        return column
    }

    private mutating func keyColumn(_ type: DatabaseFeature) -> DatabaseColumn {
        DatabaseColumn(name: isOne(of: 2) && isFree("id", false) ? "id" : name(ofTable: false), type: type, isNullable: false)
    }

    private var keyTypes: [DatabaseFeature] {
        let excluded = avoided.reduce(into: Set([DatabaseFeature.anyValues])) { $0.formUnion($1.keys(engine)) }
        return ColumnType.features(engine).filter { may($0) && ColumnType.of($0, engine).distinct != nil && !excluded.contains($0) }
    }

    private mutating func setKey(_ kind: DatabaseFeature, _ table: inout DatabaseTable) {
        for place in table.key.sorted(by: >) where table.columns.count > table.key.count { remove(place, from: &table) }
        table.key = []
        guard kind != .noKey else { return }
        let count = kind == .compositeKey ? element([2, 2, 3]) : 1, start = isOne(of: 3) ? table.columns.count : 0
        for place in 0..<count {
            var column = keyColumn([.typedKey, .compositeKey].contains(kind) ? element(keyTypes) : kind == .functionKey ? .uuids : .integers)
            if kind == .typedKey, column.type == .integers { column.type = .texts }
            if kind == .functionKey { column.defaultValue = ColumnType.of(.uuids, engine).function }
            if kind == .generatedKey {
                column.made = element([.serial, .serial] + [.identityByDefault, .identityAlways].filter { _ in engine == .postgreSQL })
            }
            if column.made == .identityAlways, !may(.identityAlways) || column.made == .identityByDefault, !may(.identityByDefault) {
                column.made = .serial
            }
            table.columns.insert(column, at: start + place)
        }
        table.key = Array(start..<start + count)
    }

    private func remove(_ place: Int, from table: inout DatabaseTable) {
        table.columns.remove(at: place)
        table.key = table.key.filter { $0 != place }.map { $0 > place ? $0 - 1 : $0 }
    }

    // MARK: References

    /// Adds a reference to the key of a table, or to a unique column.
    private mutating func addReference(
        to index: Int, target: Int? = nil, isRequired: Bool? = nil, onDelete: DatabaseReference.OnDelete? = nil, _ world: inout DatabaseWorld
    ) {
        let target = target ?? Int.random(in: 0...index, using: &random), other = world.tables[target]
        let isRequired = target < index && (isRequired ?? isOne(of: 2)) && (may(.requiredReference))
        guard isRequired || may(.nullableReference), target != index || may(.selfReference), target <= index || may(.forwardReference) else { return }
        let isUnique = may(.uniqueReference) && isOne(of: 4), unique = other.columns.firstIndex { $0.isUnique && !$0.isMade }
        let targets = isUnique && unique != nil ? [unique ?? 0] : other.key
        guard !targets.isEmpty, targets.count == 1 || may(.compositeReference) else { return }
        used = used.filter { $0.hasPrefix(".") }.union(world.tables[index].columns.map { may(.caseOnlyColumns) ? $0.name : $0.name.lowercased() })
        var reference = DatabaseReference(columns: [], table: target, targets: targets)
        for place in targets {
            var column = DatabaseColumn(name: isOne(of: 2) ? name(ofTable: false) : "ref\(number())", type: other.columns[place].type)
            column.isNullable = !isRequired
            reference.columns.append(world.tables[index].columns.count)
            world.tables[index].columns.append(column)
        }
        let choices: [DatabaseReference.OnDelete] = [.noAction] + (may(.cascade) ? [.cascade] : []) + (may(.setNull) && !isRequired ? [.setNull] : [])
        reference.onDelete = onDelete ?? element(choices)
        world.tables[index].references.append(reference)
    }

    // MARK: Forcing

    /// Gives a feature to one of the tables.
    private mutating func force(_ feature: DatabaseFeature, _ world: inout DatabaseWorld) {
        var index = Int.random(in: 0..<world.tables.count, using: &random)
        used = used.filter { $0.hasPrefix(".") }.union(world.tables[index].columns.map { may(.caseOnlyColumns) ? $0.name : $0.name.lowercased() })
        if NamePool.names[feature] != nil {
            let isTable = !NamePool.ofColumns.contains(feature) && (NamePool.ofTables.contains(feature) || isOne(of: 2))
            forceName(feature, isTable, index, &world)
        } else if ColumnType.features(engine).contains(feature) {
            world.tables[index].columns.append(column(feature))
            if feature == .anyValues { world.tables[index].options.insert(.strict) }
        } else if let type = ColumnType.features(engine).filter({ may($0) && ColumnType.of($0, engine).specials[feature] != nil }).shuffled(
            using: &random
        ).first {
            var column = self.column(type)
            column.specials.insert(feature)
            (column.excluded, column.isUnique) = (nil, false)
            world.tables[index].columns.append(column)
        } else if [.generatedKey, .plainKey, .typedKey, .functionKey, .compositeKey, .noKey].contains(feature) {
            index = world.tables.count - 1
            forceKey(feature, index, &world)
        } else {
            forceOther(feature, index, &world)
        }
    }

    private mutating func forceName(_ feature: DatabaseFeature, _ isTable: Bool, _ index: Int, _ world: inout DatabaseWorld) {
        if feature == .caseOnlyTables || feature == .caseOnlyColumns {
            guard isTable else {
                for name in ["NOTE", "Note"] {
                    var column = self.column(.texts)
                    column.name = name
                    if !world.tables[index].columns.contains(where: { $0.name == name }) { world.tables[index].columns.append(column) }
                }
                return
            }
            if world.tables.count < 2 { world.tables.append(table()) }
            for (place, name) in ["PLAIN", "plain"].enumerated() where !world.tables.contains(where: { $0.name == name }) {
                world.tables[place].name = name
            }
        } else if isTable {
            world.tables[index].name = name(ofTable: true, feature)
        } else {
            let place = Int.random(in: 0..<world.tables[index].columns.count, using: &random)
            world.tables[index].columns[place].name = name(ofTable: false, feature)
        }
    }

    /// Gives a table another key, unless references know its columns by their places.
    @discardableResult
    private mutating func forceKey(_ kind: DatabaseFeature, _ index: Int, _ world: inout DatabaseWorld) -> Bool {
        guard world.tables[index].references.isEmpty, !world.tables.contains(where: { $0.references.contains { $0.table == index } }) else {
            return false
        }
        setKey(kind, &world.tables[index])
        return true
    }

    private mutating func forceOther(_ feature: DatabaseFeature, _ index: Int, _ world: inout DatabaseWorld) {
        let last = world.tables.count - 1
        func change(_ change: (inout DatabaseColumn) -> Void) {
            let places = world.tables[index].columns.indices.filter { !world.tables[index].key.contains($0) }
            for place in places.prefix(1) { change(&world.tables[index].columns[place]) }
        }
        switch feature {
        case .nullableColumn, .nullValue:
            var column = self.column()
            column.isNullable = true
            world.tables[index].columns.append(column)
        case .constantDefault: change { $0.defaultValue = ColumnType.of($0.type, engine).values[0] }
        case .functionDefault:
            var column = self.column(engine == .sqlite ? .timestamps : element([.timestamps, .uuids, .texts].filter { may($0) } + [.integers]))
            column.defaultValue = ColumnType.of(column.type, engine).function
            (column.isUnique, column.made) = (false, column.type == .integers && engine == .postgreSQL ? .serial : .given)
            world.tables[index].columns.append(column)
        case .check:
            change {
                let known = ColumnType.of($0.type, engine)
                if known.isComparable, known.values.last != known.values.first { $0.excluded = known.values.last }
            }
        case .unique:
            var column = self.column(element(keyTypes))
            column.isUnique = true
            world.tables[index].columns.append(column)
        case .storedColumn, .virtualColumn, .identityAlways, .identityByDefault:
            var column = DatabaseColumn(name: name(ofTable: false), type: feature == .storedColumn || feature == .virtualColumn ? .texts : .integers)
            column.made = [.storedColumn: .stored, .virtualColumn: .virtual, .identityAlways: .identityAlways][feature] ?? .identityByDefault
            column.isNullable = column.isComputed
            world.tables[index].columns.append(column)
        case .descendingKey:
            guard forceKey(.plainKey, 0, &world) else { return }
            world.tables[0].options.insert(.descendingKey)
        case .autoincrement:
            guard forceKey(.generatedKey, 0, &world) else { return }
            world.tables[0].options.insert(.autoincrement)
        case .selfReference: addReference(to: index, target: index, &world)
        case .forwardReference:
            if last == 0 { world.tables.append(table()) }
            addReference(to: 0, target: world.tables.count - 1, &world)
        case .requiredReference, .nullableReference, .cascade, .setNull:
            if last == 0 { world.tables.append(table()) }
            let onDelete: DatabaseReference.OnDelete? = feature == .cascade ? .cascade : feature == .setNull ? .setNull : nil
            addReference(
                to: world.tables.count - 1, target: 0, isRequired: feature == .requiredReference ? true : feature == .cascade ? nil : false,
                onDelete: onDelete, &world)
        case .compositeReference:
            if last == 0 { world.tables.append(table()) }
            forceKey(.compositeKey, 0, &world)
            addReference(to: world.tables.count - 1, target: 0, &world)
        case .uniqueReference:
            var column = self.column(element(keyTypes))
            (column.isUnique, column.isNullable) = (true, false)
            world.tables[0].columns.append(column)
            for _ in 0..<6 where !world.features.contains(.uniqueReference) { addReference(to: last, target: 0, &world) }
        case .hiddenColumn:
            world.tables[index].columns.append(DatabaseColumn(name: name(ofTable: false), type: .texts))
            world.tables[index].options.insert(feature)
        case .foreignCollation:
            world.tables[index].columns.append(DatabaseColumn(name: name(ofTable: false), type: .texts))
            world.tables[index].options.insert(feature)
        default: world.tables[index].options.insert(feature)
        }
    }
}
