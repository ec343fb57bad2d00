/// Reads a frame stream from pieces of any size.
///
///     var reader = FrameReader(.download)
///     while let frame = try reader.next(from: { try spool.nextChunk() }) {
///         switch frame.content { ... }
///     }
///
/// `nil` means that the stream was complete: a stream that ends before `Z` or `X` throws. If bytes arrive on their own, use
/// ``push(_:)-([UInt8])``, ``next()`` and, at the end, ``finish()``.
///
/// The reader checks a frame's type, order, reserved bits and length as soon as the eight header bytes have arrived. Memory: one frame
/// (1 MiB at most) and the piece pushed last. After an error the reader throws the same error again.
public struct FrameReader: Sendable {
    /// The direction of the stream.
    public var direction: FrameDirection { order.direction }
    private var order: FrameOrder
    /// The pushed bytes; those from `start` on are unread.
    private var buffer: [UInt8] = []
    private var start = 0
    /// The position of the byte at `start` in the stream.
    private var offset: Int64 = 0
    private var failure: ProtocolError?

    /// Creates a reader of one stream.
    public init(_ direction: FrameDirection) { order = FrameOrder(direction) }

    /// Whether the frame that ends the stream has been read.
    public var isEnded: Bool { order.isEnded }

    /// Takes the stream's next bytes.
    /// - Throws: ``ProtocolError/Code/misuse`` if more than a frame waits: take the frames first.
    public mutating func push(_ bytes: RawSpan) throws(ProtocolError) {
        let unread = buffer.count - start
        guard unread <= ProtocolLimit.frameHeader + ProtocolLimit.framePayload else {
            throw ProtocolError(.misuse, "frame reader: \(unread) bytes wait; take the frames before pushing more", byteOffset: offset)
        }
        buffer.removeFirst(start)
        start = 0
        bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
    }

    /// Takes the stream's next bytes from an array.
    public mutating func push(_ bytes: [UInt8]) throws(ProtocolError) {
        try push(bytes.span.bytes)
    }

    /// Returns the next frame; nil if more bytes are needed, and after the end of the stream.
    /// - Throws: ``ProtocolError`` with the offset of the frame or of the place in its payload.
    public mutating func next() throws(ProtocolError) -> Frame? {
        if let failure { throw failure }
        do {
            return try readFrame()
        } catch {
            failure = error
            throw error
        }
    }

    /// Returns the next frame and pulls bytes from `source` as needed (`nil` is its end); nil after the end of a complete stream.
    /// - Throws: the errors of ``next()`` and ``finish()``, and any error of `source`.
    public mutating func next(from source: () throws -> [UInt8]?) throws -> Frame? {
        while true {
            if let frame = try next() { return frame }
            guard let bytes = try source() else {
                try finish()
                return nil
            }
            try push(bytes)
        }
    }

    /// Marks the end of the bytes.
    /// - Throws: ``ProtocolError/Code/truncated`` unless the stream was complete.
    public func finish() throws(ProtocolError) {
        if let failure { throw failure }
        guard order.isEnded else {
            let end = offset + Int64(buffer.count - start)
            throw ProtocolError(.truncated, "\(direction): the stream ended without its \"Z\" frame", byteOffset: end)
        }
    }

    private mutating func readFrame() throws(ProtocolError) -> Frame? {
        let unread = buffer.count - start
        guard unread > 0 else { return nil }
        if order.isEnded {
            throw ProtocolError(.trailingBytes, "\(direction): \(unread) bytes follow the end of the stream", byteOffset: offset)
        }
        guard let type = FrameType(rawValue: buffer[start]) else {
            throw ProtocolError(.malformedFrame, "there is no frame type \(buffer[start])", byteOffset: offset)
        }
        try order.check(type, at: offset)
        guard unread >= ProtocolLimit.frameHeader else { return nil }
        let length = try payloadLength(type)
        guard unread >= ProtocolLimit.frameHeader + length else { return nil }
        let payloadStart = start + ProtocolLimit.frameHeader
        let payload = Array(buffer[payloadStart..<payloadStart + length])
        let content = try FrameContent(type, direction, payload: payload, at: offset + Int64(ProtocolLimit.frameHeader))
        try order.advance(content, at: offset)
        let frame = Frame(offset: offset, content: content)
        start = payloadStart + length
        offset += Int64(ProtocolLimit.frameHeader + length)
        return frame
    }

    /// Reads and checks the length in a frame's header.
    private func payloadLength(_ type: FrameType) throws(ProtocolError) -> Int {
        guard buffer[start + 1] == 0, buffer[start + 2] == 0, buffer[start + 3] == 0 else {
            throw ProtocolError(.malformedFrame, "frame \"\(type.letter)\": its flags and reserved bytes must be 0", byteOffset: offset + 1)
        }
        let length = buffer[start + 4..<start + 8].reduce(0) { $0 << 8 | Int($1) }
        guard length <= ProtocolLimit.framePayload else {
            throw ProtocolError(
                .limitExceeded, "frame \"\(type.letter)\" of \(length) bytes: a frame takes \(ProtocolLimit.framePayload)",
                byteOffset: offset + 4)
        }
        guard (length == 0) != type.hasPayload else {
            throw ProtocolError(
                .malformedFrame, "frame \"\(type.letter)\" has \(type.hasPayload ? "an empty" : "no") payload",
                byteOffset: offset + 4)
        }
        return length
    }
}
