internal import MobileStore

/// Copies the rows of a query of one database into a table of another one, of which the caller holds the transaction. The rows go
/// as JSON text from exporter to importer, a piece at a time, without being looked at in between.
struct TableCopy {
    let source: Connection
    let statement: String
    let values: [Value]
    let table: String
    /// The table's columns in the order of the query's.
    let columns: [String]
    /// How each column keeps its values.
    let types: [JSONColumnType]
    let connection: Connection

    /// - Returns: how many rows there were.
    func run() throws(StoreError) -> Int64 {
        let rows = try source.exporter(statement, values, types: types)
        var options = ImportOptions()
        options.columnRules = Dictionary(uniqueKeysWithValues: zip(columns, types.map { JSONColumnRule($0) }))
        options.maximumRowBytes = .megabytes(256)
        let target = try connection.importer(into: table, columns: columns, mode: .insert, options: options)
        while let piece = try rows.nextChunk() { try target.push(piece) }
        return Int64(try target.finish().rows)
    }
}
