/// Writes a frame stream into a buffer that the caller empties.
///
///     var writer = FrameWriter(.upload)
///     try writer.write(.header(header))
///     for operation in outbox { try writer.write(.operation(operation)) }
///     try writer.write(.streamEnd)
///     send(writer.take())
///
/// The writer checks frames against the order that the reader expects, so it cannot produce a stream that the other end refuses. Memory:
/// the bytes written since the last ``take()``.
public struct FrameWriter: Sendable {
    private var order: FrameOrder
    private var buffer: [UInt8] = []
    /// Bytes that have been taken.
    private var taken: Int64 = 0

    /// Creates a writer of one stream.
    public init(_ direction: FrameDirection) { order = FrameOrder(direction) }

    /// The number of bytes that wait to be taken.
    public var bufferedCount: Int { buffer.count }

    /// Whether the stream is complete.
    public var isEnded: Bool { order.isEnded }

    /// Writes one frame; several if data or a list is longer than a frame takes, none for empty data and empty lists.
    /// - Throws: ``ProtocolError/Code/malformedFrame`` or ``ProtocolError/Code/invalidContent`` for a frame that is not allowed here,
    ///   ``ProtocolError/Code/trailingBytes`` after the end, ``ProtocolError/Code/limitExceeded`` for a value longer than a frame
    ///   takes. Nothing is written then.
    public mutating func write(_ content: FrameContent) throws(ProtocolError) {
        if case .data(let bytes) = content {
            for start in stride(from: 0, to: bytes.count, by: ProtocolLimit.framePayload) {
                let piece = Array(bytes[start..<min(start + ProtocolLimit.framePayload, bytes.count)])
                try order.advance(.data(piece), at: offset)
                append(.data, piece)
            }
            return
        }
        let payloads = try content.payloads(limit: ProtocolLimit.framePayload)
        for payload in payloads where payload.count > ProtocolLimit.framePayload {
            throw ProtocolError(
                .limitExceeded, "frame \"\(content.type.letter)\" of \(payload.count) bytes: a frame takes \(ProtocolLimit.framePayload)",
                byteOffset: offset)
        }
        guard !payloads.isEmpty else { return try order.check(content.type, at: offset) }
        try order.advance(content, at: offset)
        for payload in payloads { append(content.type, payload) }
    }

    /// Returns the bytes written, in order, and empties the buffer.
    public mutating func take() -> [UInt8] {
        defer { buffer = [] }
        taken += Int64(buffer.count)
        return buffer
    }

    private var offset: Int64 { taken + Int64(buffer.count) }

    private mutating func append(_ type: FrameType, _ payload: [UInt8]) {
        buffer.reserveCapacity(buffer.count + ProtocolLimit.frameHeader + payload.count)
        buffer += [type.rawValue, 0, 0, 0]
        withUnsafeBytes(of: UInt32(payload.count).bigEndian) { buffer += $0 }
        buffer += payload
    }
}
