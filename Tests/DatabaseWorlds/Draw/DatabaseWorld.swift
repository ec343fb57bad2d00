/// A small database with its rows, and the changes that a device makes. Values are SQL; the same value is the same database each time.
package struct DatabaseWorld: Codable, Equatable, Sendable {
    package var seed: UInt64
    package var engine: DatabaseEngine
    package var tables: [DatabaseTable]
}

/// A table of a database.
package struct DatabaseTable: Codable, Equatable, Sendable {
    package var name: String
    package var columns: [DatabaseColumn]
    /// The columns of the primary key, by their places.
    package var key: [Int]
    /// Parts of the table apart from columns, key and references.
    package var options: Set<DatabaseFeature> = []
    package var references: [DatabaseReference] = []
    /// The rows at the beginning: a value for each column, as SQL.
    package var rows: [[String]] = []
    /// Rows that another application adds after the first synchronization.
    package var laterRows: [[String]] = []
    /// The rows that a device creates: the first one with the required values only, the others with all.
    package var newRows: [[String]] = []
    package var changes: [DatabaseChange] = []
    /// The row that a device deletes.
    package var deleted: Int?

    /// Whether a column is part of the key or of a reference.
    func isKey(_ column: Int) -> Bool { key.contains(column) || references.contains { $0.columns.contains(column) } }
}

/// A column of a table.
package struct DatabaseColumn: Codable, Equatable, Sendable {
    package var name: String
    /// One of the features that are types.
    package var type: DatabaseFeature
    package var isNullable = true
    package var isUnique = false
    /// An expression.
    package var defaultValue: String?
    /// The value that a check excludes.
    package var excluded: String?
    /// Whether the check names the other values; nil as false.
    package var isListed: Bool?
    package var made = Made.given
    /// Values of rows that are not ordinary.
    package var specials: Set<DatabaseFeature> = []

    /// The maker of the values.
    package enum Made: String, Codable, Sendable {
        case given, serial, identityAlways, identityByDefault, stored, virtual
    }
}

/// A foreign key.
package struct DatabaseReference: Codable, Equatable, Sendable {
    /// The columns, by their places.
    package var columns: [Int]
    package var table: Int
    /// The columns of the other table; those of its primary key, or a unique one.
    package var targets: [Int]
    package var onDelete = OnDelete.noAction

    package enum OnDelete: String, Codable, Sendable { case noAction = "NO ACTION", cascade = "CASCADE", setNull = "SET NULL" }
}

/// A change of one value of a row by a device.
package struct DatabaseChange: Codable, Equatable, Sendable {
    package var row: Int
    package var column: Int
    /// The new value as SQL.
    package var value: String
}

extension DatabaseColumn {
    /// Whether the back end gives a new row its value.
    var isMade: Bool { made != .given }
    /// Whether nothing can write it.
    var isComputed: Bool { made == .stored || made == .virtual }
}

extension DatabaseTable {
    /// Whether SQLite makes the key, because it is another name of the row's number.
    func isRowNumber(_ column: Int, _ engine: DatabaseEngine) -> Bool {
        engine == .sqlite && key == [column] && columns[column].type == .integers && columns[column].made == .serial
    }

    /// The columns that a new row must have a value for.
    func required(_ engine: DatabaseEngine) -> [Int] {
        columns.indices.filter { place in
            let column = columns[place]
            return !column.isMade && column.defaultValue == nil && (!column.isNullable || key.contains(place))
        }
    }
}

extension DatabaseWorld {
    /// The features of tables, columns and values.
    package var features: Set<DatabaseFeature> {
        var features: Set<DatabaseFeature> = []
        for (index, table) in tables.enumerated() { features.formUnion(self.features(of: table, at: index)) }
        return features
    }

    private func features(of table: DatabaseTable, at index: Int) -> Set<DatabaseFeature> {
        var features = table.options.union(NamePool.features(of: table.name))
        for column in table.columns {
            features.formUnion(NamePool.features(of: column.name))
            features.formUnion(column.specials)
            features.insert(column.type)
            if column.isNullable { features.insert(.nullableColumn) }
            if column.isUnique { features.insert(.unique) }
            if column.excluded != nil { features.insert(.check) }
            if let value = column.defaultValue {
                features.insert(value.hasSuffix(")") || value.hasPrefix("CURRENT") ? .functionDefault : .constantDefault)
            }
            switch column.made {
            case .given: break
            case .serial: if !table.key.contains(where: { table.columns[$0] == column }) { features.insert(.functionDefault) }
            case .identityAlways: features.insert(.identityAlways)
            case .identityByDefault: features.insert(.identityByDefault)
            case .stored: features.insert(.storedColumn)
            case .virtual: features.insert(.virtualColumn)
            }
        }
        features.formUnion(keyFeatures(of: table))
        if table.rows.isEmpty { features.insert(.emptyTable) }
        if !table.laterRows.isEmpty { features.insert(.laterRow) }
        if table.rows.contains(where: { $0.contains("NULL") }) { features.insert(.nullValue) }
        for reference in table.references {
            features.insert(reference.columns.allSatisfy { table.columns[$0].isNullable } ? .nullableReference : .requiredReference)
            if reference.table == index { features.insert(.selfReference) }
            if reference.table > index { features.insert(.forwardReference) }
            if reference.columns.count > 1 { features.insert(.compositeReference) }
            if reference.targets != tables[reference.table].key { features.insert(.uniqueReference) }
            if reference.onDelete == .cascade { features.insert(.cascade) }
            if reference.onDelete == .setNull { features.insert(.setNull) }
        }
        return features
    }

    private func keyFeatures(of table: DatabaseTable) -> Set<DatabaseFeature> {
        guard let first = table.key.first else { return [.noKey] }
        guard table.key.count == 1 else { return [.compositeKey] }
        let column = table.columns[first]
        guard !column.isMade else { return [.generatedKey] }
        if column.defaultValue?.hasSuffix(")") ?? false { return [.functionKey] }
        return [column.type == .integers ? .plainKey : .typedKey]
    }
}
