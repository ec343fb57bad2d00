import FaultInjection
import Foundation
import MobileCore
import Testing

/// What fails under messages and exports: every allocation.
@Suite(.serialized) struct JSONFaultTests {
    /// Lets each allocation of `work` fail in turn, once and for good. What `work` returns must be the same whenever nothing failed.
    private func failEachAllocation(_ work: () throws(CoreError) -> [UInt8]) throws {
        let expected = try work()
        for stays in [false, true] {
            var failures = 0
            for allocation in 0..<2000 {
                fault_memory_fail_after(Int64(allocation), stays)
                let result = Result { () throws(CoreError) in try work() }
                let failed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                switch result {
                case .success(let bytes): #expect(bytes == expected)
                case .failure(let error):
                    #expect(error.code == MC_ERROR_NO_MEMORY, "allocation \(allocation): \(error.message)")
                    failures += 1
                }
                guard failed else { break }
            }
            #expect(failures > 1)
        }
    }

    private let message: [UInt8] = {
        let rows = (0..<60).map { #"{"id":\#($0),"name":"a\n\u00fc","price":12.5,"tags":["x",null,true]}"# }
        let keys = (0..<20).map { #""key \#($0)":false"# }
        return Array("{\"rows\":[\(rows.joined(separator: ","))],\"many\":{\(keys.joined(separator: ","))}}".utf8)
    }()

    @Test func `a message that is read and written again lets go of everything when an allocation fails`() throws {
        try failEachAllocation { () throws(CoreError) in
            var read: OpaquePointer?, made: OpaquePointer?
            defer {
                mc_json_writer_close(made)
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
    }

    @Test("an export lets go of everything when an allocation fails, and its statement can be run again", arguments: [0, 1] as [Int32])
    func export(level: Int32) throws {
        let core = try CorePool()
        try core.with { connection in
            let sql = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90) SELECT i, 'the text of row ' || i, 0.5 * i, zeroblob(600) FROM n"
            try withStatement(connection, sql) { statement in
                try failEachAllocation { () throws(CoreError) in
                    var options = mc_export_options(
                        columns: nil, column_count: 0, format: MC_EXPORT_OBJECTS, deflate_level: level, large: nil, pool: nil)
                    var rows: OpaquePointer?
                    defer { mc_export_close(rows) }
                    try CoreError.check { mc_export_open(mc_statement_sqlite(statement), &options, &rows, $0) }
                    var text: [UInt8] = [], piece = [UInt8](repeating: 0, count: 10_000)
                    while true {
                        var length = 0
                        try CoreError.check { mc_export_read(rows!, &piece, piece.count, &length, $0) }
                        if length == 0 { return text }
                        text += piece[..<length]
                    }
                }
            }
        }
    }

    @Test func `a tree of jansson has the values of the message, and a number beyond doubles has its place`() throws {
        var read: OpaquePointer?
        let text = Array(#"[1,{"a":[1e400]}]"#.utf8)
        try CoreError.check { mc_message_read(text, text.count, nil, &read, $0) }
        defer { mc_message_free(read) }
        var tree: OpaquePointer?
        var error = mc_error()
        #expect(mc_message_tree(read!, 0, &tree, &error) == MC_ERROR_LIMIT)
        #expect(error.byte_offset == 9 && tree == nil)
        #expect(mc_message_tree(read!, 99, &tree, &error) == MC_ERROR_MISUSE)
    }
}
