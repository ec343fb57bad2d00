internal import MobileStore

extension ServerAdministration {
    /// A row of a back end that the attributes of its object cannot hold. Devices do not get it until it fits: those that have a former version keep it.
    public struct QuarantinedRow: Sendable, Hashable {
        /// Name and version of the package.
        public let package: String
        /// The object's name in the model.
        public let object: String
        /// The table that the object is bound to.
        public let table: String
        /// The key of the row, as in the lines of the log.
        public let key: String
        /// The column with the value; several names for a key of several columns.
        public let column: String
        /// The attribute of the column.
        public let attribute: String
        /// The value, as in the lines of the log: cut to 60 characters.
        public let value: String
        /// The values that the attribute can hold, as a phrase.
        public let expected: String
        /// The time at which the row was found so first, in milliseconds since 1970.
        public let noted: Int64
    }

    /// The number of further rows of an object that are held back.
    public struct UnrecordedRows: Sendable, Hashable {
        /// Name and version of the package.
        public let package: String
        /// The object's name in the model.
        public let object: String
        /// The number of rows. A row that changed since the last comparison of all rows may count several times.
        public let rows: Int64
    }

    /// Returns the rows that are held back, by packages and objects, the oldest first: up to 1,000 of each object.
    /// - Parameter package: name and version; nil (default) for all.
    public func quarantine(ofPackage package: String? = nil) throws -> [QuarantinedRow] {
        try stateStore.read { connection in
            try connection.rows(
                """
                SELECT p.name, o.name, q.source, q.row_key, q.place, q.attribute, q.value, q.expected, min(q.noted)
                FROM _quarantine AS q JOIN _object AS o ON o.id = q.object JOIN _package AS p ON p.id = o.package
                WHERE CAST(?1 AS TEXT) IS NULL OR p.name = CAST(?1 AS TEXT)
                GROUP BY p.name, o.name, q.name, q.source, q.row_key, q.place, q.attribute, q.value, q.expected
                ORDER BY p.name, o.name, min(q.noted), q.name
                """, [Value(package)]
            ).map { row in
                QuarantinedRow(
                    package: row[0].text ?? "", object: row[1].text ?? "", table: row[2].text ?? "", key: row[3].text ?? "",
                    column: row[4].text ?? "",
                    attribute: row[5].text ?? "", value: row[6].text ?? "", expected: row[7].text ?? "", noted: row[8].integer ?? 0)
            }
        }
    }

    /// Returns how many rows are held back beyond those of ``quarantine(ofPackage:)``.
    /// - Parameter package: name and version; nil (default) for all.
    public func unrecordedQuarantine(ofPackage package: String? = nil) throws -> [UnrecordedRows] {
        try stateStore.read { connection in
            try connection.rows(
                """
                SELECT p.name, o.name, CAST(sum(q.row_count) AS BIGINT)
                FROM _quarantine_rest AS q JOIN _object AS o ON o.id = q.object JOIN _package AS p ON p.id = o.package
                WHERE CAST(?1 AS TEXT) IS NULL OR p.name = CAST(?1 AS TEXT) GROUP BY p.name, o.name ORDER BY p.name, o.name
                """, [Value(package)]
            ).map { UnrecordedRows(package: $0[0].text ?? "", object: $0[1].text ?? "", rows: $0[2].integer ?? 0) }
        }
    }
}
