internal import MobileCore

/// Writes JSON text value by value, into memory or to a sink.
///
///     var writer = try JSONWriter()
///     try writer.object { writer throws(StoreError) in
///         try writer.member("header", header)
///         try writer.member("rows", rowsOf: page)
///     }
///     let bytes = try writer.finish()
///
/// It writes commas, colons, quotes and escapes, and refuses invalid JSON: a value without a key in an object, a second root, an
/// infinity. It does not detect duplicate keys. After an error it cannot be used.
@safe public struct JSONWriter: ~Copyable {
    private let handle: OpaquePointer
    private let sink: Sink?

    /// Makes a writer.
    /// - Parameters:
    ///   - maximum: the size of the longest text; a longer one throws ``StoreError/Code/limit``.
    ///   - maximumDepth: the largest number of nested arrays and objects, 1...1024.
    ///   - sink: a function that receives the text in pieces of about 32 KB; `nil`: ``finish()`` returns all of it.
    public init(
        maximum: ByteCount = .megabytes(1000), maximumDepth: Int = 64, sink: ((RawSpan) throws -> Void)? = nil
    ) throws(StoreError) {
        guard (1...MC_JSON_DEPTH_LIMIT).contains(maximumDepth), maximum.bytes > 0 else {
            throw StoreError(.misuse, "JSON text: a depth of \(maximumDepth) and \(maximum); use 1 to \(MC_JSON_DEPTH_LIMIT) and a byte or more")
        }
        let sink = sink.map(Sink.init)
        let context = unsafe sink.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
        var options = unsafe mc_json_writer_options(
            size: MemoryLayout<mc_json_writer_options>.size, version: MC_VERSION_NUMBER, sink: context == nil ? nil : Sink.callback, context: context,
            maximum: maximum.bytes, depth: UInt32(maximumDepth))
        var handle: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_json_writer_open(&options, &handle, $0) }
        unsafe self.handle = handle!  // MC_OK promises a writer
        self.sink = sink
    }

    deinit { unsafe mc_json_writer_free(handle) }

    /// Writes an object, whose members `body` writes.
    public mutating func object(_ body: (inout JSONWriter) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe check { unsafe mc_json_write_begin_object(handle, $0) }
        try body(&self)
        try unsafe check { unsafe mc_json_write_end(handle, $0) }
    }

    /// Writes an array, whose elements `body` writes.
    public mutating func array(_ body: (inout JSONWriter) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe check { unsafe mc_json_write_begin_array(handle, $0) }
        try body(&self)
        try unsafe check { unsafe mc_json_write_end(handle, $0) }
    }

    /// Writes the key of an object's next member.
    public mutating func key(_ key: String) throws(StoreError) {
        try unsafe with(key) { unsafe mc_json_write_key(handle, $0, $1, $2) }
    }

    /// Writes a value with all its parts.
    public mutating func value(_ value: JSONValue) throws(StoreError) {
        switch value {
        case .null: try unsafe check { unsafe mc_json_write_null(handle, $0) }
        case .boolean(let value): try unsafe check { unsafe mc_json_write_boolean(handle, value, $0) }
        case .integer(let value): try unsafe check { unsafe mc_json_write_integer(handle, value, $0) }
        case .number(let text): try unsafe with(text) { unsafe mc_json_write_number(handle, $0, $1, $2) }
        case .string(let text): try unsafe with(text) { unsafe mc_json_write_string(handle, $0, $1, $2) }
        case .array(let elements): try array { writer throws(StoreError) in for element in elements { try writer.value(element) } }
        case .object(let object):
            try self.object { writer throws(StoreError) in for member in object { try writer.member(member.key, member.value) } }
        }
    }

    /// Writes a part of a document, without a tree in between.
    /// - Throws: ``StoreError/Code/misuse`` when the value does not exist.
    public mutating func value(_ node: JSONNode) throws(StoreError) {
        guard let number = node.number else { throw StoreError(.misuse, "JSON text: a value that its document does not have") }
        let handle = unsafe handle
        try unsafe node.document.withCore { message throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_json_write_node(handle, message, number, $0) }
        }
    }

    /// Writes a double; infinities and NaN throw ``StoreError/Code/type``.
    public mutating func number(_ double: Double) throws(StoreError) {
        try unsafe check { unsafe mc_json_write_double(handle, double, $0) }
    }

    /// Writes the rows of a page as an array of arrays, in one call into the core.
    /// - Parameters:
    ///   - page: the rows.
    ///   - types: the types of all columns, as in an export; empty: the types of the values.
    /// - Throws: ``StoreError/Code/type``, ``StoreError/Code/corrupt`` as ``BulkExporter/nextChunk(maximum:)``.
    public mutating func rows(of page: RowPage, types: [JSONColumnType] = []) throws(StoreError) {
        guard types.isEmpty || types.count == page.columnCount else {
            throw StoreError(.misuse, "JSON text: \(types.count) types for a page of \(page.columnCount) columns")
        }
        let handle = unsafe handle
        let arguments = ImportArguments()
        let columns = types.isEmpty ? nil : unsafe try arguments.columns(named: page.columnNames, types)
        try unsafe page.storage.withCore { core throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_json_write_rows(handle, core, columns, $0) }
        }
        withExtendedLifetime(arguments) {}
    }

    /// Writes a member of an object.
    public mutating func member(_ key: String, _ value: JSONValue) throws(StoreError) {
        try self.key(key)
        try self.value(value)
    }

    /// Writes a member with the rows of a page as its value.
    public mutating func member(_ key: String, rowsOf page: RowPage, types: [JSONColumnType] = []) throws(StoreError) {
        try self.key(key)
        try rows(of: page, types: types)
    }

    /// Completes the text.
    /// - Returns: the whole text; with a sink, an empty array.
    /// - Throws: ``StoreError/Code/misuse`` when an object or array is open or nothing was written, and an error of the sink as cause.
    public consuming func finish() throws(StoreError) -> [UInt8] {
        try unsafe check { unsafe mc_json_writer_finish(handle, $0) }
        var length = 0
        let start = unsafe mc_json_writer_text(handle, &length)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: length))
    }

    private borrowing func with(
        _ text: String, _ call: (UnsafePointer<CChar>, Int, UnsafeMutablePointer<mc_error>) -> mc_status
    ) throws(StoreError) {
        var text = text
        try unsafe check { error in
            text.withUTF8 { utf8 in
                unsafe utf8.withMemoryRebound(to: CChar.self) { unsafe call($0.baseAddress!, $0.count, error) }
            }
        }
    }

    private borrowing func check(_ call: (UnsafeMutablePointer<mc_error>) -> mc_status) throws(StoreError) {
        do throws(StoreError) {
            try unsafe StoreError.check(call)
        } catch {
            guard let cause = sink?.failure else { throw error }
            throw StoreError(error.code, "JSON text: its sink has thrown", cause: cause)
        }
    }

    /// Passes pieces of text to a closure.
    private final class Sink {
        let take: (RawSpan) throws -> Void
        var failure: (any Error)?

        init(_ take: @escaping (RawSpan) throws -> Void) { self.take = take }

        static let callback: mc_json_sink = { context, bytes, length, error in
            let sink = unsafe Unmanaged<Sink>.fromOpaque(context!).takeUnretainedValue()
            do {
                try sink.take(unsafe RawSpan(_unsafeStart: bytes, byteCount: length))
                return MC_OK
            } catch let failure {
                sink.failure = failure
                unsafe error?.pointee = mc_error()
                unsafe error?.pointee.code = MC_ERROR_INTERRUPTED
                return MC_ERROR_INTERRUPTED
            }
        }
    }
}
