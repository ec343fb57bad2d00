import MobileCore

/// One cell of a scanned row.
enum Cell: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// The result of a scan: all rows up to the first error, and the error.
struct Scan: Equatable {
    var rows: [[Cell]] = []
    var offsets: [Int64] = []
    var code = MC_OK
    var offset: Int64?
    var row: Int64?
    var message = ""

    static func == (left: Scan, right: Scan) -> Bool {
        left.rows == right.rows && left.offsets == right.offsets && left.code == right.code && left.offset == right.offset
            && left.row == right.row && left.message == right.message
    }
}

/// A column of a scan; the name must not contain NUL.
struct ScanColumn {
    var name: String
    var type = MC_COLUMN_ANY
    var precision: UInt16 = 18
    var scale: UInt16 = 0
    var required = false
}

extension Scan {
    /// Scans `bytes` in chunks of `chunk` bytes.
    init(_ bytes: [UInt8], columns: [ScanColumn], chunk: Int = .max, depth: UInt32 = 0, rowBytes: Int = 0) {
        let collector = Collector()
        let names = columns.map { Array($0.name.utf8CString) }
        let memory = names.map { name in
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: name.count)
            _ = copy.initialize(from: name)
            return copy
        }
        defer { memory.forEach { $0.deallocate() } }
        var rules = zip(columns, memory).map { column, name in
            mc_column(name: name.baseAddress!, type: column.type, precision: column.precision, scale: column.scale, required: column.required)
        }
        var error = mc_error()
        var status = rules.withUnsafeMutableBufferPointer { rules in
            var options = mc_rows_options(
                name: nil, columns: rules.baseAddress!, column_count: rules.count, members: nil, member_count: 0, depth: depth, row_bytes: rowBytes,
                sink: { context, batch, _ in
                    Unmanaged<Collector>.fromOpaque(context!).takeUnretainedValue().take(batch.pointee)
                    return MC_OK
                }, context: Unmanaged.passUnretained(collector).toOpaque())
            var scanner: OpaquePointer?
            var status = mc_rows_open(&options, &scanner, &error)
            guard let scanner else { return status }
            defer { mc_rows_free(scanner) }
            var at = 0
            while at < bytes.count, status == MC_OK {
                let end = chunk < bytes.count - at ? at + chunk : bytes.count
                // Each chunk in its own memory: no byte after it may be read.
                status = Array(bytes[at..<end]).withUnsafeBytes { mc_rows_push(scanner, $0.baseAddress, $0.count, &error) }
                at = end
            }
            return status == MC_OK ? mc_rows_finish(scanner, &error) : status
        }
        if status == MC_OK { error = mc_error() }
        self.init(rows: collector.rows, offsets: collector.offsets, code: status)
        if status != MC_OK {
            offset = error.byte_offset < 0 ? nil : error.byte_offset
            row = error.row == 0 ? nil : error.row
            message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        status = MC_OK
    }

    init(_ text: String, columns: [ScanColumn], chunk: Int = .max, depth: UInt32 = 0, rowBytes: Int = 0) {
        self.init(Array(text.utf8), columns: columns, chunk: chunk, depth: depth, rowBytes: rowBytes)
    }
}

/// Copies the sink's rows, which are valid only during the call.
private final class Collector {
    var rows: [[Cell]] = []
    var offsets: [Int64] = []

    func take(_ batch: mc_row_batch) {
        for row in 0..<batch.row_count {
            offsets.append(batch.offsets[row])
            rows.append((0..<batch.column_count).map { Cell(batch.cells[row * batch.column_count + $0]) })
        }
    }
}

extension Cell {
    fileprivate init(_ value: mc_value) {
        let bytes = { UnsafeRawBufferPointer(start: value.value.bytes, count: Int(value.length)) }
        switch mc_value_kind(UInt32(value.kind)) {
        case MC_VALUE_INTEGER: self = .integer(value.value.integer)
        case MC_VALUE_REAL: self = .real(value.value.real)
        case MC_VALUE_TEXT: self = .text(String(decoding: bytes(), as: UTF8.self))
        case MC_VALUE_BLOB: self = .blob(Array(bytes()))
        default: self = .null
        }
    }
}
