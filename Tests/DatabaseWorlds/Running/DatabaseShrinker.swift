/// Makes a database that fails smaller, as long as it fails in the same way.
package struct DatabaseShrinker {
    private let avoided: Set<DatabaseFault>
    /// The number of runs that are left.
    private var budget: Int
    private var kind = DatabaseFailure.Kind.noModel

    /// - Parameter runs: the number of databases that are run at most.
    package init(avoiding avoided: Set<DatabaseFault> = [], runs: Int = 300) { (self.avoided, budget) = (avoided, runs) }

    /// Returns the smallest database that was found; `world` itself fails with `failure`.
    package mutating func shrink(_ world: DatabaseWorld, _ failure: DatabaseFailure) -> DatabaseWorld {
        kind = failure.kind
        var world = world, isSmaller = true
        while isSmaller, budget > 0 {
            isSmaller = false
            for candidate in Self.candidates(of: world) {
                guard budget > 0 else { break }
                budget -= 1
                guard DatabaseRun(candidate, avoiding: avoided, compiles: kind == .notCompiled).failure?.kind == kind else { continue }
                (world, isSmaller) = (candidate, true)
                break
            }
        }
        return world
    }

    /// Databases that have one part less, the largest parts first.
    private static func candidates(of world: DatabaseWorld) -> [DatabaseWorld] {
        var candidates: [DatabaseWorld] = []
        for table in world.tables.indices.reversed() { if let smaller = world.without(table: table) { candidates.append(smaller) } }
        func change(_ table: Int, _ change: (inout DatabaseTable) -> Void) {
            var changed = world
            change(&changed.tables[table])
            if changed != world { candidates.append(changed) }
        }
        for (index, table) in world.tables.enumerated() {
            change(index) { ($0.changes, $0.newRows, $0.deleted) = ([], [], nil) }
            change(index) { $0.laterRows = [] }
            for option in table.options.sorted() { change(index) { $0.options.remove(option) } }
            for place in table.columns.indices.reversed() { if let smaller = world.without(column: place, of: index) { candidates.append(smaller) } }
            for place in table.references.indices.reversed() { change(index) { $0.references.remove(at: place) } }
            for row in table.rows.indices.reversed() where table.rows.count > 1 {
                change(index) { table in
                    table.rows.remove(at: row)
                    table.changes = table.changes.map { DatabaseChange(row: min($0.row, table.rows.count - 1), column: $0.column, value: $0.value) }
                    table.deleted = table.deleted.map { min($0, table.rows.count - 1) }
                }
            }
            change(index) { $0.deleted = nil }
            for place in table.newRows.indices.reversed() where place > 0 || table.newRows.count == 1 {
                change(index) { $0.newRows.remove(at: place) }
            }
            for place in table.changes.indices.reversed() { change(index) { $0.changes.remove(at: place) } }
            for place in table.columns.indices {
                change(index) { $0.columns[place].defaultValue = nil }
                change(index) { $0.columns[place].excluded = nil }
                change(index) { $0.columns[place].isUnique = false }
                if table.columns[place].made != .serial { change(index) { $0.columns[place].made = .given } }
                change(index) { if !$0.key.contains(place) { $0.columns[place].isNullable = true } }
                change(index) { if !$0.columns.contains(where: { $0.name == "c\(place)" }) { $0.columns[place].name = "c\(place)" } }
            }
            change(index) { if $0.name != "t\(index)" { $0.name = "t\(index)" } }
        }
        return candidates
    }
}

extension DatabaseWorld {
    /// The database without a table; nil if another one refers to it.
    func without(table: Int) -> DatabaseWorld? {
        guard tables.count > 1, tables.indices.allSatisfy({ $0 == table || !tables[$0].references.contains { $0.table == table } }) else {
            return nil
        }
        var world = self
        world.tables.remove(at: table)
        for index in world.tables.indices {
            for place in world.tables[index].references.indices where world.tables[index].references[place].table > table {
                world.tables[index].references[place].table -= 1
            }
        }
        return world
    }

    /// The database without a column and its values; nil if a key or a reference needs it.
    func without(column: Int, of index: Int) -> DatabaseWorld? {
        let table = tables[index]
        guard table.columns.count > 1, !table.key.contains(column), !table.references.contains(where: { $0.columns.contains(column) }),
            !tables.contains(where: { $0.references.contains { $0.table == index && $0.targets.contains(column) } })
        else { return nil }
        func moved(_ place: Int) -> Int { place > column ? place - 1 : place }
        var world = self
        world.tables[index].columns.remove(at: column)
        world.tables[index].key = table.key.map(moved)
        for rows in [\DatabaseTable.rows, \.laterRows, \.newRows] {
            world.tables[index][keyPath: rows] = table[keyPath: rows].map { row in
                var row = row
                row.remove(at: column)
                return row
            }
        }
        world.tables[index].changes = table.changes.filter { $0.column != column }.map {
            DatabaseChange(row: $0.row, column: moved($0.column), value: $0.value)
        }
        for other in world.tables.indices {
            for place in world.tables[other].references.indices {
                if other == index { world.tables[other].references[place].columns = world.tables[other].references[place].columns.map(moved) }
                if world.tables[other].references[place].table == index {
                    world.tables[other].references[place].targets = world.tables[other].references[place].targets.map(moved)
                }
            }
        }
        return world
    }
}
