internal import MobileStore

/// A table of a back end as it is: the names of its columns, and their storage of values.
struct BackEndTable: Sendable {
    let name: String
    /// The name in a statement.
    let sql: String
    let columns: [Column]
    /// Whether values can be read piece by piece. Requires a table of SQLite with a rowid, in a database that stores texts in UTF-8.
    let hasPieces: Bool
    /// The columns of constraints that errors mention by the constraint's name.
    var constraints: [String: [String]] = [:]
    /// The names of the tables that have rows of this one: partitions, and tables that inherit from it.
    var parts: Set<String> = []

    struct Column: Sendable {
        let name: String
        let affinity: Affinity
        /// Whether the back end computes the value, so that it cannot be written.
        let isGenerated: Bool
        /// Whether a new row has a value of the back end's if it is given none.
        var hasDefault = false
        /// The constant that SQLite gives to a new row; nil for none, and for an expression.
        var defaultConstant: Value?
        /// The texts in conditions of SQLite that are words for true and false.
        var booleanWords: [String] = []
        /// The values of an enumeration, in its order; empty for other types.
        var allowedValues: [String] = []
        /// PostgreSQL: the type, if a value that is written may be kept as another one, such as `timestamp(0)`, which rounds; nil for all others.
        var narrowType: String?
    }

    /// SQLite's description of a column. `hidden` is 2 or more for generated ones.
    private enum ColumnFact: String, StoredColumn, CaseIterable {
        static let table = "pragma_table_xinfo"
        case name, type, hidden
        case defaultSQL = "dflt_value"
    }

    /// SQLite's type affinity of a column, which determines the conversion of stored values; or the kind of a type of PostgreSQL.
    enum Affinity: Sendable {
        case integer, text, blob, real, numeric
        case boolean, single, date, time, timestamp, timestampWithTimeZone, array
    }

    init(name: String, sql: String, columns: [Column], constraints: [String: [String]], parts: Set<String>) {
        (self.name, self.sql, self.columns, self.constraints, self.parts) = (name, sql, columns, constraints, parts)
        hasPieces = false
    }

    /// Finds the table or view with this name, as SQLite compares names; nil if there is none.
    init?(named name: String, in connection: Connection) throws {
        let found = try connection.first(
            "SELECT type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE", [.text(name)])
        guard let found, let kind = found[0].text else { return nil }
        self.name = name
        sql = SQLText.quoted(name)
        var columns = try connection.rows("SELECT name, type, hidden, dflt_value FROM pragma_table_xinfo(?1)", [.text(name)]).map { values in
            let row = StoredRow(ColumnFact.allCases, values)
            return Column(
                name: try row.text(.name), affinity: Affinity(declaredType: try row.text(.type)), isGenerated: try row.integer(.hidden) >= 2,
                hasDefault: try row.value(.defaultSQL) != .null,
                defaultConstant: try row.value(.defaultSQL).text.flatMap(ColumnDefault.init)?.stored)
        }
        let names = columns.map(\.name)
        for condition in TableChecks(of: found[1].text ?? "").conditions {
            let mentioned = TableChecks.columns(of: condition, among: names)
            if mentioned.count == 1, let place = names.firstIndex(of: mentioned[0]) {
                columns[place].booleanWords += Self.booleanWords(in: condition.sql)
            }
            if let name = condition.name { constraints[name] = mentioned }
        }
        self.columns = columns
        let hidesRowID = columns.contains { $0.name.caseInsensitivelyEquals("rowid") }
        let hasRowID = (try? connection.statement("SELECT rowid FROM \(SQLText.quoted(name))")) != nil
        hasPieces = try kind == "table" && connection.isUTF8 && hasRowID && !hidesRowID
    }

    /// The literals in SQL that are words for true and false.
    private static func booleanWords(in sql: String) -> [String] {
        TableChecks.tokens(of: sql).filter { $0.quote == "'" }.map(\.text).filter { word in
            (ColumnExpression.trueWords + ColumnExpression.falseWords).contains(word.lowercased())
        }
    }

    /// Whether a value of the column may be written piece by piece after the statement that reserves its space. During that statement the value
    /// consists of zeros, which triggers would read, and any other use of the column, such as a CHECK constraint, a generated column or an index.
    /// Checked whenever it is needed: the table belongs to other applications, which may alter it at any time.
    func takesPieces(in column: Column, _ connection: Connection) throws -> Bool {
        guard hasPieces else { return false }
        let found = try connection.first(
            """
            SELECT
                (SELECT total((length(lower(sql)) - length(replace(lower(sql), lower(?2), ''))) / length(?2)) = 1 AND max(type = 'trigger') = 0
                    FROM sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE)
                AND NOT EXISTS (
                    SELECT 1 FROM pragma_index_list(?1) AS i CROSS JOIN pragma_index_xinfo(i.name) AS c WHERE c.name = ?2 COLLATE NOCASE AND c."key")
                AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_list(?1) WHERE "from" = ?2 COLLATE NOCASE)
            """, [.text(name), .text(column.name)])
        return found?[0].integer == 1
    }

    /// Returns the column with this name, as SQLite compares names.
    func column(named name: String) -> Column? {
        columns.first { $0.name.caseInsensitivelyEquals(name) }
    }
}

extension BackEndTable.Affinity {
    /// The rules of SQLite, section 3.1 of "Datatypes In SQLite".
    init(declaredType: String) {
        let type = declaredType.uppercased()
        self =
            if type.contains("INT") {
                .integer
            } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
                .text
            } else if type.contains("BLOB") || type.isEmpty {
                .blob
            } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
                .real
            } else {
                .numeric
            }
    }
}

extension String {
    /// Whether SQLite treats both as the same name: ASCII letters match in either case.
    func caseInsensitivelyEquals(_ other: String) -> Bool {
        func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
        return utf8.elementsEqual(other.utf8) { folded($0) == folded($1) }
    }
}

extension Connection {
    /// Whether the file has its texts in UTF-8.
    var isUTF8: Bool { get throws { try first("PRAGMA encoding")?[0].text == "UTF-8" } }
}
