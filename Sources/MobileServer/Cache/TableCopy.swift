internal import MobileStore

/// Copies the rows of a query of one database into a table of another one. The caller holds the transaction of the latter. The rows go as JSON text
/// from exporter to importer, a piece at a time, without inspection in between.
struct TableCopy {
    let source: Connection
    let statement: String
    let values: [Value]
    let table: String
    /// The table's columns in the order of the query's.
    let columns: [String]
    /// The type in which each column stores its values.
    let types: [JSONColumnType]
    let connection: Connection

    /// - Returns: the number of rows.
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
