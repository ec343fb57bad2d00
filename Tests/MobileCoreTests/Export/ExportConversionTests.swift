import FaultInjection
import MobileCore
import MobileSQLite
import TestSupport
import Testing

/// Values of any storage that an export brings to the forms of their columns' types.
@Suite struct ExportConversionTests {
    private let core: CorePool

    init() throws { core = try CorePool() }

    /// A column of an export with the SQL of its conversion.
    struct Column: CustomTestStringConvertible {
        let type: mc_column_type
        var precision: UInt16 = 18, scale: UInt16 = 0
        /// Whether the core converts numbers.
        var isExact = false
        /// The conversion of all values as one expression, with `?1` for the value.
        let sql: String?

        /// The column of values that the statement has converted.
        var converted: Column { Column(type: type, precision: precision, scale: scale, sql: nil) }
        /// The SQL for the values that the core does not convert.
        var conversion: String? { isExact && type != MC_COLUMN_REAL ? nil : sql }

        var testDescription: String { sql ?? "\(type)" }

        func core(_ name: UnsafePointer<CChar>) -> mc_column {
            mc_column(name: name, type: type, precision: precision, scale: scale, required: false)
        }
    }

    private static let columns = [
        Column(type: MC_COLUMN_INTEGER, isExact: true, sql: "CASE typeof(?1) WHEN 'integer' THEN ?1 ELSE mc_exact_integer(?1) END"),
        Column(type: MC_COLUMN_REAL, isExact: true, sql: "CASE typeof(?1) WHEN 'real' THEN ?1 ELSE mc_exact_real(?1) END"),
        Column(type: MC_COLUMN_BOOLEAN, sql: "CASE typeof(?1) WHEN 'text' THEN ?1 = 'yes' WHEN 'blob' THEN ?1 ELSE ?1 <> 0 END"),
        Column(type: MC_COLUMN_DECIMAL, precision: 12, scale: 2, isExact: true, sql: "mc_exact_decimal(?1, 10, 2)"),
        Column(type: MC_COLUMN_DECIMAL, precision: 18, scale: 18, isExact: true, sql: "mc_exact_decimal(?1, 0, 18)"),
        Column(type: MC_COLUMN_DECIMAL, precision: 18, scale: 0, isExact: true, sql: "mc_exact_decimal(?1, 18, 0)"),
        Column(type: MC_COLUMN_DECIMAL, precision: 18, scale: 0, sql: "mc_exact_decimal(?1, 18, 0)"),
        Column(type: MC_COLUMN_DECIMAL, precision: 38, scale: 10, isExact: true, sql: "mc_exact_decimal(?1, 28, 10)"),
        Column(type: MC_COLUMN_DECIMAL, precision: 1000, scale: 900, isExact: true, sql: "mc_exact_decimal(?1, 100, 900)"),
        Column(type: MC_COLUMN_DATE, sql: "coalesce(strftime('%Y-%m-%d', ?1, 'auto'), CAST(?1 AS TEXT))"),
        Column(type: MC_COLUMN_TIME, sql: "coalesce(strftime('%H:%M:%S', ?1, 'auto'), CAST(?1 AS TEXT))"),
        Column(type: MC_COLUMN_DATE_TIME, sql: "coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', ?1, 'auto'), CAST(?1 AS TEXT))"),
        Column(type: MC_COLUMN_TEXT, sql: "upper(?1)"), Column(type: MC_COLUMN_BLOB, sql: "?1 || 'x'"), Column(type: MC_COLUMN_ANY, sql: "?1 || 'x'"),
    ]

    private static let values = [
        "NULL", "0", "1", "-1", "12", "1234567890", "-9999999999", "10000000000", "999999999999999999", "1000000000000000000",
        "9223372036854775807", "-9223372036854775807 - 1", "0.0", "-0.0", "0.5", "12.5", "12.345", "-0.005", "0.1", "99999999.99", "9999999999.99",
        "1e15", "1e18", "1e19", "-1e300", "9e999", "-9e999", "''", "'12'", "' 7 '", "'12.50'", "'1e3'", "'abc'", "'yes'", "'2026-05-17'",
        "'2026-05-17T10:11'", "'2026-05-17 10:11:12.5Z'", "'2026-02-30'", "'10:11'", "'10:11:12.999'", "'24:00'", "2460000.5", "1700000000", "x''",
        "x'3132'", "x'FF'", "'\u{fc}'", "CAST(x'C3' AS TEXT)", "'a' || char(0) || 'b'",
    ]

    /// Returns the text of a query's only row, or the failure.
    private func row(
        _ sql: String, _ columns: [Column], conversions: [String?]? = nil, sums: OpaquePointer? = nil, summed: Range<Int> = 0..<0
    ) throws -> Result<String, CoreError> {
        try core.with { (connection) throws in
            try withStatement(connection, sql) { (statement) throws in
                try Self.withOptions(columns, conversions) { options in
                    var options = options
                    (options.sums, options.summed_first, options.summed_count) = (sums, summed.lowerBound, summed.count)
                    var rows: OpaquePointer?, row = mc_export_row(), hasRow = false
                    defer { mc_export_free(rows) }
                    do throws(CoreError) {
                        try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                        try CoreError.check { mc_export_next_row(rows!, &row, &hasRow, $0) }
                    } catch {
                        return .failure(error)
                    }
                    // No statement but that of the export is on a row.
                    let db = sqlite3_db_handle(mc_statement_sqlite(statement))
                    var other = sqlite3_next_stmt(db, nil)
                    while let found = other {
                        #expect(found == mc_statement_sqlite(statement) || sqlite3_stmt_busy(found) == 0)
                        other = sqlite3_next_stmt(db, found)
                    }
                    return .success(String(decoding: UnsafeBufferPointer(start: row.text, count: row.length), as: UTF8.self))
                }
            }
        }
    }

    private static func withOptions<R>(_ columns: [Column], _ conversions: [String?]?, _ body: (mc_export_options) throws -> R) throws -> R {
        func bytes(_ text: String) -> UnsafePointer<CChar> {
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.utf8.count + 1)
            for (index, byte) in (Array(text.utf8) + [0]).enumerated() { (copy + index).initialize(to: CChar(bitPattern: byte)) }
            return UnsafePointer(copy)
        }
        let texts = conversions?.map { $0.map(bytes) } ?? [], name = bytes("c")
        defer { for text in texts + [name] { text?.deallocate() } }
        return try columns.map { $0.core(name) }.withUnsafeBufferPointer { rules in
            try texts.withUnsafeBufferPointer { texts in
                var options = mc_export_options(
                    columns: rules.baseAddress, column_count: rules.count, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: nil, pool: nil)
                if conversions != nil { options.conversions = texts.baseAddress }
                return try columns.map(\.isExact).withUnsafeBufferPointer { exact in
                    if columns.contains(where: \.isExact) { options.exact = exact.baseAddress }
                    return try body(options)
                }
            }
        }
    }

    /// Whether both are the same text, or failures with the same code.
    private func isSame(_ one: Result<String, CoreError>, _ other: Result<String, CoreError>) -> Bool {
        switch (one, other) {
        case (.success(let one), .success(let other)): one == other
        case (.failure(let one), .failure(let other)): one.code == other.code
        default: false
        }
    }

    @Test("a value is written as its conversion in the statement would be", arguments: columns)
    func converted(column: Column) throws {
        let sql = try #require(column.sql)
        var results = Set<String>()
        for value in Self.values {
            let found = try row("SELECT \(value)", [column], conversions: [column.conversion])
            let expected = try row("SELECT \(sql.replacing("?1", with: "v.x")) FROM (SELECT \(value) AS x) AS v", [column.converted])
            #expect(isSame(found, expected), "\(value): \(found), expected \(expected)")
            results.insert((try? found.get()) ?? "failure")
        }
        #expect(results.count > 1)
    }

    @Test("random numbers are written as their conversion in the statement would be", arguments: 1...4)
    func randomNumbers(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let precision = Int.random(in: 1...40, using: &random), scale = Int.random(in: 0...precision, using: &random)
            let sql = "mc_exact_decimal(?1, \(precision - scale), \(scale))"
            let column = Column(type: MC_COLUMN_DECIMAL, precision: UInt16(precision), scale: UInt16(scale), isExact: true, sql: sql)
            let digits = Int64.random(in: -999_999_999_999...999_999_999_999, using: &random) >> Int64.random(in: 0...39, using: &random)
            let power = ["1", "10", "100", "1000000", "1000000000"].randomElement(using: &random) ?? "1"
            let value = ["\(digits)", "\(digits) / \(power).0", "'\(digits)e-\(power.utf8.count)'"].randomElement(using: &random) ?? "0"
            let found = try row("SELECT \(value)", [column])
            #expect(isSame(found, try row("SELECT \(sql.replacing("?1", with: "(\(value))"))", [column.converted])), "\(value), \(sql): \(found)")
        }
    }

    @Test(
        "numbers and texts that are numbers need no SQL, and other values are left to it",
        arguments: [
            (MC_COLUMN_INTEGER, ["7", "7.0", "' 7 '", "'1e3'"], "'x'"), (MC_COLUMN_DECIMAL, ["7", "12.5", "'12.340'", "1e300"], "x'00'"),
            (MC_COLUMN_REAL, ["7.5", "7"], "'7.5'"),
        ] as [(mc_column_type, [String], String)])
    func exactNumbers(type: mc_column_type, numbers: [String], other: String) throws {
        let column = Column(type: type, precision: 12, scale: 2, isExact: true, sql: nil)
        for number in numbers {
            let text = try row("SELECT \(number)", [column], conversions: ["there_is_no_such_function(?1)"])
            if number == "1e300" {
                let error = #expect(throws: CoreError.self) { try text.get() }
                #expect(error?.code == MC_ERROR_TYPE)
            } else {
                #expect(throws: Never.self) { try text.get() }
            }
        }
        let error = #expect(throws: CoreError.self) { try row("SELECT \(other)", [column], conversions: ["there_is_no_such_function(?1)"]).get() }
        #expect(error?.code == MC_ERROR_SQLITE)
        #expect(try row("SELECT \(other)", [column], conversions: ["nullif(?1, ?1)"]).get() == "null")
    }

    @Test(
        "SQL runs only for values that do not have their form plainly",
        arguments: [
            (MC_COLUMN_INTEGER, "7", "7.0"), (MC_COLUMN_BOOLEAN, "2", "'true'"), (MC_COLUMN_REAL, "7.5", "7"),
            (MC_COLUMN_DATE, "'2026-05-17'", "1700000000"), (MC_COLUMN_TIME, "'10:11'", "'now'"),
            (MC_COLUMN_DATE_TIME, "'2026-05-17'", "x'3132'"), (MC_COLUMN_INTEGER, "NULL", "''"), (MC_COLUMN_TEXT, "NULL", "'a'"),
            (MC_COLUMN_ANY, "NULL", "1"),
        ] as [(mc_column_type, String, String)])
    func plainValues(type: mc_column_type, plain: String, other: String) throws {
        let column = Column(type: type, sql: nil)
        for sql in ["there_is_no_such_function(?1)", "abs()", "?1 FROM nothing", "1", ""] {
            #expect(throws: Never.self) { try row("SELECT \(plain)", [column], conversions: [sql]).get() }
            let error = #expect(throws: CoreError.self) { try row("SELECT \(other)", [column], conversions: [sql]).get() }
            #expect(error?.code == MC_ERROR_SQLITE || error?.code == MC_ERROR_MISUSE, "\(sql): \(error?.message ?? "")")
        }
    }

    @Test(
        "a failure of a conversion names its row and column, and is not a value that was refused",
        arguments: [("?1", MC_ERROR_TYPE, 1), ("there_is_no_such_function(?1)", MC_ERROR_SQLITE, 0), ("?1 WHERE 0", MC_ERROR_MISUSE, 0)])
    func failedConversion(sql: String, code: mc_status, refused: Int) throws {
        let column = Column(type: MC_COLUMN_INTEGER, sql: nil)
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT column1 AS number FROM (VALUES (1), ('a'))") { (statement) throws in
                try Self.withOptions([column], [sql]) { options in
                    var options = options, rows: OpaquePointer?, row = mc_export_row(), hasRow = false
                    defer { mc_export_free(rows) }
                    try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                    try CoreError.check { mc_export_next_row(rows!, &row, &hasRow, $0) }
                    let error = #expect(throws: CoreError.self) { try CoreError.check { mc_export_next_row(rows!, &row, &hasRow, $0) } }
                    #expect(error?.code == code && error?.message.hasPrefix("export, row 2, column \"number\"") == true, "\(error?.message ?? "")")
                    #expect(mc_export_refused_column(rows!) == refused)
                }
            }
        }
    }

    @Test func `values are converted in text that is read in pieces, too`() throws {
        let columns = [
            Column(type: MC_COLUMN_DATE_TIME, sql: nil), Column(type: MC_COLUMN_DECIMAL, precision: 5, scale: 2, isExact: true, sql: nil),
        ]
        var text: [UInt8] = []
        try core.with { (connection) throws in
            try withStatement(connection, "VALUES ('2026-05-17', 12.5), ('soon', '12.340')") { (statement) throws in
                try Self.withOptions(columns, ["upper(?1)", nil]) { options in
                    var options = options, rows: OpaquePointer?, piece = [UInt8](repeating: 0, count: 7), length = 1
                    defer { mc_export_free(rows) }
                    try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                    while length > 0 {
                        try CoreError.check { mc_export_read(rows!, &piece, piece.count, &length, $0) }
                        text += piece[..<length]
                    }
                }
            }
        }
        #expect(String(decoding: text, as: UTF8.self) == "[[\"2026-05-17T00:00:00.000Z\",12.5],\n[\"SOON\",12.34]]")
    }

    @Test(
        "a schema that is changed between the preparation and the first row: the row has its columns, or there is an error",
        arguments: ["ADD COLUMN d DEFAULT 4", "DROP COLUMN c"], [false, true])
    func changedSchema(change: String, isSummed: Bool) throws {
        var db: OpaquePointer?, statement: OpaquePointer?
        try #require(sqlite3_open_v2(core.directory + "/core.db", &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close(db) }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 2, 3)") }
        try #require(sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        try core.with(writer: true) { try exec($0, "ALTER TABLE t \(change)") }
        var options = mc_export_default_options(), rows: OpaquePointer?, row = mc_export_row(), hasRow = false
        let sums = try Self.pass()
        defer { mc_row_digest_pass_free(sums) }
        if isSummed { (options.sums, options.summed_first, options.summed_count) = (sums, 1, 2) }
        try CoreError.check { mc_export_open(statement!, &options, &rows, $0) }
        defer { mc_export_free(rows) }
        let result = Result { () throws(CoreError) in try CoreError.check { mc_export_next_row(rows!, &row, &hasRow, $0) } }
        if change.hasPrefix("ADD") {
            try result.get()
            #expect(
                String(decoding: UnsafeBufferPointer(start: row.text, count: row.length), as: UTF8.self) == "1,2,3"
                    && sqlite3_data_count(statement) == 4)
        } else {
            let error = #expect(throws: CoreError.self) { try result.get() }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message.hasSuffix("the statement has 2 columns now") == true, "\(error?.message ?? "")")
        }
    }

    @Test func `options that contradict each other are refused`() throws {
        let column = Column(type: MC_COLUMN_INTEGER, sql: nil)
        var options = mc_export_default_options(), rows: OpaquePointer?
        let sql: [UnsafePointer<CChar>?] = [nil]
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT 1") { (statement) throws in
                sql.withUnsafeBufferPointer { sql in
                    options.conversions = sql.baseAddress
                    #expect(mc_export_open(mc_statement_sqlite(statement), &options, &rows, nil) == MC_ERROR_MISUSE && rows == nil)
                }
                [true].withUnsafeBufferPointer { exact in
                    (options.conversions, options.exact) = (nil, exact.baseAddress)
                    #expect(mc_export_open(mc_statement_sqlite(statement), &options, &rows, nil) == MC_ERROR_MISUSE && rows == nil)
                }
            }
        }
        let sums = try Self.pass()
        defer { mc_row_digest_pass_free(sums) }
        for summed in [0..<3, 2..<3, 3..<3] {
            let error = #expect(throws: CoreError.self) { try row("SELECT 1, 2", [column, column], sums: sums, summed: summed).get() }
            #expect(error?.code == MC_ERROR_MISUSE && error?.message.contains("the statement has 2") == true)
        }
        // Without sums, columns without a rule are an error.
        let more = #expect(throws: CoreError.self) { try row("SELECT 1, 2", [column]).get() }
        #expect(more?.code == MC_ERROR_MISUSE)
    }

    // MARK: Sums

    private static let seed = "x'000102030405060708090a0b0c0d0e0f'"

    private static func pass() throws -> OpaquePointer {
        var pass: OpaquePointer?
        try CoreError.check { mc_row_digest_pass_create((0..<16).map { UInt8($0) }, &pass, $0) }
        return try #require(pass)
    }

    private static func read(_ pass: OpaquePointer) -> [UInt8] {
        var bytes = [UInt8](repeating: 1, count: Int(MC_ROW_DIGEST_SUMS_SIZE))
        mc_row_digest_pass_read(pass, &bytes)
        return bytes
    }

    /// Returns the sums of the aggregate in SQL.
    private func sums(_ arguments: String, _ rows: String) throws -> [UInt8] {
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT mc_row_digest_sums(\(Self.seed), \(arguments)) FROM (\(rows))") { (statement) throws in
                var hasRow = false, length = 0
                try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
                let bytes = mc_statement_column_blob(statement, 0, &length)
                return Array(UnsafeRawBufferPointer(start: bytes, count: length))
            }
        }
    }

    /// The column of text is one whose values change in place when they are written: bytes become text.
    @Test(
        "the sums of an export are those of the aggregate over the stored values",
        arguments: [
            ("1, 'a', 1.0", true), ("7000, NULL, '2'", true), ("'x', x'00', 3", true), ("NULL, '', x'3132'", false),
            ("'k', x'6162', 9223372036854775807", false),
        ])
    func sums(values: String, isWritten: Bool) throws {
        let pass = try Self.pass()
        defer { mc_row_digest_pass_free(pass) }
        #expect(Self.read(pass) == [UInt8](repeating: 0, count: Int(MC_ROW_DIGEST_SUMS_SIZE)))
        let columns = [
            Column(type: MC_COLUMN_ANY, sql: nil), Column(type: MC_COLUMN_TEXT, sql: nil), Column(type: MC_COLUMN_DECIMAL, isExact: true, sql: nil),
        ]
        let rows = "SELECT a.* FROM (VALUES (\(values))) AS a"
        let first = try row(rows, columns, sums: pass, summed: 1..<3)
        // A row with a refused value counts, but then the export has failed.
        #expect(((try? first.get()) != nil) == isWritten, "\(first)")
        #expect(try Self.read(pass) == sums("column1, column2, column3", rows))
        // Columns without a rule are summed, and not written.
        let other = try Self.pass()
        defer { mc_row_digest_pass_free(other) }
        let text = try row("SELECT column1, column3, column2 FROM (\(rows))", [columns[0]], sums: other, summed: 1..<3).get()
        #expect(try text == row("SELECT column1 FROM (\(rows))", [columns[0]]).get())
        #expect(try Self.read(other) == sums("column1, column3, column2", rows))
    }

    // MARK: Memory

    @Test func `each allocation fails once: the export reports it`() throws {
        let column = Column(type: MC_COLUMN_DECIMAL, precision: 18, scale: 2, sql: nil), core = try CorePool { $0.statement_cache = 0 }
        try core.with { (connection) throws in
            try withStatement(connection, "SELECT '12.5', 7") { (statement) throws in
                let sums = try Self.pass()
                defer { mc_row_digest_pass_free(sums) }
                try Self.withOptions([column, column], ["mc_exact_decimal(?1, 16, 2)", nil]) { options in
                    try failEachAllocation { () throws(CoreError) in
                        var options = options, rows: OpaquePointer?, row = mc_export_row(), hasRow = false
                        (options.sums, options.summed_first, options.summed_count) = (sums, 1, 1)
                        defer { mc_export_free(rows) }
                        try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                        try CoreError.check { mc_export_next_row(rows!, &row, &hasRow, $0) }
                        return Array(UnsafeBufferPointer(start: row.text, count: row.length))
                    }
                }
            }
        }
    }
}
