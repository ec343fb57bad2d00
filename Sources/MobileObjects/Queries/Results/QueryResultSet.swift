public import MobileModel
import MobileStore

/// The rows that a query returned, as they were when it ran. It is a list of rows, from 0, and a cursor over them, whose typed getters count from 1
/// as documented.
///
///     var results = try crm.executeQuery(query)
///     while results.next() { print(try results.string(1, "c.name"), try results.nullableDate(2)) }
///     for row in results { print(row[0], row[1]) }
///
/// The rows are packed in pages, and a value is made when it is read. Skip and take limit the number of rows. SMP 2.3: `SUPQueryResultSet`.
public struct QueryResultSet: Sendable, RandomAccessCollection {
    private let pages: [RowPage]
    /// The position of each page's first row.
    private let starts: [Int]
    let columns: [QueryResultColumn]
    /// The number of rows.
    public let count: Int
    /// The row that the cursor is on, from 0; -1 before the first one.
    public private(set) var currentRow = -1

    /// Checks all values, because the subscripts of a collection cannot throw.
    /// - Throws: ``ObjectError/Code/corrupt`` where the database holds something that its attribute cannot have.
    init(_ pages: [RowPage], _ columns: [QueryResultColumn]) throws {
        for page in pages {
            for position in 0..<page.count {
                let row = page[position]
                for (column, described) in columns.enumerated() where !described.type.storage.fits(row, column) {
                    let reason = described.type.storage.misfit(row.value(column), type: "\(described.type.type)")
                    throw ObjectError(
                        .corrupt,
                        "result of a query: \"\(described.name)\" cannot be read: \(reason); correct it where the row comes from, and synchronize")
                }
            }
        }
        self.pages = pages
        self.columns = columns
        var starts: [Int] = [], count = 0
        for page in pages {
            starts.append(count)
            count += page.count
        }
        (self.starts, self.count) = (starts, count)
    }

    /// The columns' names: as the items were written, or the names that they were given. SMP 2.3: `columnNames`.
    public var columnNames: [String] { columns.map(\.name) }

    /// The columns' types. Numbers that were made by aggregates are `long`, `double` or `decimal`.
    public var columnTypes: [AttributeType] { columns.map(\.type.type) }

    /// All rows. SMP 2.3: `array`.
    public var rows: [QueryRow] { Array(self) }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { count }

    /// A row, from 0.
    public subscript(position: Int) -> QueryRow {
        var low = 0, high = starts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= position { low = middle } else { high = middle }
        }
        return QueryRow(pages[low][position - starts[low]], columns)
    }

    // MARK: The cursor

    /// Goes to the next row; returns false after the last one. SMP 2.3: `next`.
    public mutating func next() -> Bool {
        currentRow = Swift.min(currentRow + 1, count)
        return currentRow < count
    }

    /// Goes to the previous row; returns false before the first one. Of later editions: `previous`.
    public mutating func previous() -> Bool {
        currentRow = Swift.max(currentRow - 1, -1)
        return currentRow >= 0 && currentRow < count
    }

    /// Goes to a row, from 0; returns false, and does not move the cursor, where there is none. Of later editions: `absolute`.
    public mutating func move(to row: Int) -> Bool {
        guard indices.contains(row) else { return false }
        currentRow = row
        return true
    }

    /// Goes before the first row.
    public mutating func reset() { currentRow = -1 }

    /// Returns the value of the current row.
    /// - Parameters:
    ///   - index: the column, from 1.
    ///   - name: the column's name, which is checked; nil: any.
    /// - Throws: ``ObjectError/Code/noSuchAttribute`` for a column that does not exist or has another name, ``ObjectError/Code/misuse`` where the
    ///   cursor is on no row.
    public func value(_ index: Int, _ name: String? = nil) throws -> AttributeValue {
        guard columns.indices.contains(index - 1) else {
            throw ObjectError(.noSuchAttribute, "result of a query: it has no column \(index); its columns are 1 to \(columns.count)")
        }
        guard name == nil || columns[index - 1].isNamed(name ?? "") else {
            throw ObjectError(.noSuchAttribute, "result of a query: column \(index) is \"\(columns[index - 1].name)\", not \"\(name ?? "")\"")
        }
        return try row()[index - 1]
    }

    /// Returns the value of the current row in the column with this name, or with this attribute where there is one.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/misuse``.
    public func value(_ name: String) throws -> AttributeValue { try row().value(name) }

    private func row() throws -> QueryRow {
        guard indices.contains(currentRow) else {
            throw ObjectError(.misuse, "result of a query: the cursor is on no row; call next() first, and read while it gives true")
        }
        return self[currentRow]
    }
}

/// One row of a query's result: its values, from 0. SMP 2.3: `SUPDataValueList`.
public struct QueryRow: Sendable, RandomAccessCollection {
    private let row: Row
    private let columns: [QueryResultColumn]

    init(_ row: Row, _ columns: [QueryResultColumn]) { (self.row, self.columns) = (row, columns) }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of values.
    public var endIndex: Int { columns.count }

    /// A value, from 0. SMP 2.3: `item:`.
    public subscript(position: Int) -> AttributeValue {
        // The result's initializer checked the value, so there is one.
        columns[position].type.storage.attributeValue(row.value(position)) ?? .null
    }

    /// Returns the value in the column with this name, or with this attribute where one column has it.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``.
    public func value(_ name: String) throws -> AttributeValue {
        if let position = columns.firstIndex(where: { $0.name == name }) { return self[position] }
        let positions = columns.indices.filter { columns[$0].attribute == name }
        guard positions.count == 1, let position = positions.first else {
            throw ObjectError(
                .noSuchAttribute,
                "result of a query: \(positions.isEmpty ? "no column is" : "several columns are") named \"\(name)\"; there are "
                    + columns.map { "\"\($0.name)\"" }.joined(separator: ", "))
        }
        return self[position]
    }
}

extension QueryResultSet: Equatable {
    /// Whether two results have the same columns and rows, in the same order. The cursor does not count.
    public static func == (left: QueryResultSet, right: QueryResultSet) -> Bool {
        left.columns.map(\.name) == right.columns.map(\.name) && left.count == right.count
            && zip(left.pages.joined(), right.pages.joined()).allSatisfy { $0 == $1 }
    }
}
