import MobileCore
import MobileSQLite
import Testing

/// The refusals of an export and of the writer of rows, and their output for every storage class with every column type.
@Suite struct ExportRefusalTests {
    private let core: CorePool
    /// A name that lives as long as the program.
    private static var noName: UnsafePointer<CChar> { UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self) }

    init() throws { core = try CorePool() }

    private func exported(
        _ sql: String, _ columns: [mc_column]? = nil, _ change: (inout mc_export_options) -> Void = { _ in }
    ) throws -> String {
        try core.with { (connection) throws in
            try withStatement(connection, sql) { (statement) throws in
                var rows: OpaquePointer?
                defer { mc_export_free(rows) }
                func open(_ columns: UnsafePointer<mc_column>?, _ count: Int) throws {
                    var options = mc_export_options(
                        columns: columns, column_count: count, format: MC_EXPORT_ARRAYS, deflate_level: 0, large: nil, pool: nil)
                    change(&options)
                    try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                }
                if let columns { try columns.withUnsafeBufferPointer { try open($0.baseAddress, $0.count) } } else { try open(nil, 0) }
                var text: [UInt8] = [], piece = [UInt8](repeating: 0, count: 100), length = 1
                while length > 0 {
                    do { try CoreError.check { mc_export_read(rows!, &piece, piece.count, &length, $0) } } catch {
                        #expect(mc_export_read(rows!, &piece, piece.count, &length, nil) == MC_ERROR_MISUSE && length == 0)
                        throw error
                    }
                    text += piece[..<length]
                }
                return String(decoding: text, as: UTF8.self)
            }
        }
    }

    private func column(_ type: mc_column_type, precision: UInt16 = 18, scale: UInt16 = 0) -> mc_column {
        mc_column(name: Self.noName, type: type, precision: precision, scale: scale, required: false)
    }

    @Test(
        "a value is written by the type of its column, whatever its storage",
        arguments: [
            (MC_COLUMN_TEXT, "1.5", #""1.5""#), (MC_COLUMN_TEXT, "7", #""7""#), (MC_COLUMN_TEXT, "x'6162'", #""ab""#),
            (MC_COLUMN_TEXT, "'a'", #""a""#),
            (MC_COLUMN_DATE, "'2024-02-29'", #""2024-02-29""#), (MC_COLUMN_TIME, "12", #""12""#), (MC_COLUMN_DATE_TIME, "x'61'", #""a""#),
            (MC_COLUMN_DATE, "2.5", #""2.5""#), (MC_COLUMN_BLOB, "12", #""MTI=""#), (MC_COLUMN_BLOB, "x''", #""""#), (MC_COLUMN_REAL, "2", "2.0"),
            (MC_COLUMN_ANY, "x'00'", #""AA==""#), (MC_COLUMN_ANY, "''", #""""#), (MC_COLUMN_BOOLEAN, "-1", "true"), (MC_COLUMN_REAL, "NULL", "null"),
        ] as [(mc_column_type, String, String)])
    func written(type: mc_column_type, value: String, text: String) throws {
        #expect(try exported("SELECT \(value)", [column(type)]) == "[[\(text)]]")
    }

    @Test(
        "a value that its type cannot write names its row, and ends the export",
        arguments: [
            (MC_COLUMN_INTEGER, "'x'", MC_ERROR_TYPE), (MC_COLUMN_BOOLEAN, "1.5", MC_ERROR_TYPE), (MC_COLUMN_REAL, "x'00'", MC_ERROR_TYPE),
            (MC_COLUMN_REAL, "9e999", MC_ERROR_TYPE), (MC_COLUMN_ANY, "-9e999", MC_ERROR_TYPE), (MC_COLUMN_DECIMAL, "1.5", MC_ERROR_TYPE),
            (MC_COLUMN_DECIMAL, "''", MC_ERROR_TYPE), (MC_COLUMN_DECIMAL, "'1.5x'", MC_ERROR_TYPE), (MC_COLUMN_DATE, "9e999", MC_ERROR_TYPE),
            (MC_COLUMN_ANY, "CAST(x'61FF' AS TEXT)", MC_ERROR_CORRUPT), (MC_COLUMN_TEXT, "x'C3'", MC_ERROR_CORRUPT),
            (MC_COLUMN_TEXT, "CAST(zeroblob(3000) || x'FF' AS TEXT)", MC_ERROR_CORRUPT),
        ] as [(mc_column_type, String, mc_status)])
    func refused(type: mc_column_type, value: String, status: mc_status) throws {
        let error = #expect(throws: CoreError.self) { try exported("SELECT NULL AS x UNION ALL SELECT \(value)", [column(type)]) }
        #expect(error?.code == status && error?.message.hasPrefix("export, row 2, column \"x\": ") == true, "\(error?.message ?? "")")
    }

    @Test func `an integer has no more than 18 digits behind the point`() throws {
        let wide = column(MC_COLUMN_DECIMAL, precision: 40, scale: 20)
        #expect(try exported("SELECT '0.00000000000000000001'", [wide]) == "[[0.00000000000000000001]]")
        let error = #expect(throws: CoreError.self) { try exported("SELECT 15 AS x", [wide]) }
        #expect(error?.code == MC_ERROR_TYPE && error?.message.hasPrefix("export, row 1, column \"x\": expected a decimal as text") == true)
        let open = #expect(throws: CoreError.self) { try exported("SELECT 15", [column(MC_COLUMN_DECIMAL, precision: 18, scale: 19)]) }
        #expect(open?.code == MC_ERROR_MISUSE)
    }

    @Test("options that contradict the statement are refused at open")
    func options() throws {
        let integer = column(MC_COLUMN_INTEGER)
        for (columns, change) in [
            ([integer, integer], { _ in }), ([integer], { $0.deflate_level = 10 }), ([integer], { $0.deflate_level = -1 }),
        ] as [([mc_column], (inout mc_export_options) -> Void)] {
            let error = #expect(throws: CoreError.self) { try exported("SELECT 1", columns, change) }
            #expect(error?.code == MC_ERROR_MISUSE)
        }
        let form = [MC_EXPORT_LARGE_TEXT]
        let pool = #expect(throws: CoreError.self) {
            try form.withUnsafeBufferPointer { form in try exported("SELECT 1", [integer]) { $0.large = form.baseAddress } }
        }
        #expect(pool?.message == "export: large values in line need the pool that they are in")
        #expect(#expect(throws: CoreError.self) { try exported("CREATE TABLE t(x)") }?.code == MC_ERROR_MISUSE)
        try core.prepareBlobs()
        let text = try core.writeBlob([97], unit: MC_BLOB_SCALARS)
        let unit = #expect(throws: CoreError.self) {
            try [MC_EXPORT_LARGE_BASE64].withUnsafeBufferPointer { form in
                try exported("SELECT \(text)") { ($0.large, $0.pool) = (form.baseAddress, core.pool) }
            }
        }
        #expect(unit?.message == "export: large value \(text) is text, not bytes")
        let twice = #expect(throws: CoreError.self) { try exported("SELECT 1 AS b, 2 AS a, 3 AS b") { $0.format = MC_EXPORT_OBJECTS } }
        #expect(twice?.message == "export: two columns are named \"b\"; row objects need different names")
        #expect(try exported("SELECT 1 AS ab, 2 AS a, 3 AS cd") { $0.format = MC_EXPORT_OBJECTS } == #"[{"ab":1,"a":2,"cd":3}]"#)
    }

    /// Returns the writer's text for the rows of `sql`.
    private func rows(_ sql: String, _ columns: [mc_column]? = nil, maximum: Int = 0) throws -> String {
        var made: OpaquePointer?, page: UnsafeMutablePointer<mc_row_page>?
        var options = mc_json_writer_options(sink: nil, context: nil, maximum: maximum, depth: 0)
        try CoreError.check { mc_json_writer_open(&options, &made, $0) }
        try CoreError.check { mc_row_page_create(&page, $0) }
        defer {
            mc_json_writer_free(made)
            mc_row_page_free(page)
        }
        try core.with { (connection) throws in
            try withStatement(connection, sql) { (statement) throws in
                var isAtEnd = false
                try CoreError.check { mc_row_page_fill(page!, statement, 1000, 1 << 24, &isAtEnd, $0) }
            }
        }
        try CoreError.check { error in
            guard let columns else { return mc_json_write_rows(made!, page!, nil, error) }
            return columns.withUnsafeBufferPointer { mc_json_write_rows(made!, page!, $0.baseAddress, error) }
        }
        try CoreError.check { mc_json_writer_finish(made!, $0) }
        var length = 0
        let text = mc_json_writer_text(made!, &length)
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }

    @Test func `rows of a page are written like those of an export, and refused like them`() throws {
        #expect(try rows("SELECT 1, 'a' UNION ALL SELECT 2.5, x'00' UNION ALL SELECT NULL, ''") == #"[[1,"a"],[2.5,"AA=="],[null,""]]"#)
        #expect(try rows("SELECT 150", [column(MC_COLUMN_DECIMAL, scale: 2)]) == "[[1.5]]")
        #expect(try rows("SELECT 1 WHERE 0") == "[]")
        let type = #expect(throws: CoreError.self) { try rows("SELECT 1 UNION ALL SELECT 'x'", [column(MC_COLUMN_INTEGER)]) }
        #expect(type?.code == MC_ERROR_TYPE && type?.message.hasPrefix("JSON text, row 2, column 1: ") == true)
        #expect(#expect(throws: CoreError.self) { try rows("SELECT 1, CAST(x'FF' AS TEXT)") }?.code == MC_ERROR_CORRUPT)
        let long = #expect(throws: CoreError.self) { try rows("SELECT hex(zeroblob(20000))", maximum: 1000) }
        #expect(long?.code == MC_ERROR_LIMIT && long?.message == "JSON text: longer than 1000 bytes")
    }

    @Test func `a sink gets no more than was allowed, and nothing twice`() throws {
        final class Sink { var lengths: [Int] = [] }
        let sink = Sink(), text = String(repeating: "x", count: 40_000)
        for (maximum, status) in [(0, MC_OK), (50_000, MC_OK), (30_000, MC_ERROR_LIMIT)] {
            var made: OpaquePointer?, message: OpaquePointer?
            var options = mc_json_writer_options(
                sink: { context, _, length, _ in
                    Unmanaged<Sink>.fromOpaque(context!).takeUnretainedValue().lengths.append(length)
                    return MC_OK
                }, context: Unmanaged.passUnretained(sink).toOpaque(), maximum: maximum, depth: 0)
            sink.lengths = []
            try CoreError.check { mc_json_writer_open(&options, &made, $0) }
            try CoreError.check { mc_message_read("1", 1, nil, &message, $0) }
            defer {
                mc_json_writer_free(made)
                mc_message_free(message)
            }
            var found = mc_json_write_string(made!, text, text.utf8.count, nil)
            if found == MC_OK { found = mc_json_writer_finish(made!, nil) }
            #expect(found == status && sink.lengths == (status == MC_OK ? [40_002] : []))
            #expect(status != MC_OK || mc_json_write_node(made!, message!, 1, nil) == MC_ERROR_MISUSE)
        }
    }

    @Test func `a writer's limits are checked when it is opened`() {
        var writer: OpaquePointer?
        for (depth, maximum) in [(UInt32(MC_JSON_DEPTH_LIMIT) + 1, 0), (0, -1)] {
            var options = mc_json_writer_options(sink: nil, context: nil, maximum: maximum, depth: depth)
            #expect(mc_json_writer_open(&options, &writer, nil) == MC_ERROR_MISUSE && writer == nil)
        }
        mc_json_writer_free(nil)
        mc_export_free(nil)
        mc_message_free(nil)
    }
}
