internal import MobileStore

/// The tables of a back end, as a model needs them.
struct DescribedTables {
    var tables: [DescribedTable] = []
    /// Parts that a model cannot have, each with the reason.
    var omissions: [String] = []
}

/// A table of a back end, as a model needs it.
struct DescribedTable {
    struct Column {
        let name: String
        /// The type in the words of the engine; empty if it says nothing about the values.
        var declaredType: String
        var affinity: BackEndTable.Affinity
        let isNullable: Bool
        /// Whether the back end assigns the value of a new row.
        let isGenerated: Bool
        /// Characters of the longest value of a text column; nil for others and without values.
        var longestText: Int?
        /// The most digits before and after the point of a decimal; nil for others, without values, and where the back end enforces the declaration.
        var digits: (whole: Int, scale: Int)?
    }

    struct Reference {
        let columns: [String]
        /// The name of the other table in a binding.
        let table: String
        /// The columns of the other table; empty for its primary key.
        let targets: [String]
    }

    /// The name in a binding.
    let name: String
    /// The name in a statement.
    let sql: String
    var columns: [Column]
    /// The columns of the primary key, in its order.
    let primaryKey: [String]
    /// Whether a row has no value in a column of the primary key, which SQLite allows.
    var hasRowsWithoutKey = false
    let references: [Reference]
    /// Columns whose values need another type than the declared one, each in a sentence.
    var remarks: [String] = []
}

extension SQLEngine {
    /// Reads the descriptions of all tables, in the order of their names, without those of the server and of the engine.
    /// - Parameter schemas: the schemas of PostgreSQL to read; empty for those of the search path.
    func describedTables(schemas: [String]) throws -> DescribedTables {
        try read { connection in
            var found = try connection.describedTables(schemas: schemas)
            for index in found.tables.indices { try connection.measureTexts(of: &found.tables[index]) }
            return found
        }
    }
}

extension SQLConnection {
    /// The rows of a table whose values are measured: all rows of a large table take too long for a look at it.
    var measuredRows: Int { 100_000 }

    /// Finds the longest value of each text column: SQLite does not enforce a declared length.
    fileprivate func measureTexts(of table: inout DescribedTable) throws {
        let places = table.columns.indices.filter { table.columns[$0].affinity == .text }
        guard !places.isEmpty else { return }
        let names = places.map { SQLText.quoted(table.columns[$0].name) }
        let lengths = names.map { "CAST(max(length(CAST(\($0) AS TEXT))) AS BIGINT)" }.joined(separator: ", ")
        let source = "SELECT \(names.joined(separator: ", ")) FROM \(table.sql) LIMIT \(measuredRows)"
        let found = try rows("SELECT \(lengths) FROM (\(source)) AS measured", [])
        for (place, length) in zip(places, found.first ?? []) { table.columns[place].longestText = length.integer.map(Int.init) }
    }
}
