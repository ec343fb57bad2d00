internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Writes the rows of a query as the data of one table part, deflated. No value is inspected on the way.
struct RowExport {
    let object: ObjectPlan
    let connection: Connection

    /// - Returns: the number of rows; nil if there are none. Nothing is written in that case.
    func write(_ part: TablePart, _ sql: String, _ values: [Value], to spool: Spool) throws -> Int64? {
        guard try connection.first("SELECT EXISTS (\(sql))", values)?[0].integer == 1 else { return nil }
        let types = part.columns.map { object.model.attribute(named: $0)?.wireType ?? .integer }
        let rows = try connection.exporter(sql, values, compression: part.compression == .zlib ? .zlib : .none, types: types)
        while let piece = try rows.nextChunk() { try spool.append(piece) }
        return Int64(rows.rows)
    }
}
