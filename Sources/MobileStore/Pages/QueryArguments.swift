internal import MobileCore

/// The owner of the memory of a query's parts in the core's form.
@safe final class QueryArguments {
    private var texts: [UnsafeMutablePointer<CChar>] = unsafe []
    private var columns: UnsafeMutableBufferPointer<UnsafePointer<CChar>>?
    private var order: UnsafeMutableBufferPointer<mc_order_term>?

    deinit {
        unsafe texts.forEach { unsafe $0.deallocate() }
        unsafe columns?.deallocate()
        unsafe order?.deallocate()
    }

    func query(_ query: PageQuery) -> mc_cursor_query {
        let columns = UnsafeMutableBufferPointer<UnsafePointer<CChar>>.allocate(capacity: query.columns.count + 1)
        let order = UnsafeMutableBufferPointer<mc_order_term>.allocate(capacity: query.order.count + 1)
        unsafe (self.columns, self.order) = (columns, order)
        for (index, column) in query.columns.enumerated() { unsafe columns.initializeElement(at: index, to: text(column)) }
        for (index, term) in query.order.enumerated() {
            let nulls = term.nulls == .first ? MC_NULLS_FIRST : term.nulls == .last ? MC_NULLS_LAST : MC_NULLS_AS_SQLITE
            unsafe order.initializeElement(
                at: index, to: mc_order_term(expression: text(term.expression), descending: term.isDescending, nulls: nulls))
        }
        return unsafe mc_cursor_query(
            columns: columns.baseAddress!, column_count: query.columns.count, source: text(query.source),
            condition: query.condition.map { unsafe text($0) }, order: order.baseAddress!, order_count: query.order.count)
    }

    private func text(_ string: String) -> UnsafePointer<CChar> {
        let bytes = string.utf8CString
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (index, byte) in bytes.enumerated() { unsafe text[index] = byte }
        unsafe texts.append(text)
        return unsafe UnsafePointer(text)
    }
}

/// Conversion of values for the core.
enum CoreValues {
    /// Calls `body` with the values, whose texts and bytes share one block of memory during the call.
    static func with(
        _ values: [Value], _ body: (UnsafePointer<mc_value>, Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        let byteCount = values.reduce(1) { $0 + $1.byteCount }  // 1 more, so that empty values have an address as well
        // Few values, such as keys, are on the stack.
        let result: Result<Void, StoreError> = unsafe withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { block in
            unsafe withUnsafeTemporaryAllocation(of: mc_value.self, capacity: values.count + 1) { core in
                var used = 0
                for (index, value) in values.enumerated() {
                    let place = unsafe UnsafeMutableRawBufferPointer(rebasing: block[used...])
                    let count = unsafe value.copyBytes(to: place)
                    unsafe core.initializeElement(at: index, to: mc_value(value, at: place.baseAddress!.assumingMemoryBound(to: CChar.self), count))
                    used += count
                }
                unsafe core.initializeElement(at: values.count, to: mc_value())  // so that an empty list has an address as well
                do throws(StoreError) {
                    return .success(try unsafe body(UnsafePointer(core.baseAddress!), values.count))
                } catch {
                    return .failure(error)
                }
            }
        }
        try result.get()
    }
}

extension Value {
    /// The length of a text or blob in bytes; 0 for other values.
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        default: 0
        }
    }

    /// Copies the bytes of a text or blob to `place`. Returns their number.
    fileprivate func copyBytes(to place: UnsafeMutableRawBufferPointer) -> Int {
        switch self {
        case .text(var text):
            return text.withUTF8 { bytes in
                unsafe place.copyMemory(from: UnsafeRawBufferPointer(bytes))
                return bytes.count
            }
        case .blob(let bytes):
            unsafe bytes.withUnsafeBytes { unsafe place.copyMemory(from: $0) }
            return bytes.count
        default: return 0
        }
    }
}

extension mc_value {
    fileprivate init(_ value: Value, at bytes: UnsafePointer<CChar>, _ length: Int) {
        unsafe self.init()
        switch value {
        case .null: unsafe kind = UInt8(MC_VALUE_NULL.rawValue)
        case .integer(let integer):
            unsafe kind = UInt8(MC_VALUE_INTEGER.rawValue)
            unsafe self.value.integer = integer
        case .real(let real):
            unsafe kind = UInt8(MC_VALUE_REAL.rawValue)
            unsafe self.value.real = real
        case .text, .blob:
            unsafe kind = UInt8(value.text == nil ? MC_VALUE_BLOB.rawValue : MC_VALUE_TEXT.rawValue)
            unsafe self.value.bytes = unsafe bytes
            unsafe self.length = UInt32(length)
        }
    }
}

extension Value {
    /// Makes a copy of a value of the core, whose texts are UTF-8.
    init(_ value: mc_value) {
        let buffer = unsafe UnsafeRawBufferPointer(start: value.length > 0 ? value.value.bytes : nil, count: Int(value.length))
        switch unsafe mc_value_kind(UInt32(value.kind)) {
        case MC_VALUE_INTEGER: self = unsafe .integer(value.value.integer)
        case MC_VALUE_REAL: self = unsafe .real(value.value.real)
        case MC_VALUE_TEXT: self = unsafe .text(String(decoding: buffer, as: UTF8.self))
        case MC_VALUE_BLOB: self = unsafe .blob([UInt8](buffer))
        default: self = .null
        }
    }
}
