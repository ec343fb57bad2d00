internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The location of the content of one large value: a column of one row of a back end.
struct LargeValueSource: Sendable {
    let object: ObjectPlan
    let attribute: AttributeModel
    let key: RowKey
    let backEnd: BackEnd
    /// Whether the value was NULL at the last comparison of the cache.
    let isNull: Bool

    /// Reads the present content completely, so that the sent bytes are one state of the value.
    /// - Returns: nil if the row is gone; its deletion comes with the next synchronization. The content is nil for NULL.
    func read() throws -> Content? {
        if isNull { return Content(spool: nil) }
        let column = SQLText.quoted(object.binding.column(of: attribute.name))
        let condition = key.condition(on: object, first: 1)
        let bytes = "CAST(\(ColumnExpression.value(of: attribute, column: column)) AS BLOB)"
        let isInPieces = object.table.hasPieces ? "typeof(\(column)) IN ('blob', 'text')" : "0"
        let row = object.table.hasPieces ? "rowid" : "NULL"
        return try backEnd.contents.read { connection in
            let query = try connection.statement(
                """
                SELECT typeof(\(column)), \(row), \(isInPieces), iif(\(isInPieces), NULL, \(bytes))
                FROM \(SQLText.quoted(object.table.name)) WHERE \(condition.sql)
                """)
            try query.bind(condition.values)
            guard try query.step() else { return nil }
            guard query.text(0) != "null" else { return Content(spool: nil) }
            let spool = Spool()
            if query.integer(2) == 1 {
                let reader = try object.valueReader(of: attribute, row: query.integer(1), in: connection)
                while let piece = try reader.nextChunk() { try spool.append(piece) }
            } else {
                try spool.append(query.blob(3) ?? [])
            }
            return Content(spool: spool)
        }
    }

    struct Content {
        /// The bytes; nil for NULL.
        let spool: Spool?
    }
}
