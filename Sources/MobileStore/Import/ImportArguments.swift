internal import MobileCore

/// The owner of the memory to which the core's options of an import point.
@safe final class ImportArguments {
    private var memory: [UnsafeMutableRawPointer] = unsafe []

    /// Makes the core's options without callbacks, valid as long as this object.
    func make(_ tables: [ImportTable], isObject: Bool, options: ImportOptions) throws(StoreError) -> mc_import_options {
        guard let first = tables.first else { throw StoreError(.misuse, "import: there are no tables") }
        guard (1...1024).contains(options.maximumDepth), options.maximumRowBytes.bytes > 0, options.maximumInflatedBytes > 0,
            options.maximumInflateRatio > 0
        else { throw StoreError(.misuse, "import of \"\(first.table)\": its limits must be positive, and its depth at most 1024") }
        var commits: (rows: Int, bytes: Int) = (0, 0)
        switch options.commits {
        case .none: break
        case .rows(let rows): commits.rows = rows
        case .bytes(let bytes): commits.bytes = bytes.bytes
        }
        guard options.commits == .none || commits.rows > 0 || commits.bytes > 0 else {
            throw StoreError(.misuse, "import of \"\(first.table)\": commits after \(max(commits.rows, commits.bytes)); use 1 or more")
        }
        let core = unsafe allocate(mc_import_table.self, tables.count)
        for (index, table) in tables.enumerated() { unsafe (core + index).initialize(to: try self.table(table)) }
        return unsafe mc_import_options(
            size: MemoryLayout<mc_import_options>.size, version: MC_VERSION_NUMBER, tables: core, table_count: tables.count, is_object: isObject,
            depth: UInt32(options.maximumDepth),
            row_bytes: options.maximumRowBytes.bytes, inflated_bytes: options.maximumInflatedBytes,
            inflate_ratio: options.maximumInflateRatio, commit_rows: Int64(commits.rows), commit_bytes: Int64(commits.bytes), progress: nil,
            observer: nil, context: nil, threads: options.threads.core, thread_begins: nil, thread_context: nil, connection: nil)
    }

    private func table(_ table: ImportTable) throws(StoreError) -> mc_import_table {
        if let unknown = table.columnRules.keys.first(where: { !table.columns.contains($0) }) {
            throw StoreError(.misuse, "import of \"\(table.table)\": there is a rule for \"\(unknown)\", which is not among the columns")
        }
        let rules = table.columns.map { table.columnRules[$0] ?? JSONColumnRule(.any) }
        return unsafe mc_import_table(
            table: try name(table.table), member: try name(table.member), columns: try columns(table.columns, rules),
            column_count: table.columns.count, mode: table.mode.core, keys: try names(table.keyColumns), key_count: table.keyColumns.count,
            on_insert: try assignments(table.onInsert), on_insert_count: table.onInsert.count, pending: try protection(of: table),
            large: try names(table.largeColumns), large_count: table.largeColumns.count)
    }

    /// Makes the types of an export's columns, valid as long as this object.
    func columns(named names: [String], _ types: [JSONColumnType]) throws(StoreError) -> UnsafePointer<mc_column> {
        guard names.count == types.count else {
            throw StoreError(.misuse, "export: types for \(types.count) columns, the statement has \(names.count)")
        }
        return unsafe try columns(names, types.map { JSONColumnRule($0) })
    }

    /// Makes flags of an export's columns, valid as long as this object.
    func flags(_ list: [Bool]) -> UnsafePointer<Bool> {
        let core = unsafe allocate(Bool.self, list.count)
        for (index, flag) in list.enumerated() { unsafe (core + index).initialize(to: flag) }
        return unsafe UnsafePointer(core)
    }

    /// Makes the conversions of an export's columns, valid as long as this object.
    func conversions(_ list: [String?]) throws(StoreError) -> UnsafePointer<UnsafePointer<CChar>?> {
        let core = unsafe allocate(UnsafePointer<CChar>?.self, list.count)
        for (index, sql) in list.enumerated() {
            let text = try unsafe sql.map { (sql) throws(StoreError) in unsafe try name(sql) }
            unsafe (core + index).initialize(to: text)
        }
        return unsafe UnsafePointer(core)
    }

    /// Makes the limits of an export's columns, valid as long as this object.
    func limits(_ list: [ExportLimit]) -> UnsafePointer<mc_export_limit> {
        let core = unsafe allocate(mc_export_limit.self, list.count)
        for (index, limit) in list.enumerated() {
            unsafe (core + index).initialize(
                to: mc_export_limit(
                    required: limit.isRequired, is_single: limit.isSingle, least: limit.integers.lowerBound, greatest: limit.integers.upperBound,
                    shortest: limit.length.lowerBound, longest: limit.length.upperBound))
        }
        return unsafe UnsafePointer(core)
    }

    private func columns(_ names: [String], _ rules: [JSONColumnRule]) throws(StoreError) -> UnsafePointer<mc_column> {
        let core = unsafe allocate(mc_column.self, names.count)
        for (index, column) in names.enumerated() { unsafe (core + index).initialize(to: try rule(column, rules[index])) }
        return unsafe UnsafePointer(core)
    }

    private func protection(of table: ImportTable) throws(StoreError) -> UnsafePointer<mc_import_pending>? {
        guard let pending = table.pending else { return nil }
        guard pending.keyColumns.isEmpty || pending.keyColumns.count == max(table.keyColumns.count, table.mode == .delete ? table.columns.count : 1)
        else { throw StoreError(.misuse, "import of \"\(table.table)\": \"\(pending.originalTable)\" has another number of keys") }
        let core = unsafe allocate(mc_import_pending.self, 1)
        unsafe core.initialize(
            to: mc_import_pending(
                table: try name(pending.originalTable), keys: try names(pending.keyColumns), assignments: try assignments(pending.assignments),
                assignment_count: pending.assignments.count))
        return unsafe UnsafePointer(core)
    }

    deinit {
        unsafe memory.forEach { unsafe $0.deallocate() }
    }

    private func allocate<T>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
        let pointer = UnsafeMutablePointer<T>.allocate(capacity: max(count, 1))
        unsafe memory.append(UnsafeMutableRawPointer(pointer))
        return unsafe pointer
    }

    /// Makes a C string of a name, which must not contain a NUL.
    private func name(_ name: String) throws(StoreError) -> UnsafePointer<CChar> {
        guard !name.utf8.contains(0) else { throw StoreError(.misuse, "import: a name with a NUL in it") }
        return unsafe bytes(Array(name.utf8) + [0])
    }

    /// Makes C strings of the names; nil without names.
    private func names(_ names: [String]) throws(StoreError) -> UnsafePointer<UnsafePointer<CChar>>? {
        guard !names.isEmpty else { return nil }
        let copy = unsafe allocate(UnsafePointer<CChar>.self, names.count)
        for (index, name) in names.enumerated() { unsafe (copy + index).initialize(to: try self.name(name)) }
        return unsafe UnsafePointer(copy)
    }

    private func bytes(_ bytes: [UInt8]) -> UnsafePointer<CChar> {
        let copy = unsafe allocate(CChar.self, bytes.count)
        for (index, byte) in bytes.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
        return unsafe UnsafePointer(copy)
    }

    private func rule(_ column: String, _ rule: JSONColumnRule) throws(StoreError) -> mc_column {
        var core = unsafe mc_column(name: try name(column), type: MC_COLUMN_ANY, precision: 0, scale: 0, required: !rule.isNullable)
        switch rule.type {
        case .any: break
        case .integer: unsafe core.type = MC_COLUMN_INTEGER
        case .decimal(let precision, let scale):
            unsafe core.type = MC_COLUMN_DECIMAL
            unsafe core.precision = UInt16(clamping: precision)
            unsafe core.scale = UInt16(clamping: scale)
        case .real: unsafe core.type = MC_COLUMN_REAL
        case .boolean: unsafe core.type = MC_COLUMN_BOOLEAN
        case .text: unsafe core.type = MC_COLUMN_TEXT
        case .blob: unsafe core.type = MC_COLUMN_BLOB
        case .date: unsafe core.type = MC_COLUMN_DATE
        case .time: unsafe core.type = MC_COLUMN_TIME
        case .dateTime: unsafe core.type = MC_COLUMN_DATE_TIME
        case .bigString: unsafe core.type = MC_COLUMN_LARGE_TEXT
        case .bigBinary: unsafe core.type = MC_COLUMN_LARGE_BLOB
        }
        return unsafe core
    }

    private func assignments(_ list: [(column: String, value: Value)]) throws(StoreError) -> UnsafePointer<mc_import_assignment>? {
        guard !list.isEmpty else { return nil }
        let copy = unsafe allocate(mc_import_assignment.self, list.count)
        for (index, assignment) in list.enumerated() {
            unsafe (copy + index).initialize(to: mc_import_assignment(column: try name(assignment.column), value: value(assignment.value)))
        }
        return unsafe UnsafePointer(copy)
    }

    private func value(_ value: Value) -> mc_value {
        var core = unsafe mc_value()
        switch value {
        case .null: unsafe core.kind = UInt8(MC_VALUE_NULL.rawValue)
        case .integer(let integer):
            unsafe core.kind = UInt8(MC_VALUE_INTEGER.rawValue)
            unsafe core.value.integer = integer
        case .real(let real):
            unsafe core.kind = UInt8(MC_VALUE_REAL.rawValue)
            unsafe core.value.real = real
        case .text(let text):
            unsafe core.kind = UInt8(MC_VALUE_TEXT.rawValue)
            unsafe core.length = UInt32(text.utf8.count)
            unsafe core.value.bytes = bytes(Array(text.utf8))
        case .blob(let blob):
            unsafe core.kind = UInt8(MC_VALUE_BLOB.rawValue)
            unsafe core.length = UInt32(blob.count)
            unsafe core.value.bytes = bytes(blob)
        }
        return unsafe core
    }
}

extension ImportMode {
    fileprivate var core: mc_import_mode {
        switch self {
        case .insert: MC_IMPORT_INSERT
        case .upsert: MC_IMPORT_UPSERT
        case .delete: MC_IMPORT_DELETE
        }
    }
}

extension ImportThreads {
    fileprivate var core: mc_import_threads {
        switch self {
        case .automatic: MC_IMPORT_THREADS_AUTOMATIC
        case .off: MC_IMPORT_THREADS_OFF
        case .on: MC_IMPORT_THREADS_ON
        }
    }
}
