internal import MobileCore

/// The form of rows in exported text.
public enum ExportFormat: Sendable {
    /// Arrays of values in the order of the statement's columns: `[[1,"Harbour Foods"],...]`.
    case arrays
    /// Objects with values under the names of the statement's columns: `[{"id":1,"name":"Harbour Foods"},...]`.
    case objects
}

/// The compression of exported text.
public enum ExportCompression: Sendable, Hashable {
    case none
    /// A zlib stream (RFC 1950). Level 1 takes about 8 ms per MB of rows and leaves 40 % of the size; level 6 takes three to four times as long
    /// and leaves 32 %.
    case zlib(level: Int)
    /// A zlib stream of level 1, the fast one.
    public static let zlib = ExportCompression.zlib(level: 1)
}

/// The form of large values whose ids a column holds.
public enum LargeValueForm: Sendable, Hashable {
    /// The id, like any other value.
    case reference
    /// The bytes in line, as a string in base64.
    case base64
    /// The text in line, as a string.
    case text
}

/// A column of an export whose values may have any storage.
package struct ExportColumn: Sendable {
    package let type: JSONColumnType
    /// Whether numbers, and texts that are numbers, are brought to the form of the type, as by ``ExactNumber``.
    package let isExact: Bool
    /// The SQL that brings any other value, its parameter `?1`, to the form of the type; nil for values that are written as they are stored. It does not
    /// run for values that have this form plainly, see `mc_export.h`; for the others it costs about half a microsecond each.
    package let conversion: String?
    /// The values that the column may give; any other one is refused.
    package let limit: ExportLimit

    package init(_ type: JSONColumnType, isExact: Bool = false, conversion: String? = nil, limit: ExportLimit = ExportLimit()) {
        (self.type, self.isExact, self.conversion, self.limit) = (type, isExact, conversion, limit)
    }
}

/// The values that a column of an export may give, among those of its type.
package struct ExportLimit: Sendable {
    /// Whether NULL is refused.
    package var isRequired = false
    /// Whether reals are finite in 32 bits.
    package var isSingle = false
    /// The range of integers.
    package var integers = Int64.min...Int64.max
    /// The length of texts in characters, of blobs in bytes.
    package var length = 0...Int.max

    package init() {}
}

/// Sums of the rows of an export.
package struct ExportSums {
    package let sums: RowSums
    /// The columns of the query whose values are hashed, as they are stored, after the key in column 0.
    package let columns: Range<Int>

    package init(_ sums: RowSums, of columns: Range<Int>) { (self.sums, self.columns) = (sums, columns) }
}

/// Writes the rows of a statement as JSON text, in pieces whose size the caller chooses: the reverse of ``BulkImporter``.
///
///     let rows = try connection.exporter("SELECT id, name FROM customer WHERE region = ?", ["NORTH"])
///     while let piece = try rows.nextChunk() { try send(piece) }
///
/// Integers and decimals are exact, doubles have the shortest text that reads back as the same value, blobs are base64. The
/// statement steps only as far as the requested pieces need.
@safe public final class BulkExporter {
    private let statement: Statement
    /// The sums that its rows are added to.
    private let sums: ExportSums?
    private var handle: OpaquePointer?

    init(
        _ statement: Statement, format: ExportFormat, compression: ExportCompression, types: [JSONColumnType],
        largeValues: [Int: LargeValueForm], columns converted: [ExportColumn] = [], sums: ExportSums? = nil
    ) throws(StoreError) {
        (self.statement, self.sums) = (statement, sums)
        let columns = statement.columnCount
        if let column = largeValues.keys.first(where: { !(0..<columns).contains($0) }) {
            throw StoreError(.misuse, "export: large values in column \(column), the statement has \(columns)")
        }
        var forms = (0..<columns).map { column in
            switch largeValues[column] ?? .reference {
            case .reference: MC_EXPORT_LARGE_REFERENCE
            case .base64: MC_EXPORT_LARGE_BASE64
            case .text: MC_EXPORT_LARGE_TEXT
            }
        }
        var handle: OpaquePointer?
        let core = unsafe mc_statement_sqlite(try statement.core())
        var options = unsafe mc_export_options(
            size: MemoryLayout<mc_export_options>.size, version: MC_VERSION_NUMBER, columns: nil, column_count: types.count,
            format: format == .arrays ? MC_EXPORT_ARRAYS : MC_EXPORT_OBJECTS, deflate_level: 0,
            large: nil, pool: statement.connection.database.pool, exact: nil, conversions: nil, sums: sums?.sums.handle,
            summed_first: sums?.columns.lowerBound ?? 0, summed_count: sums?.columns.count ?? 0, limits: nil)
        if case .zlib(let level) = compression {
            guard (1...9).contains(level) else { throw StoreError(.misuse, "export: zlib level \(level); use 1 (fast) to 9 (small)") }
            unsafe options.deflate_level = Int32(level)
        }
        let arguments = ImportArguments()
        if !types.isEmpty {
            // The others are summed only.
            let names = sums == nil ? statement.columnNames : Array(statement.columnNames.prefix(types.count))
            unsafe options.columns = try arguments.columns(named: names, types)
        }
        if !converted.isEmpty {
            unsafe options.exact = arguments.flags(converted.map(\.isExact))
            unsafe options.conversions = try arguments.conversions(converted.map(\.conversion))
            unsafe options.limits = arguments.limits(converted.map(\.limit))
        }
        try unsafe StoreError.check { error in
            unsafe forms.withUnsafeMutableBufferPointer { forms in
                if !largeValues.isEmpty { unsafe options.large = UnsafePointer(forms.baseAddress) }
                return unsafe mc_export_open(core, &options, &handle, error)
            }
        }
        withExtendedLifetime(arguments) {}
        unsafe self.handle = handle
        statement.connection.lend(to: self)
    }

    deinit { close() }

    /// Returns the next piece of text.
    /// - Parameter maximum: the length of the piece in bytes, at least 1, default 64 KB; only the last piece is shorter.
    /// - Returns: the piece; nil after the last one.
    /// - Throws: ``StoreError/Code/corrupt`` (a text in the database that is not UTF-8), ``StoreError/Code/type`` (a value that its
    ///   column's type cannot represent), and the errors of SQLite.
    public func nextChunk(maximum: Int = 65536) throws(StoreError) -> [UInt8]? {
        guard maximum > 0 else { throw StoreError(.misuse, "export: a piece of \(maximum) bytes") }
        var failure: StoreError?
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: maximum) { buffer, length in
            do throws(StoreError) {
                length = try unsafe next(into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
                length = 0
            }
        }
        if let failure { throw failure }
        return chunk.isEmpty ? nil : chunk
    }

    /// Fills the buffer with the next bytes of text.
    /// - Returns: the number of bytes: the size of the buffer until the last piece, and 0 after it.
    /// - Throws: as ``nextChunk(maximum:)``.
    public func next(into buffer: inout MutableRawSpan) throws(StoreError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { (bytes) throws(StoreError) in try unsafe next(into: bytes) }
    }

    /// Fills the buffer like ``next(into:)-(MutableRawSpan)``.
    package func next(into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
        guard let handle = unsafe handle else {
            throw StoreError(.misuse, "an export was read after the closure that its connection was given to")
        }
        guard let start = buffer.baseAddress else { return 0 }
        var length = 0
        try unsafe StoreError.check { unsafe mc_export_read(handle, start, buffer.count, &length, $0) }
        return length
    }

    /// Appends the next row as JSON text to bytes: its first values one by one, and the others with commas between them. An export is read by rows or by
    /// pieces, not by both.
    /// - Parameters:
    ///   - leadingValues: the number of values that are wanted one by one, at most that of the columns.
    ///   - bytes: receives the texts, one after the other.
    ///   - ends: receives the place in `bytes` after each leading value, and that after the others.
    /// - Returns: whether there was a row.
    /// - Throws: as ``nextChunk(maximum:)``, also for a value beyond the limit of its column; ``StoreError/Code/misuse`` for an export of objects, of
    ///   compressed text, or with large values in line. After a row with a ``refusedColumn``, the next call continues with the next row.
    package func appendRow(leadingValues: Int, to bytes: inout [UInt8], ends: inout [Int]) throws(StoreError) -> Bool {
        guard let handle = unsafe handle else {
            throw StoreError(.misuse, "an export was read after the closure that its connection was given to")
        }
        var row = unsafe mc_export_row()
        var hasRow = false
        try unsafe StoreError.check { unsafe mc_export_next_row(handle, &row, &hasRow, $0) }
        guard hasRow, let start = unsafe row.text, let rowEnds = unsafe row.ends else { return false }
        let text = unsafe UnsafeBufferPointer(start: start, count: row.length), columns = unsafe row.column_count
        var first = 0
        for column in 0..<min(leadingValues, columns) {
            let end = unsafe rowEnds[column]
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[first..<end]))
            ends.append(bytes.count)
            first = min(end + 1, text.count)
        }
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[first...]))
        ends.append(bytes.count)
        return true
    }

    /// The column from 0 whose value the last ``appendRow(leadingValues:to:ends:)`` could not write; nil if there was none.
    package var refusedColumn: Int? {
        let column = unsafe handle.map { unsafe mc_export_refused_column($0) } ?? 0
        return column > 0 ? Int(column) - 1 : nil
    }

    /// Returns a value of the row with the ``refusedColumn``.
    package func refusedRowValue(_ column: Int) -> Value { statement.value(column) }

    /// The number of rows written so far.
    public var rows: Int { unsafe handle.map { Int(unsafe mc_export_rows($0)) } ?? 0 }

    private func close() {
        unsafe mc_export_free(handle)
        unsafe handle = nil
    }
}

extension BulkExporter: ConnectionBorrower {
    func connectionEnds() { close() }
}

extension Connection {
    /// Starts an export of a query's rows.
    /// - Parameters:
    ///   - sql: one statement that returns rows.
    ///   - values: the values of its parameters, in order.
    ///   - format: arrays or objects.
    ///   - compression: plain text or a zlib stream.
    ///   - types: the types of all columns, as in ``ImportOptions/columnRules``; empty: the types that SQLite has stored. Decimals up to 18
    ///     digits are written from scaled integers, booleans from 0 and 1.
    ///   - largeValues: the form of the large values whose ids a column holds, by column from 0; default: the id. Values in line are read
    ///     piece by piece, so their length does not matter.
    /// - Throws: ``StoreError/Code/misuse`` (no rows, another number of types, two columns of one name in objects), ``StoreError/Code/sqlite``.
    public func exporter(
        _ sql: String, _ values: [Value] = [], format: ExportFormat = .arrays, compression: ExportCompression = .none,
        types: [JSONColumnType] = [], largeValues: [Int: LargeValueForm] = [:]
    ) throws(StoreError) -> BulkExporter {
        let statement = try statement(sql)
        try statement.bind(values)
        return try BulkExporter(statement, format: format, compression: compression, types: types, largeValues: largeValues)
    }

    /// Starts an export of arrays, row by row, that brings values of any storage to the forms of their columns' types.
    /// - Parameters:
    ///   - columns: those of the query, from its first one on.
    ///   - sums: receives each row; nil (default): none. The query may then have more columns, which are summed only.
    package func exporter(
        _ sql: String, _ values: [Value], columns: [ExportColumn], sums: ExportSums? = nil
    ) throws(StoreError) -> BulkExporter {
        let statement = try statement(sql)
        try statement.bind(values)
        return try BulkExporter(
            statement, format: .arrays, compression: .none, types: columns.map(\.type), largeValues: [:], columns: columns, sums: sums)
    }
}
