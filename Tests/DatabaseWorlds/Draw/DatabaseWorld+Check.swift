extension DatabaseWorld {
    /// A part of a database that leads nowhere, as in a file that was changed by hand.
    struct Misfit: Error, CustomStringConvertible {
        let description: String
    }

    /// Fails for a database that cannot be made or changed: a position that is not there, or a row with too few values.
    func check() throws {
        func require(_ condition: Bool, _ text: String) throws { if !condition { throw Misfit(description: text) } }
        try require(!tables.isEmpty, "a database needs a table")
        for (place, table) in tables.enumerated() {
            let columns = table.columns.indices, name = "table \(place)"
            try require(!columns.isEmpty, "\(name) has no column")
            try require(table.key.allSatisfy(columns.contains), "\(name): its key has a column that is not there")
            for (index, reference) in table.references.enumerated() {
                let text = "\(name), reference \(index)"
                try require(tables.indices.contains(reference.table), "\(text): there is no table \(reference.table)")
                try require(reference.columns.allSatisfy(columns.contains), "\(text) has a column that is not there")
                let others = tables[reference.table].columns.indices
                try require(reference.targets.allSatisfy(others.contains), "\(text) leads to a column that is not there")
                try require(
                    !reference.columns.isEmpty && reference.columns.count == reference.targets.count, "\(text) has other columns than targets")
            }
            for row in table.rows + table.laterRows + table.newRows {
                try require(row.count == columns.count, "\(name): a row has \(row.count) values for \(columns.count) columns")
            }
            for (index, change) in table.changes.enumerated() {
                try require(columns.contains(change.column), "\(name), change \(index): there is no column \(change.column)")
                try require(change.row >= 0, "\(name), change \(index): its row is below 0")
            }
            try require(table.deleted ?? 0 >= 0, "\(name): the row that is deleted is below 0")
        }
    }
}
