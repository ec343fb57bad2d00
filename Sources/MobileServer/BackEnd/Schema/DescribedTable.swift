internal import MobileStore
internal import PostgreSQLClient

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
        /// The affinity by which SQLite compares the column with constants, where ``affinity`` is that of its rows; nil elsewhere.
        var declaredAffinity: BackEndTable.Affinity?
        let isNullable: Bool
        /// Whether the back end assigns the value of a new row.
        let isGenerated: Bool
        /// The default of the database as it writes it; nil without one.
        var defaultSQL: String?
        /// The values of an enumeration, in its order; empty for other types.
        var values: [String] = []
        /// Characters of the longest value of a text column, bytes of that of a computed column of bytes; nil for others and without values.
        var longest: Int?
        /// The most digits before and after the point of a decimal; nil for others, without values, and where the back end enforces the declaration.
        var digits: (whole: Int, scale: Int)?
    }

    struct Reference: Equatable {
        let columns: [String]
        /// The name of the other table in a binding.
        let table: String
        /// The columns of the other table; empty for its primary key.
        let targets: [String]
    }

    /// A condition that rows have to meet.
    struct Check {
        /// The columns that it is about.
        let columns: [String]
        let sql: String
        /// Whether it holds for each row that the table shows: rows of tables that inherit from it need not meet all of its conditions.
        var isForAllRows = true
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
    var references: [Reference]
    /// Columns whose values need another type than the declared one, each in a sentence.
    var remarks: [String] = []
    /// Columns that a model cannot have, each with the reason.
    var omissions: [String] = []
    var checks: [Check] = []
    /// Whether the conditions see each value as it is written: no trigger or rule changes it before.
    var checksWrittenValues = true
    /// Whether texts are equal only if their bytes are.
    var comparesBytes = true

    /// Leaves out columns that cannot be read or have an empty name, and all but the first of those whose names differ in the case of letters alone: the
    /// names of a model do not.
    mutating func leaveOutColumns(unreadable: Set<String>) {
        var names: Set<String> = []
        columns.removeAll { column in
            let place = "table \"\(name)\", column \"\(column.name)\""
            if unreadable.contains(column.name) {
                omissions.append("\(place): there is no right to read it")
                return true
            }
            guard !column.name.isEmpty else {
                omissions.append("\(place): it has an empty name")
                return true
            }
            guard !names.insert(column.name.lowercased()).inserted else { return false }
            omissions.append("\(place): another column has this name in other letters of case")
            return true
        }
    }
}

/// A table that is to be described.
struct FoundTable {
    /// The name in a binding.
    let name: String
    /// The name in a statement.
    let sql: String
    /// The number of the table; NULL where tables have none.
    let id: Value
}

extension SQLEngine {
    /// Reads the descriptions of all tables, in the order of their names, without those of the server and of the engine.
    /// - Parameter schemas: the schemas of PostgreSQL to read; empty for those of the search path.
    func describedTables(schemas: [String]) throws -> DescribedTables {
        let (found, omissions) = try read { try $0.foundTables(schemas: schemas) }
        var result = DescribedTables(omissions: omissions)
        for table in found {
            do {
                let described = try read { connection in
                    var described = try connection.described(table)
                    try connection.measureLengths(of: &described)
                    return described
                }
                result.tables.append(described)
            } catch {
                guard let reason = Self.reason(error) else { throw error }
                result.omissions.append("table \"\(table.name)\": it cannot be read: \(reason)")
            }
        }
        return result
    }

    /// The reason for which one table cannot be read; nil where the others cannot be read either.
    private static func reason(_ error: any Error) -> String? {
        switch error {
        case let error as PostgreSQLBackEndError:
            [.permission, .undefinedObject, .invalidValue, .invalidText, .syntax, .other].contains(error.error.code) ? error.error.message : nil
        case let error as StoreError: [.sqlite, .corrupt].contains(error.code) ? error.message : nil
        default: nil
        }
    }
}

extension SQLConnection {
    /// The rows of a table whose values are measured: all rows of a large table take too long for a look at it.
    var measuredRows: Int { 100_000 }

    /// Finds the longest value of each text column, for SQLite does not enforce a declared length, and of each column of bytes that the database computes.
    fileprivate func measureLengths(of table: inout DescribedTable) throws {
        let places = table.columns.indices.filter { place in
            let column = table.columns[place]
            return column.affinity == .text || column.affinity == .blob && column.isGenerated
        }
        guard !places.isEmpty else { return }
        // Names of their own: SQLite does not find a column "true" of a subquery.
        let names = places.enumerated().map { "\(SQLText.quoted(table.columns[$0.element].name)) AS c\($0.offset)" }
        let lengths = places.enumerated().map { index, place in
            let isText = table.columns[place].affinity == .text
            return "CAST(max(length(\(isText ? "CAST(c\(index) AS TEXT)" : "c\(index)"))) AS BIGINT)"
        }.joined(separator: ", ")
        let source = "SELECT \(names.joined(separator: ", ")) FROM \(table.sql) LIMIT \(measuredRows)"
        let found = try rows("SELECT \(lengths) FROM (\(source)) AS measured", [])
        for (place, length) in zip(places, found.first ?? []) { table.columns[place].longest = length.integer.map(Int.init) }
    }
}
