internal import MobileModel
internal import MobileStore

/// The query of a load in SQLite: the row's key, the keys of its references, its attributes, and columns that are summed only.
struct SQLiteLoadQuery {
    let sql: String
    let values: [Value]
    /// The types of the keys.
    let keyTypes: [JSONColumnType]
    /// The columns that are written.
    let columns: [ExportColumn]
    /// Nil if the rows are not summed.
    let sums: ExportSums?

    /// SQLite's limit of the columns of a query.
    private static let columnLimit = 2000

    /// - Parameters:
    ///   - keys: the rows to load; nil for all.
    ///   - sums: the query whose sums are added up on the way, with their seed; nil for none.
    ///   - isUTF8: whether the file has its texts in UTF-8.
    init(
        _ object: SQLObject, _ parameters: [String: Value], _ keys: [RowKey]?, sums: (query: BucketQuery, seed: [UInt8])?, isUTF8: Bool
    ) throws {
        let plan = object.plan, bound = object.loadParameters(parameters)
        let restriction = object.restriction(to: keys, first: bound.count + 1)
        let keyColumns = [object.keyExpression { object.sourceColumn($0) }] + plan.references.map { object.keyExpression(of: $0) }
        // Bound to the parameter of a conversion, a text or blob of a UTF-16 file would become one of UTF-8: there the query converts.
        let attributes = plan.rowAttributes.map { attribute in
            let column = object.sourceColumn(attribute.name)
            return isUTF8 ? column.sql : object.expressions.value(of: attribute, column)
        }
        var values = bound + restriction.values, summed: [String] = [], exportSums: ExportSums?
        if let sums {
            // The sums are those of the function in SQL, which takes many attributes as hashes of some of them.
            let isNested = attributes.count > SQLiteBuckets.argumentLimit
            if isNested || !isUTF8 { summed = Array(SQLiteBuckets.arguments(of: sums.query, seed: "?\(values.count + 1)").dropFirst()) }
            if keyColumns.count + attributes.count + summed.count <= Self.columnLimit {
                if isNested { values.append(.blob(sums.seed)) }
                let first = keyColumns.count + (summed.isEmpty ? 0 : attributes.count)
                exportSums = try ExportSums(RowSums(seed: sums.seed), of: first..<first + (summed.isEmpty ? attributes : summed).count)
            } else {
                summed = []  // the next look adds them up
            }
        }
        keyTypes = [plan.keyType] + plan.references.map(\.keyType)
        columns =
            keyTypes.map { ExportColumn($0) }
            + plan.rowAttributes.map { ColumnExpression.export(of: $0, in: plan.model, isConverted: !isUTF8) }
        sql = "SELECT " + (keyColumns + attributes + summed).joined(separator: ", ") + " FROM \(object.source)\(restriction.sql)"
        (self.values, self.sums) = (values, exportSums)
    }
}
