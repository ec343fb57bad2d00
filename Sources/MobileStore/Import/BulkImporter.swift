internal import MobileCore

/// Imports rows from JSON text into a table, with one step of SQLite for each chunk.
///
///     var rows = try connection.importer(into: "customer", columns: ["id", "name", "city"])
///     while let chunk = body.next() { try rows.push(chunk) }         // as it arrives: plain, zlib or gzip
///     let result = try rows.finish()
///
/// The text is an array of rows: `[[1,"Harbour Foods","Dublin"],...]` in the order of the columns, or objects with the columns' names,
/// whose missing members are null. For several tables it is an object with one such array for each: <doc:ImportFormat>. An import is
/// all or nothing, except with ``ImportOptions/commits``: an error, or a missing ``finish()``, leaves the tables unchanged.
/// Values are exact; ``JSONColumnType`` describes how they are stored. Errors carry the row's number and the byte offset. Larger inputs
/// are read ahead in a second thread, and one of the next calls throws their errors.
@safe public final class BulkImporter {
    private let connection: Connection
    private var handle: OpaquePointer?
    private let report: ImportReport?
    /// Whether a call into the core is running: the progress closure must not make another one.
    private var isBusy = false

    /// Opens the core's import and lends it the connection.
    init(_ tables: [ImportTable], isObject: Bool, options: ImportOptions, on connection: Connection) throws(StoreError) {
        self.connection = connection
        report = ImportReport(tables, options)
        var handle: OpaquePointer?
        let pooled = unsafe try connection.core()
        let db = unsafe mc_connection_sqlite(pooled)
        let arguments = ImportArguments()
        var core = unsafe try arguments.make(tables, isObject: isObject, options: options)
        unsafe core.connection = pooled
        if let report {
            unsafe core.context = Unmanaged.passUnretained(report).toOpaque()
            if options.progress != nil {
                unsafe core.progress = { (context, counts) -> Int32 in
                    unsafe Unmanaged<ImportReport>.fromOpaque(context!).takeUnretainedValue().tell(counts.pointee) ? 0 : 1
                }
            }
            if options.changes != nil {
                unsafe core.observer = { (context, batch, changes) -> Int32 in
                    unsafe Unmanaged<ImportReport>.fromOpaque(context!).takeUnretainedValue().tell(batch.pointee, changes) ? 0 : 1
                }
            }
        }
        try unsafe StoreError.check { unsafe mc_import_open(db, &core, &handle, $0) }
        unsafe self.handle = handle
        withExtendedLifetime(arguments) {}
        connection.lend(to: self)
    }

    deinit { close() }

    /// Takes the next bytes of the input.
    /// - Throws: ``StoreError/Code/json`` (no JSON, or no array of rows), ``StoreError/Code/type`` (a value that does not fit its
    ///   column, an unknown column), ``StoreError/Code/constraint`` and other failures of SQLite, ``StoreError/Code/compression``,
    ///   ``StoreError/Code/limit``, ``StoreError/Code/interrupted``. The import is then rolled back and accepts no more input.
    public func push(_ bytes: RawSpan) throws(StoreError) {
        let result: Result<Void, StoreError> = unsafe bytes.withUnsafeBytes { bytes in
            do throws(StoreError) {
                return .success(unsafe try push(bytes))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Takes the next bytes of the input; see ``push(_:)-(RawSpan)``.
    public func push(_ bytes: [UInt8]) throws(StoreError) {
        try unsafe push(bytes.span.bytes)
    }

    /// Takes the next bytes of the input, which are not kept.
    package func push(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        let handle = unsafe try open()
        try unsafe check { unsafe mc_import_push(handle, bytes.baseAddress, bytes.count, $0) }
    }

    /// Ends a text of the input: another one with rows of the same tables may follow, or ``finish()``.
    ///
    /// All texts are one import: all or nothing, and its indexes are made once, at its end. An import for each text makes the indexes of
    /// a new table after the first text, and updates them row by row for the others.
    ///
    ///     for text in texts {
    ///         try importer.push(text)
    ///         try importer.endText()
    ///     }
    ///     try importer.finish()
    ///
    /// Errors and the limits of inflated bytes count rows and bytes from the beginning of their text.
    /// - Returns: the progress so far, of all texts.
    /// - Throws: as ``push(_:)-(RawSpan)``, and ``StoreError/Code/truncated`` when the text is incomplete.
    @discardableResult
    public func endText() throws(StoreError) -> ImportProgress {
        let handle = unsafe try open()
        var counts = mc_import_counts()
        try unsafe check { unsafe mc_import_end_text(handle, &counts, $0) }
        return ImportProgress(counts)
    }

    /// Completes the import after the end of the input.
    /// - Throws: as ``push(_:)-(RawSpan)``, and ``StoreError/Code/truncated`` when the input is incomplete.
    @discardableResult
    public func finish() throws(StoreError) -> ImportResult {
        let handle = unsafe try open()
        var counts = mc_import_counts()
        try unsafe check { unsafe mc_import_finish(handle, &counts, $0) }
        close()
        return ImportProgress(counts)
    }

    /// Rolls back an unfinished import, and releases the connection.
    private func close() {
        unsafe mc_import_free(handle)
        unsafe handle = nil
    }

    private func open() throws(StoreError) -> OpaquePointer {
        guard let handle = unsafe handle else {
            throw StoreError(.misuse, "an import was used after its end, or after the closure that its connection was given to")
        }
        if isBusy { throw StoreError(.misuse, "an import was used from one of its own closures") }
        return unsafe handle
    }

    /// Runs one call into the core; the error of a cancelled import gets the closure's error as its cause.
    private func check(_ call: (UnsafeMutablePointer<mc_error>) -> mc_status) throws(StoreError) {
        isBusy = true
        defer { isBusy = false }
        do throws(StoreError) {
            try unsafe StoreError.check(call)
        } catch {
            guard error.code == .interrupted, let cause = report?.failure else { throw error }
            throw StoreError(error.code, error.message, cause: cause)
        }
    }
}

extension BulkImporter: ConnectionBorrower {
    func connectionEnds() { close() }
}

extension Connection {
    /// Starts an import into a table.
    ///
    /// Imports on one connection end in the reverse order of their start.
    /// - Parameters:
    ///   - table: the table. Its triggers fire, but slow the import down.
    ///   - columns: the columns in the order of the values in row arrays; for ``ImportMode/delete`` only the key.
    ///   - mode: the handling of existing rows.
    ///   - options: key, column rules, limits, protection of pending changes, progress.
    /// - Throws: ``StoreError/Code/misuse`` (options that contradict each other), ``StoreError/Code/sqlite`` (no such table, column
    ///   or unique key).
    public func importer(
        into table: String, columns: [String], mode: ImportMode = .upsert, options: ImportOptions = ImportOptions()
    ) throws(StoreError) -> BulkImporter {
        var one = ImportTable(table, columns: columns, mode: mode)
        one.keyColumns = options.keyColumns
        one.onInsert = options.onInsert
        one.pending = options.pending
        one.columnRules = options.columnRules
        one.largeColumns = options.largeColumns
        return try BulkImporter([one], isObject: false, options: options, on: self)
    }

    /// Starts an import into several tables, whose input is an object with an array of rows for each: <doc:ImportFormat>.
    ///
    /// - Parameters:
    ///   - tables: the tables that the input may contain, in any order. A table without an array remains unchanged.
    ///   - options: limits, progress, threads; the settings for a single table are ignored.
    /// - Throws: as ``importer(into:columns:mode:options:)``.
    public func importer(into tables: [ImportTable], options: ImportOptions = ImportOptions()) throws(StoreError) -> BulkImporter {
        try BulkImporter(tables, isObject: true, options: options, on: self)
    }
}
