import MobileCore

// The options of the core with their sizes and versions, by the fields that tests set.

extension mc_checkout {
    init(writer: Bool, is_long: Bool, loose: Bool, timeout_ns: Int64, label: UnsafePointer<CChar>?, ticket: OpaquePointer?) {
        self = mc_default_checkout()
        (self.writer, self.is_long, self.loose, self.timeout_ns, self.label, self.ticket) = (writer, is_long, loose, timeout_ns, label, ticket)
    }
}

extension mc_export_options {
    /// Options without conversions, sums and limits.
    init(
        columns: UnsafePointer<mc_column>?, column_count: Int, format: mc_export_format, deflate_level: Int32,
        large: UnsafePointer<mc_export_large>?, pool: OpaquePointer?
    ) {
        self = mc_export_default_options()
        (self.columns, self.column_count, self.format, self.deflate_level) = (columns, column_count, format, deflate_level)
        (self.large, self.pool) = (large, pool)
    }
}

extension mc_message_options {
    init(depth: UInt32, duplicates: mc_json_duplicates) {
        self = mc_message_default_options()
        (self.depth, self.duplicates) = (depth, duplicates)
    }
}

extension mc_rows_options {
    init(
        name: UnsafePointer<CChar>?, columns: UnsafePointer<mc_column>?, column_count: Int, members: UnsafePointer<mc_rows_member>?,
        member_count: Int, depth: UInt32, row_bytes: Int, sink: mc_rows_sink?, context: UnsafeMutableRawPointer?
    ) {
        self = mc_rows_default_options()
        (self.name, self.columns, self.column_count, self.members, self.member_count) = (name, columns, column_count, members, member_count)
        (self.depth, self.row_bytes, self.sink, self.context) = (depth, row_bytes, sink, context)
    }
}

extension mc_blob_writer_options {
    init(unit: mc_blob_unit, length: Int64, chunk_size: Int, timeout_ns: Int64) {
        self = mc_blob_writer_default_options()
        (self.unit, self.length, self.chunk_size, self.timeout_ns) = (unit, length, chunk_size, timeout_ns)
    }
}

extension mc_zip_options {
    init(read: @escaping mc_zip_source, context: UnsafeMutableRawPointer?, length: UInt64, entry_maximum: UInt64, ratio_maximum: UInt32) {
        self = mc_zip_default_options()
        (self.read, self.context, self.length) = (read, context, length)
        (self.entry_maximum, self.ratio_maximum) = (entry_maximum, ratio_maximum)
    }
}

extension mc_json_writer_options {
    init(sink: mc_json_sink?, context: UnsafeMutableRawPointer?, maximum: Int, depth: UInt32) {
        self = mc_json_writer_default_options()
        (self.sink, self.context, self.maximum, self.depth) = (sink, context, maximum, depth)
    }
}

extension mc_import_options {
    init(
        tables: UnsafePointer<mc_import_table>, table_count: Int, is_object: Bool, depth: UInt32, row_bytes: Int, inflated_bytes: Int64,
        inflate_ratio: Int64, commit_rows: Int64, commit_bytes: Int64, progress: mc_import_progress?, observer: mc_import_observer?,
        context: UnsafeMutableRawPointer?, threads: mc_import_threads, thread_begins: mc_import_thread_begins?,
        thread_context: UnsafeMutableRawPointer?, connection: OpaquePointer?
    ) {
        self = mc_import_default_options()
        (self.tables, self.table_count, self.is_object, self.depth, self.row_bytes) = (tables, table_count, is_object, depth, row_bytes)
        (self.inflated_bytes, self.inflate_ratio) = (inflated_bytes, inflate_ratio)
        (self.commit_rows, self.commit_bytes, self.progress, self.observer) = (commit_rows, commit_bytes, progress, observer)
        (self.context, self.threads, self.thread_begins, self.thread_context) = (context, threads, thread_begins, thread_context)
        self.connection = connection
    }
}
