internal import MobilePostgreSQL

/// One result of the server: rows, the end of a statement, or a failure. It owns libpq's result, which never changes.
@safe final class ServerResult {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) { unsafe self.result = result }

    deinit { unsafe PQclear(result) }

    /// The kinds of results.
    enum Kind {
        /// A statement without rows is complete.
        case command
        /// All rows of a statement, or, after single rows, its end.
        case rows
        /// One row of a statement that has more.
        case singleRow
        /// The server waits for the rows of a COPY.
        case copyIn
        /// The end of a pipeline's implicit transaction.
        case sync
        /// A statement that was not run, because an earlier one of its pipeline failed.
        case skipped
        /// A failure, see ``ServerResult/error(timeoutAfter:)``.
        case failure
        /// A text without a statement.
        case empty
        /// A COPY in another direction than this module's.
        case unsupported
    }

    /// The kind.
    var kind: Kind {
        switch unsafe PQresultStatus(result) {
        case PGRES_COMMAND_OK: .command
        case PGRES_TUPLES_OK: .rows
        case PGRES_SINGLE_TUPLE: .singleRow
        case PGRES_COPY_IN: .copyIn
        case PGRES_PIPELINE_SYNC: .sync
        case PGRES_PIPELINE_ABORTED: .skipped
        case PGRES_EMPTY_QUERY: .empty
        case PGRES_COPY_OUT, PGRES_COPY_BOTH: .unsupported
        default: .failure
        }
    }

    /// The number of rows.
    var rowCount: Int { Int(unsafe PQntuples(result)) }

    /// The number of columns.
    var columnCount: Int { Int(unsafe PQnfields(result)) }

    /// The names of the columns.
    var columnNames: [String] { (0..<columnCount).map { unsafe String(cString: PQfname(result, Int32($0))) } }

    /// The types of the columns.
    var columnTypes: [UInt32] { (0..<columnCount).map { unsafe PQftype(result, Int32($0)) } }

    /// The types of the parameters, in the description of a prepared statement.
    var parameterTypes: [UInt32] { (0..<Int(unsafe PQnparams(result))).map { unsafe PQparamtype(result, Int32($0)) } }

    /// The word with which the server reports a statement complete, such as `COMMIT`.
    var commandTag: String { unsafe String(cString: PQcmdStatus(result)) }

    /// The number of rows that a statement inserted, updated, deleted, copied or returned; 0 for others.
    var affectedRows: Int { Int(unsafe String(cString: PQcmdTuples(result))) ?? 0 }

    /// A value. The row and the column exist, otherwise the program ends.
    func value(_ row: Int, _ column: Int) -> PostgreSQLValue {
        precondition(row >= 0 && row < rowCount && column >= 0 && column < columnCount, "there is no such value")
        let row = Int32(row), column = Int32(column)
        guard unsafe PQgetisnull(result, row, column) == 0 else { return .null }
        let bytes = unsafe UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        return unsafe PostgreSQLValue(
            Span<UInt8>(_unsafeBytes: bytes), type: PQftype(result, column), isBinary: PQfformat(result, column) == 1)
    }

    /// All values of a row.
    func values(_ row: Int) -> [PostgreSQLValue] { (0..<columnCount).map { value(row, $0) } }

    // MARK: Failures

    /// The letters with which the protocol marks the fields of a failure.
    private enum Field {
        static let severity = field("V"), state = field("C"), message = field("M"), detail = field("D"), position = field("P")
        static let schema = field("s"), table = field("t"), column = field("c"), constraint = field("n"), routine = field("R")

        private static func field(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
    }

    private func field(_ field: Int32) -> String? {
        unsafe PQresultErrorField(result, field).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The failure that the result reports.
    var error: PostgreSQLError {
        guard let state = field(Field.state) else {
            // Only the server names a state: libpq has written this about a connection that broke.
            return PostgreSQLError(.connectionLost, unsafe String(cString: PQresultErrorMessage(result)).oneLine, endsSession: true)
        }
        let code = SQLState.code(state), severity = field(Field.severity)
        let violation = PostgreSQLError.Violation(
            kind: SQLState.violation(state), schema: field(Field.schema), table: field(Field.table), column: field(Field.column),
            constraint: field(Field.constraint))
        return PostgreSQLError(
            code, field(Field.message)?.oneLine ?? "the server reports \(state)", sqlState: state,
            position: field(Field.position).flatMap { Int($0) }, violation: code == .constraint ? violation : nil,
            detail: field(Field.detail)?.oneLine, routine: field(Field.routine),
            endsSession: severity == "FATAL" || severity == "PANIC")
    }
}
