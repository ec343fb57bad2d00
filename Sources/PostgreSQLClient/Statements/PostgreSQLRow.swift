/// A row of a result. It keeps its own memory, so it may outlive its statement.
package struct PostgreSQLRow {
    private let result: ServerResult
    private let index: Int

    /// The names of the columns.
    package let columnNames: [String]

    init(_ result: ServerResult, index: Int, columnNames: [String]) {
        self.result = result
        self.index = index
        self.columnNames = columnNames
    }

    /// The number of columns.
    package var count: Int { result.columnCount }

    /// The value of a column, from 0; the program ends when there is no such column.
    package subscript(column: Int) -> PostgreSQLValue { result.value(index, column) }

    /// All values, in the order of the columns.
    package var values: [PostgreSQLValue] { result.values(index) }
}
