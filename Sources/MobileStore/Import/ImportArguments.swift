internal import MobileCore

/// Makes the options of an import as the core takes them. Everything they point at lives as long as this object.
@safe final class ImportArguments {
    private var memory: [UnsafeMutableRawPointer] = unsafe []

    /// The options, valid as long as this object; without progress.
    func make(table: String, columns: [String], mode: ImportMode, options: ImportOptions) throws(StoreError) -> mc_import_options {
        guard (1...1024).contains(options.maximumDepth), options.maximumRowBytes.bytes > 0, options.maximumInflatedBytes > 0,
            options.maximumInflateRatio > 0
        else { throw StoreError(.misuse, "import of \"\(table)\": its limits must be positive, and its depth at most 1024") }
        if let unknown = options.columnRules.keys.first(where: { !columns.contains($0) }) {
            throw StoreError(.misuse, "import of \"\(table)\": there is a rule for \"\(unknown)\", which is not among the columns")
        }
        let rules = columns.map { options.columnRules[$0] ?? JSONColumnRule(.any) }
        let core = unsafe mc_import_options(
            table: try name(table), columns: try self.columns(columns, rules), column_count: columns.count, mode: mode.core,
            key: try options.keyColumn.map(name), on_insert: try assignments(options.onInsert), on_insert_count: options.onInsert.count,
            pending: try options.pending.map(protection), depth: UInt32(options.maximumDepth),
            row_bytes: options.maximumRowBytes.bytes, inflated_bytes: options.maximumInflatedBytes,
            inflate_ratio: options.maximumInflateRatio, progress: nil, context: nil)
        return unsafe core
    }

    /// The types of an export's columns, valid as long as this object.
    func columns(named names: [String], _ types: [JSONColumnType]) throws(StoreError) -> UnsafePointer<mc_column> {
        guard names.count == types.count else {
            throw StoreError(.misuse, "export: types for \(types.count) columns, the statement has \(names.count)")
        }
        return unsafe try columns(names, types.map { JSONColumnRule($0) })
    }

    private func columns(_ names: [String], _ rules: [JSONColumnRule]) throws(StoreError) -> UnsafePointer<mc_column> {
        let core = unsafe allocate(mc_column.self, names.count)
        for (index, column) in names.enumerated() { unsafe (core + index).initialize(to: try rule(column, rules[index])) }
        return unsafe UnsafePointer(core)
    }

    private func protection(_ pending: PendingProtection) throws(StoreError) -> UnsafePointer<mc_import_pending> {
        let core = unsafe allocate(mc_import_pending.self, 1)
        unsafe core.initialize(
            to: mc_import_pending(
                table: try name(pending.originalTable), key: try name(pending.keyColumn),
                assignments: try assignments(pending.assignments), assignment_count: pending.assignments.count))
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

    /// A name with its NUL at the end; it must not have one inside.
    private func name(_ name: String) throws(StoreError) -> UnsafePointer<CChar> {
        guard !name.utf8.contains(0) else { throw StoreError(.misuse, "import: a name with a NUL in it") }
        return unsafe bytes(Array(name.utf8) + [0])
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
