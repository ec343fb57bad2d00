internal import CMobileDeflate
internal import MobileStore

/// Compresses one text after the other, each in pieces, by ISA-L: five times as fast as zlib. Its results are zlib streams like all others.
@safe final class SegmentCompressor {
    private let handle: OpaquePointer
    private var output = [UInt8](repeating: 0, count: 1 << 16)
    /// Short pieces are collected: each call of the library takes as long as some hundred bytes.
    private var collected: [UInt8] = []
    private static let collectedBytes = 1 << 14
    /// The stream of the open text so far, or that of the last one.
    private var stream: [UInt8] = []
    private var isOpen = false

    /// - Throws: ``StoreError/Code/noMemory``.
    init() throws(StoreError) {
        guard let handle = unsafe md_compressor_create() else { throw StoreError(.noMemory, "no memory for a compression") }
        unsafe self.handle = handle
    }

    deinit { unsafe md_compressor_free(handle) }

    /// Adds a piece to the open text. The stream depends on where the pieces end, its text does not.
    /// - Throws: ``StoreError/Code/compression`` if the library refuses to work.
    func add(_ text: ArraySlice<UInt8>) throws(StoreError) {
        let isLong = text.count >= Self.collectedBytes
        if !isLong { collected += text }
        if isLong || collected.count >= Self.collectedBytes { try takeCollected(isLast: false) }
        if isLong { try compress(text, isLast: false) }
    }

    /// Ends the text.
    /// - Returns: its zlib stream (RFC 1950). The next piece begins another one.
    /// - Throws: as ``add(_:)``.
    func finish() throws(StoreError) -> [UInt8] {
        try takeCollected(isLast: true)
        isOpen = false
        return stream
    }

    private func takeCollected(isLast: Bool) throws(StoreError) {
        try compress(collected[...], isLast: isLast)
        collected.removeAll(keepingCapacity: true)
    }

    private func compress(_ text: ArraySlice<UInt8>, isLast: Bool) throws(StoreError) {
        // Here, because the caller has no use for the last one any more: its memory is kept.
        if !isOpen { stream.removeAll(keepingCapacity: true) }
        isOpen = true
        var rest = text
        while true {
            let step = unsafe rest.withUnsafeBufferPointer { text in
                unsafe output.withUnsafeMutableBufferPointer { output in
                    unsafe md_compress(handle, text.baseAddress, text.count, isLast, output.baseAddress!, output.count)  // it has room
                }
            }
            if step.has_failed { throw StoreError(.compression, "the library of the compression refuses to work") }
            stream += output[..<step.given]
            rest = rest.dropFirst(step.taken)
            if isLast ? step.is_end : rest.isEmpty { return }
        }
    }
}
