internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Where the content of one large value is: a column of one row of a back end.
struct LargeValueSource: Sendable {
    let object: ObjectPlan
    let attribute: AttributeModel
    let key: RowKey
    let backEnd: BackEnd
    /// Whether the value was NULL when the cache was compared last.
    let isNull: Bool

    /// The content as it is now, completely, so that what is sent is one state of the value.
    /// - Returns: nil when the row is gone; its deletion comes with the next synchronization. The content is nil for NULL.
    func read() throws -> Content? {
        if isNull { return Content(spool: nil) }
        let column = ColumnExpression.value(of: attribute, column: SQLText.quoted(object.binding.column(of: attribute.name)))
        let condition = key.condition(on: object, first: 1)
        return try backEnd.contents.read { connection in
            let query = try connection.statement(
                "SELECT CAST(\(column) AS BLOB) FROM \(SQLText.quoted(object.table.name)) WHERE \(condition.sql)")
            try query.bind(condition.values)
            guard try query.step() else { return nil }
            guard let bytes = query.blob(0) else { return Content(spool: nil) }
            let spool = Spool()
            try spool.append(bytes)
            return Content(spool: spool)
        }
    }

    struct Content {
        /// The bytes; nil for NULL.
        let spool: Spool?
    }
}
