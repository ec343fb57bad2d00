internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The answer to one synchronization: a frame stream that is produced piece by piece as the client reads it.
///
/// Memory: one frame and one piece. It holds no connection and no snapshot while it waits for the client.
final class Download {
    /// The next content of the stream.
    enum Step {
        case frame(FrameContent)
        /// The given number of bytes of the spooled rows, as data of the open part.
        case rows(bytes: Int)
        /// The given number of the listed large values, each as a part of its own.
        case largeValues(count: Int, of: ObjectPlan, partition: Int64, in: any BackEnd)
    }

    private let steps: [Step]
    private var position = 0
    private let rows: Spool
    private let largeValues: LargeValueList
    private let grants: SessionGrants
    /// The length from which on a large value is named, and not sent.
    private let longValue: Int64
    private var writer = FrameWriter(.download)
    /// The number of bytes of the current rows step that are still to be sent.
    private var rowsLeft = 0
    /// The large values of the current step that are still to be sent.
    private var values: (left: Int, object: ObjectPlan, partition: Int64, backEnd: any BackEnd)?
    /// The large value that is being sent.
    private var content: Spool?

    private var isBroken = false
    private let log: @Sendable (String) -> Void

    /// - Parameters:
    ///   - rows: the rows of all steps, ready to be read.
    ///   - largeValues: the large values of all steps, ready to be read.
    ///   - grants: gives the session the permission to fetch large values on their own.
    ///   - longValue: the length in bytes from which on they are.
    init(
        steps: [Step], rows: Spool, largeValues: LargeValueList, grants: SessionGrants, longValue: Int64,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.grants = grants
        self.longValue = longValue
        self.steps = steps
        self.rows = rows
        self.largeValues = largeValues
        self.log = log
    }

    /// Returns the next bytes of the stream, about 64 KB; nil at its end. A failure on the way, such as a missing back end, ends the stream with an
    /// error that the client can read.
    func nextChunk() throws -> [UInt8]? {
        guard !isBroken else { return nil }
        do {
            while writer.bufferedCount < ProtocolLimit.dataFrame, try advance() {}
        } catch {
            isBroken = true
            log("download broken off: \(error)")
            let isDown = values.map { Rejection(error, of: nil, on: $0.backEnd).isTransient } ?? false
            try writer.write(
                .failure(
                    ProtocolFailure(
                        code: isDown ? ResultCode.unavailable : ResultCode.failure, message: "the server could not read a value from its back end")))
        }
        let chunk = writer.take()
        return chunk.isEmpty ? nil : chunk
    }

    /// Writes at least one frame, or finds that a step has no frame to write. Returns false after the last step.
    private func advance() throws -> Bool {
        if rowsLeft > 0 { return try advanceRows() }
        if let content { return try advance(content) }
        if let values { return try advance(values.object, values.partition, values.backEnd, left: values.left) }
        guard position < steps.count else { return false }
        let step = steps[position]
        position += 1
        switch step {
        case .frame(let frame): try writer.write(frame)
        case .rows(let bytes): rowsLeft = bytes
        case .largeValues(let count, let object, let partition, let backEnd): values = (count, object, partition, backEnd)
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

    private func advance(_ object: ObjectPlan, _ partition: Int64, _ backEnd: any BackEnd, left: Int) throws -> Bool {
        guard left > 0 else {
            values = nil
            return true
        }
        values?.left = left - 1
        guard let entry = try largeValues.next(), object.largeAttributes.indices.contains(entry.attribute) else {
            throw ProtocolError(.spool, "the list of large values ends too early")
        }
        // A key that can no longer be read belongs to a row that the back end does not have.
        guard let key = RowKey(entry.key, of: object) else { return true }
        if let operation = entry.operation {
            let part = LargeValuePart(
                object: object.name, attribute: object.largeAttributes[entry.attribute].name, owner: .row(key: entry.surrogateKey),
                length: entry.length, submitted: operation)
            try writer.write(.largeValue(part))
            try writer.write(.partEnd(.bytes(entry.length)))
            return true
        }
        if !entry.isNull, entry.length >= longValue {
            try name(entry, of: object, partition)
            return true
        }
        let source = LargeValueSource(
            object: object, attribute: object.largeAttributes[entry.attribute], key: key, backEnd: backEnd, isNull: entry.isNull)
        try begin(source, entry.surrogateKey)
        return true
    }

    /// Names the content that the cache has seen. If the back end has another one by now, the client finds the name gone.
    private func name(_ entry: LargeValueList.Entry, of object: ObjectPlan, _ partition: Int64) throws {
        let attribute = object.largeAttributes[entry.attribute].name
        let value = ContentPermission.LargeValue(object: object.name, attribute: attribute, surrogateKey: entry.surrogateKey)
        let content = try grants.content(entry.digest.hexadecimal, of: partition, value)
        try writer.write(
            .largeValue(
                LargeValuePart(
                    object: object.name, attribute: attribute, owner: .row(key: entry.surrogateKey), length: entry.length, content: content)))
        try writer.write(.partEnd(.bytes(entry.length)))
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
