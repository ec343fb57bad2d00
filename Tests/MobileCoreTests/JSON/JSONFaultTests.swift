import FaultInjection
import Foundation
import MobileCore
import Testing

/// Failures in messages and exports: every allocation, every operation on the file, every call of a sink.
@Suite(.serialized) struct JSONFaultTests {
    private let message: [UInt8] = {
        let rows = (0..<60).map { #"{"id":\#($0),"name":"a\n\u00fc","price":12.5,"tags":["x",null,true]}"# }
        let keys = (0..<20).map { #""key \#($0)":false"# }
        return Array("{\"rows\":[\(rows.joined(separator: ","))],\"many\":{\(keys.joined(separator: ","))}}".utf8)
    }()

    private func rewritten() throws(CoreError) -> [UInt8] {
        var read: OpaquePointer?, made: OpaquePointer?
        defer {
            mc_json_writer_free(made)
            mc_message_free(read)
        }
        try CoreError.check { mc_message_read(message, message.count, nil, &read, $0) }
        try CoreError.check { mc_json_writer_open(nil, &made, $0) }
        try CoreError.check { mc_json_write_node(made!, read!, 0, $0) }
        try CoreError.check { mc_json_writer_finish(made!, $0) }
        var length = 0
        let text = mc_json_writer_text(made!, &length)
        return Array(UnsafeBufferPointer(start: text, count: length))
    }

    @Test func `a message that is read and written again lets go of everything when an allocation fails`() throws {
        let lost = try leftOver { try failEachAllocation(rewritten) }
        #expect(lost == 0)
    }

    @Test("a text of one kind of values lets go of everything, whichever of its allocations fails", arguments: 0..<8)
    func kinds(kind: Int) throws {
        let core = try CorePool()
        var page: UnsafeMutablePointer<mc_row_page>?
        try CoreError.check { mc_row_page_create(&page, $0) }
        defer { mc_row_page_free(page) }
        try core.with { connection in
            try withStatement(connection, "SELECT 1.5, x'0001', 'text', 7") { statement in
                var isAtEnd = false
                try CoreError.check { mc_row_page_fill(page!, statement, 10, 1000, &isAtEnd, $0) }
            }
        }
        func written() throws(CoreError) -> [UInt8] {
            var made: OpaquePointer?, length = 0
            defer { mc_json_writer_free(made) }
            try CoreError.check { mc_json_writer_open(nil, &made, $0) }
            let writer = made!
            try CoreError.check { kind == 2 ? mc_json_write_begin_object(writer, $0) : mc_json_write_begin_array(writer, $0) }
            for number in 0..<3000 {
                try CoreError.check { error in
                    switch kind {
                    case 0: mc_json_write_integer(writer, Int64(number), error)
                    case 1: mc_json_write_double(writer, 0.5, error)
                    case 2: number % 2 == 0 ? mc_json_write_key(writer, "key", 3, error) : mc_json_write_null(writer, error)
                    case 3: mc_json_write_string(writer, "\u{8}\u{C}\r\n", 4, error)
                    case 4: mc_json_write_boolean(writer, true, error)
                    case 5: mc_json_write_rows(writer, page!, nil, error)
                    case 6: number < 60 ? mc_json_write_begin_array(writer, error) : MC_OK
                    default: mc_json_write_number(writer, "12.50", 5, error)
                    }
                }
            }
            for _ in 0..<(kind == 6 ? 61 : 1) { try CoreError.check { mc_json_write_end(writer, $0) } }
            try CoreError.check { mc_json_writer_finish(writer, $0) }
            let text = mc_json_writer_text(writer, &length)
            return Array(UnsafeBufferPointer(start: text, count: length))
        }
        if kind == 3 { #expect(try String(decoding: written().prefix(11), as: UTF8.self) == #"["\b\f\r\n","#.prefix(11)) }
        let lost = try leftOver { try failEachAllocation(written) }
        #expect(lost == 0)
    }

    @Test("rows of every type are refused without memory, and nothing is kept", arguments: [1, 5, 100_000])
    func rows(chunk: Int) throws {
        let columns = [
            ScanColumn(name: "wide", type: MC_COLUMN_DECIMAL, precision: 40, scale: 5), ScanColumn(name: "text", type: MC_COLUMN_TEXT),
            ScanColumn(name: "moment", type: MC_COLUMN_DATE_TIME), ScanColumn(name: "blob", type: MC_COLUMN_BLOB), ScanColumn(name: "any"),
        ]
        let row = #"{"wide":12345678901234567890.5,"te\u0078t":"\u00e9\n","moment":"2026-05-17T10:00:00","blob":"AQID","any":[1]}"#
        let text = Array("[\(Array(repeating: row, count: 40).joined(separator: ","))]".utf8)
        let whole = Scan(text, columns: columns, chunk: chunk)
        #expect(whole.code == MC_OK && whole.rows.count == 40)
        let lost = leftOver {
            for allocation in Int64(0)... {
                fault_memory_fail_after(allocation, false)
                let scan = Scan(text, columns: columns, chunk: chunk)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(scan.code == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK), "allocation \(allocation): \(scan.message)")
                if !hasFailed { break }
            }
        }
        #expect(lost == 0)
    }

    @Test func `rows that were refused stay refused, and members have their limits`() throws {
        var options = mc_rows_options(
            name: nil, columns: nil, column_count: 0, members: nil, member_count: 0, depth: 0, row_bytes: 0, sink: nil, context: nil)
        var rows: OpaquePointer?, error = mc_error()
        #expect(mc_rows_open(&options, &rows, nil) == MC_ERROR_MISUSE)
        "a".withCString { name in
            var column = mc_column(name: name, type: MC_COLUMN_INTEGER, precision: 0, scale: 0, required: false)
            withUnsafePointer(to: &column) { column in
                var member = mc_rows_member(name: name, columns: column, column_count: 1)
                withUnsafePointer(to: &member) { member in
                    options.members = member
                    for count in [0, 1001] {
                        options.member_count = count
                        #expect(mc_rows_open(&options, &rows, nil) == MC_ERROR_MISUSE && rows == nil)
                    }
                    for (text, code) in [
                        (#"{"a":[[1],[2]]}"#, MC_OK), (#"{"a":[["x"]]}"#, MC_ERROR_TYPE), (#"{"b":[]}"#, MC_ERROR_TYPE),
                        (#"{"a""#, MC_ERROR_TRUNCATED),
                        (#"{"a\x":[]}"#, MC_ERROR_JSON),
                    ] {
                        options.member_count = 1
                        #expect(mc_rows_open(&options, &rows, nil) == MC_OK)
                        var status = mc_rows_push(rows!, nil, 0, &error)
                        #expect(status == MC_OK)
                        status = mc_rows_push(rows!, text, text.utf8.count, &error)
                        if status == MC_OK { status = mc_rows_finish(rows!, &error) }
                        #expect(status == code, "\(text)")
                        if code != MC_OK {
                            #expect(mc_rows_push(rows!, "1", 1, nil) == MC_ERROR_MISUSE)
                            #expect(mc_rows_finish(rows!, nil) == MC_ERROR_MISUSE)
                        }
                        mc_rows_free(rows)
                        rows = nil
                    }
                }
            }
        }
    }

    /// Reads a whole export in small pieces. The third column's integers are ids of large values.
    private func exported(_ statement: OpaquePointer, level: Int32, from core: CorePool) throws(CoreError) -> [UInt8] {
        let large = [MC_EXPORT_LARGE_REFERENCE, MC_EXPORT_LARGE_REFERENCE, MC_EXPORT_LARGE_BASE64]
        var rows: OpaquePointer?
        defer { mc_export_free(rows) }
        try CoreError.check { error in
            large.withUnsafeBufferPointer { large in
                var options = mc_export_options(
                    columns: nil, column_count: 0, format: MC_EXPORT_OBJECTS, deflate_level: level, large: large.baseAddress, pool: core.pool)
                return mc_export_open(mc_statement_sqlite(statement), &options, &rows, error)
            }
        }
        var text: [UInt8] = [], piece = [UInt8](repeating: 0, count: 10_000)
        while true {
            var length = 0
            try CoreError.check { mc_export_read(rows!, &piece, piece.count, &length, $0) }
            if length == 0 { return text }
            text += piece[..<length]
        }
    }

    /// Fills a table whose pages do not fit into a small cache, with large values in two of its rows.
    private func fill(_ core: CorePool) throws {
        try core.prepareBlobs()
        let values = try (0..<2).map { try core.writeBlob([UInt8](repeating: UInt8($0), count: 20_000), chunkSize: 1500) }
        try core.with(writer: true) { connection in
            try exec(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, text, large)")
            try exec(
                connection,
                "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) INSERT INTO t SELECT i, 'row ' || hex(zeroblob(300)), NULL FROM n"
            )
            for (row, value) in zip([7, 40], values) { try exec(connection, "UPDATE t SET large = \(value) WHERE id = \(row)") }
        }
    }

    @Test("an export lets go of everything when an allocation fails, and its statement can be run again", arguments: [0, 1] as [Int32])
    func export(level: Int32) throws {
        let lost = try leftOver {
            let core = try CorePool()
            try fill(core)
            try core.with { connection in
                try withStatement(connection, "SELECT id, text, large FROM t") { statement in
                    try failEachAllocation { () throws(CoreError) in try exported(statement, level: level, from: core) }
                }
            }
        }
        #expect(lost == 0)
    }

    @Test("an export tells what the file says, and its statement can be run again", arguments: [0, 1] as [Int32], [false, true])
    func exportFromFile(level: Int32, stays: Bool) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let lost = try leftOver {
            let core = try CorePool { options in
                options.vfs = fault_storage_name(storage)
                options.page_size = 1024
                options.cache_bytes = 10 * 1024
            }
            defer { core.close() }
            try fill(core)
            try core.with { connection in
                try withStatement(connection, "SELECT id, text, large FROM t") { statement in
                    let expected = try exported(statement, level: level, from: core)
                    var failures = 0
                    for operation in Int64(0)... {
                        fault_storage_fail_after(storage, operation, 10, stays)  // SQLITE_IOERR
                        let result = Result { () throws(CoreError) in try exported(statement, level: level, from: core) }
                        let hasFailed = fault_storage_has_failed(storage)
                        fault_storage_fail_after(storage, -1, 0, false)
                        switch result {
                        case .success(let text): #expect(text == expected, "operation \(operation)")
                        case .failure(let error):
                            #expect(error.code == MC_ERROR_IO, "operation \(operation): \(error.message)")
                            failures += 1
                        }
                        if !hasFailed { break }
                    }
                    #expect(failures > 50)
                }
            }
        }
        #expect(lost == layerSize())
    }

    /// Takes a writer's text, and refuses one of its calls.
    private final class Sink {
        var bytes: [UInt8] = []
        var calls = 0
        let failsAt: Int

        init(failsAt: Int) { self.failsAt = failsAt }

        static let take: mc_json_sink = { context, bytes, length, error in
            let sink = Unmanaged<Sink>.fromOpaque(context!).takeUnretainedValue()
            sink.calls += 1
            guard sink.calls != sink.failsAt else {
                error?.pointee.code = MC_ERROR_FULL
                return MC_ERROR_FULL
            }
            sink.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes.assumingMemoryBound(to: UInt8.self), count: length))
            return MC_OK
        }
    }

    /// Writes a message and the rows of a page repeatedly, until a call fails. Every later call must fail in the same way.
    private func write(_ message: OpaquePointer, _ page: UnsafePointer<mc_row_page>, to sink: Sink) throws -> mc_status {
        var options = mc_json_writer_options(sink: Sink.take, context: Unmanaged.passUnretained(sink).toOpaque(), maximum: 0, depth: 0)
        var made: OpaquePointer?
        try CoreError.check { mc_json_writer_open(&options, &made, $0) }
        let writer = made!
        defer { mc_json_writer_free(writer) }
        var status = mc_json_write_begin_array(writer, nil)
        for _ in 0..<20 where status == MC_OK {
            status = mc_json_write_node(writer, message, 0, nil)
            if status == MC_OK { status = mc_json_write_rows(writer, page, nil, nil) }
        }
        if status == MC_OK { status = mc_json_write_end(writer, nil) }
        if status == MC_OK { status = mc_json_writer_finish(writer, nil) }
        if status != MC_OK {
            #expect(mc_json_write_node(writer, message, .max, nil) == status)
            #expect(mc_json_write_rows(writer, page, nil, nil) == status)
            #expect(mc_json_write_key(writer, "k", 1, nil) == status)
            #expect(mc_json_write_number(writer, "x", 1, nil) == status)
            #expect(mc_json_write_end(writer, nil) == status)
            #expect(mc_json_writer_finish(writer, nil) == status)
        }
        return status
    }

    @Test func `a sink that fails ends the writing, which stays ended, and has got the text up to there`() throws {
        let core = try CorePool()
        try fill(core)
        var read: OpaquePointer?, page: UnsafeMutablePointer<mc_row_page>?
        defer {
            mc_message_free(read)
            mc_row_page_free(page)
        }
        try CoreError.check { mc_message_read(message, message.count, nil, &read, $0) }
        try CoreError.check { mc_row_page_create(&page, $0) }
        try core.with { connection in
            try withStatement(connection, "SELECT id, text FROM t") { statement in
                var isAtEnd = false
                try CoreError.check { mc_row_page_fill(page!, statement, 100, 1 << 20, &isAtEnd, $0) }
            }
        }
        let whole = Sink(failsAt: 0)
        #expect(try write(read!, page!, to: whole) == MC_OK)
        #expect(whole.calls > 10)
        for call in 1...whole.calls {
            let sink = Sink(failsAt: call)
            #expect(try write(read!, page!, to: sink) == MC_ERROR_FULL)
            #expect(sink.calls == call && Array(whole.bytes[..<sink.bytes.count]) == sink.bytes)
        }
    }
}
