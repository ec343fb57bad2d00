import Foundation
import MobileCore

/// An import through the core's interface.
final class CoreImport {
    let handle: OpaquePointer

    /// Opens an import of `tableCount` tables, all of them `table`: the second one has the name "again" in the input.
    init(
        _ connection: OpaquePointer, into table: String, _ columns: [(name: String, type: mc_column_type)], tableCount: Int = 1,
        _ change: (inout mc_import_options, inout mc_import_table) -> Void = { _, _ in }
    ) throws {
        // The core copies its arguments when the import is opened.
        var texts: [UnsafeMutablePointer<CChar>] = []
        defer { for text in texts { free(text) } }
        func copy(_ text: String) -> UnsafePointer<CChar> {
            texts.append(strdup(text))
            return UnsafePointer(texts[texts.count - 1])
        }
        let rules = columns.map { mc_column(name: copy($0.name), type: $0.type, precision: 18, scale: 0, required: false) }
        var made: OpaquePointer?
        try rules.withUnsafeBufferPointer { rules in
            var tables = (0..<tableCount).map { number in
                mc_import_table(
                    table: copy(table), member: number == 0 ? nil : copy("again"), columns: rules.baseAddress!, column_count: rules.count,
                    mode: MC_IMPORT_UPSERT, keys: nil, key_count: 0, on_insert: nil, on_insert_count: 0, pending: nil, large: nil, large_count: 0)
            }
            try tables.withUnsafeMutableBufferPointer { tables in
                var options = mc_import_options(
                    tables: tables.baseAddress!, table_count: tableCount, is_object: false, depth: 0, row_bytes: 0, inflated_bytes: 0,
                    inflate_ratio: 0, commit_rows: 0, commit_bytes: 0, progress: nil, observer: nil, context: nil, threads: MC_IMPORT_THREADS_OFF,
                    thread_begins: nil, thread_context: nil, connection: connection)
                change(&options, &tables[0])
                try CoreError.check { mc_import_open(mc_connection_sqlite(connection), &options, &made, $0) }
            }
        }
        handle = made!
    }

    deinit { mc_import_free(handle) }

    func push(_ text: String) throws { try CoreError.check { mc_import_push(handle, text, text.utf8.count, $0) } }

    func endText() throws { try CoreError.check { mc_import_end_text(handle, nil, $0) } }

    func finish() throws -> mc_import_counts {
        var counts = mc_import_counts()
        try CoreError.check { mc_import_finish(handle, &counts, $0) }
        return counts
    }
}
