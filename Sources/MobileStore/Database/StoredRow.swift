/// The columns of a table that a framework keeps for its own use: one enumeration is the codec of one table.
package protocol StoredColumn: RawRepresentable, Hashable, Sendable where RawValue == String {
    /// The table's name.
    static var table: String { get }
}

extension StoredColumn {
    /// Returns the query of columns of the table.
    /// - Parameter rest: the SQL after the table's name.
    package static func selection(_ columns: [Self], _ rest: String = "") -> String {
        "SELECT \(columns.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")) FROM \"\(table)\" \(rest)"
    }
}

/// A row of such a table. A value that the framework cannot have written means that the database is damaged: reading it throws
/// ``StoreError/Code/corrupt``, instead of returning a 0, an empty text or a default case.
package struct StoredRow<Column: StoredColumn>: Sendable {
    private let table: String
    private let columns: [Column]
    private let values: [Value]

    /// - Parameter table: the table, when it differs from the codec's because several tables have the same columns.
    package init(_ columns: [Column], _ values: [Value], of table: String = Column.table) {
        (self.columns, self.values, self.table) = (columns, values, table)
    }

    /// Returns the value as stored.
    /// - Throws: ``StoreError/Code/misuse`` for a column that was not read.
    package func value(_ column: Column) throws(StoreError) -> Value {
        guard let index = columns.firstIndex(of: column), index < values.count else {
            throw StoreError(.misuse, "table \(table): column \(column.rawValue) was not read")
        }
        return values[index]
    }

    package func integer(_ column: Column) throws(StoreError) -> Int64 {
        let value = try value(column)
        guard let integer = value.integer else { throw damaged(column, value, "an integer") }
        return integer
    }

    package func int(_ column: Column) throws(StoreError) -> Int {
        let integer = try integer(column)
        guard let int = Int(exactly: integer) else { throw damaged(column, .integer(integer), "a smaller one") }
        return int
    }

    package func text(_ column: Column) throws(StoreError) -> String {
        let value = try value(column)
        guard let text = value.text else { throw damaged(column, value, "a text") }
        return text
    }

    /// Reads 0 or 1.
    package func flag(_ column: Column) throws(StoreError) -> Bool {
        let value = try value(column)
        guard value == 0 || value == 1 else { throw damaged(column, value, "0 or 1") }
        return value == 1
    }

    /// Returns nil for NULL.
    package func optionalInteger(_ column: Column) throws(StoreError) -> Int64? { try value(column).isNull ? nil : integer(column) }

    /// Returns nil for NULL.
    package func optionalText(_ column: Column) throws(StoreError) -> String? { try value(column).isNull ? nil : text(column) }

    /// Reads a case of an enumeration of texts.
    package func kind<Kind: RawRepresentable>(_ column: Column, of type: Kind.Type = Kind.self) throws(StoreError) -> Kind
    where Kind.RawValue == String {
        let text = try text(column)
        guard let kind = Kind(rawValue: text) else { throw damaged(column, .text(text), "one of its words") }
        return kind
    }

    /// Reads a case of an enumeration of numbers.
    package func kind<Kind: RawRepresentable>(_ column: Column, of type: Kind.Type = Kind.self) throws(StoreError) -> Kind
    where Kind.RawValue: FixedWidthInteger {
        let integer = try integer(column)
        guard let kind = Kind.RawValue(exactly: integer).flatMap({ Kind(rawValue: $0) }) else {
            throw damaged(column, .integer(integer), "one of its numbers")
        }
        return kind
    }

    /// Makes the error for a value whose format has its own rule, such as a date.
    package func damaged(_ column: Column, _ value: Value, _ expected: String) -> StoreError {
        StoreError(.corrupt, "table \(table), column \(column.rawValue): \(value.excerpt) is stored where \(expected) must be")
    }
}

extension Value {
    /// The value in messages: a long text is cut, and a blob is shown as its number of bytes.
    fileprivate var excerpt: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let text): "\"\(text.prefix(40))\""
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}

extension Connection {
    /// Reads the rows of a query of one table.
    /// - Parameter rest: the SQL after the table's name.
    package func storedRows<Column: StoredColumn>(
        _ columns: [Column], _ rest: String = "", _ values: [Value] = []
    ) throws(StoreError) -> [StoredRow<Column>] {
        try rows(Column.selection(columns, rest), values).map { StoredRow(columns, $0) }
    }

    /// Reads the first row of a query of one table; nil without rows.
    package func storedRow<Column: StoredColumn>(
        _ columns: [Column], _ rest: String = "", _ values: [Value] = []
    ) throws(StoreError) -> StoredRow<Column>? {
        try first(Column.selection(columns, rest), values).map { StoredRow(columns, $0) }
    }

    /// Reads the keys of a query of one column.
    package func keys(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [Int64] {
        try rows(sql, values).map { row throws(StoreError) in
            guard let key = row.first?.integer else { throw StoreError(.corrupt, "a row of the result has no key: \(sql.prefix(200))") }
            return key
        }
    }

    /// Reads the texts of a query of one column.
    package func texts(_ sql: String, _ values: [Value] = []) throws(StoreError) -> [String] {
        try rows(sql, values).map { row throws(StoreError) in
            guard let text = row.first?.text else { throw StoreError(.corrupt, "a row of the result has no text: \(sql.prefix(200))") }
            return text
        }
    }

    /// Reads the number that a query returns, such as a count or a setting of the database.
    /// - Throws: ``StoreError/Code/corrupt`` when the result is not a number, and the errors of ``first(_:_:)``.
    package func number(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Int64 {
        guard let number = try optionalNumber(sql, values) else { throw StoreError(.corrupt, "the query returned no number: \(sql.prefix(200))") }
        return number
    }

    /// Reads the number that a query returns; nil when the result is NULL or empty, as for the maximum of no rows.
    package func optionalNumber(_ sql: String, _ values: [Value] = []) throws(StoreError) -> Int64? {
        guard let value = try first(sql, values)?.first, !value.isNull else { return nil }
        guard let number = value.integer else { throw StoreError(.corrupt, "the query returned \(value.excerpt), not a number: \(sql.prefix(200))") }
        return number
    }
}
