internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The answer to one synchronization: a frame stream that is made piece by piece as the client reads it.
///
/// Memory: one frame and one piece. It holds no connection and no snapshot while it waits for the client.
final class Download {
    /// What comes next.
    enum Step {
        case frame(FrameContent)
        /// So many bytes of the spooled rows, as data of the open part.
        case rows(bytes: Int)
        /// One large value, as a part of its own.
        case largeValue(LargeValueSource, surrogateKey: Int64)
    }

    private let steps: [Step]
    private var position = 0
    private let rows: Spool
    private var writer = FrameWriter(.download)
    /// Bytes of the current rows step that are still to come.
    private var rowsLeft = 0
    /// The large value that is being sent.
    private var content: Spool?

    private var isBroken = false
    private let log: @Sendable (String) -> Void

    init(steps: [Step], rows: Spool, log: @escaping @Sendable (String) -> Void) {
        self.steps = steps
        self.rows = rows
        self.log = log
    }

    /// The next bytes of the stream, about 64 KB; nil at its end. What fails on the way, such as a back end that is gone, breaks the stream
    /// off with an error that the client can read.
    func nextChunk() throws -> [UInt8]? {
        guard !isBroken else { return nil }
        do {
            while writer.bufferedCount < ProtocolLimit.dataFrame, try advance() {}
        } catch {
            isBroken = true
            log("download broken off: \(error)")
            let isDown = (error as? StoreError).map { Rejection($0, of: nil).isTransient } ?? false
            try writer.write(
                .failure(
                    ProtocolFailure(
                        code: isDown ? ResultCode.unavailable : ResultCode.failure, message: "the server could not read a value from its back end")))
        }
        let chunk = writer.take()
        return chunk.isEmpty ? nil : chunk
    }

    /// Writes at least one frame, or finds that there is none to write for a step.
    private func advance() throws -> Bool {
        if rowsLeft > 0 { return try advanceRows() }
        if let content { return try advance(content) }
        guard position < steps.count else { return false }
        let step = steps[position]
        position += 1
        switch step {
        case .frame(let frame): try writer.write(frame)
        case .rows(let bytes): rowsLeft = bytes
        case .largeValue(let source, let surrogateKey): try begin(source, surrogateKey)
        }
        return true
    }

    private func advanceRows() throws -> Bool {
        guard let bytes = try rows.nextChunk(maximum: min(rowsLeft, ProtocolLimit.dataFrame)) else {
            throw ProtocolError(.truncated, "the spooled rows end too early")
        }
        rowsLeft -= bytes.count
        try writer.write(.data(bytes))
        return true
    }

    private func begin(_ source: LargeValueSource, _ surrogateKey: Int64) throws {
        guard let found = try source.read() else { return }
        let length = found.spool.map { Int64($0.length) }
        try writer.write(
            .largeValue(
                LargeValuePart(object: source.object.name, attribute: source.attribute.name, owner: .row(key: surrogateKey), length: length)))
        if let spool = found.spool {
            content = spool
        } else {
            try writer.write(.partEnd(.bytes(0)))
        }
    }

    private func advance(_ content: Spool) throws -> Bool {
        if let bytes = try content.nextChunk(maximum: ProtocolLimit.dataFrame) {
            try writer.write(.data(bytes))
        } else {
            try writer.write(.partEnd(.bytes(Int64(content.length))))
            self.content = nil
        }
        return true
    }
}
