internal import MobileMicrohttpd

/// A body that is produced while it is sent.
///
///     worker:  next() ---> ready ---> next() ...      one chunk ahead of the client
///     loop:                 +---> chunk ---> socket
///
/// The body of an ``InterimAnswer`` has no source yet: it consists of beats until the answer arrives.
///
/// A client that reads slowly occupies memory for two chunks, and no thread. While there is nothing to send, its connection is suspended.
///
/// Threads: the loop's, apart from `next`, which runs in jobs, one at a time.
final class ResponseStream: @unchecked Sendable {
    typealias Source = () throws -> [UInt8]?

    private enum End {
        case complete, broken
    }

    private let request: DaemonRequest
    /// nil once the response is finished or its connection is closed.
    private var source: HandedOver<Source>?
    private var chunk: [UInt8] = []
    private var position = 0
    private var ready: [UInt8]?
    private var end: End?
    private var isProducing = false
    /// The time of the last beat, while the answer has not arrived.
    private var beaten: ContinuousClock.Instant?

    /// - Parameter first: the first chunk, which the job of the handler has already produced.
    init(_ source: HandedOver<Source>, first: ProducedChunk, for request: DaemonRequest) {
        self.source = source
        self.request = request
        take(first)
    }

    /// Begins with a beat, before the answer.
    init(_ interim: InterimAnswer, at time: ContinuousClock.Instant, for request: DaemonRequest) {
        self.request = request
        (ready, beaten) = (interim.beat, time)
    }

    /// Sends a beat if the answer has not arrived, and nothing was sent for an interval.
    func beat(_ interim: InterimAnswer, at time: ContinuousClock.Instant) {
        guard let beaten, time - beaten >= interim.interval, ready == nil, position == chunk.count else { return }
        ready = interim.beat
        self.beaten = time
        request.resume()
    }

    /// Continues with the answer.
    /// - Parameter first: the first chunk of the source.
    func arrive(_ source: HandedOver<Source>, first: ProducedChunk) {
        end(beats: first)
        if end == nil { self.source = source }
    }

    /// Ends with the rest of the body.
    func arrive(last: [UInt8]) { end(beats: .chunk(last), isLast: true) }

    private func end(beats first: ProducedChunk, isLast: Bool = false) {
        beaten = nil
        // A beat that was not sent yet stays before the answer.
        let waiting = ready ?? []
        take(first)
        if case .chunk(let bytes) = first { ready = waiting + bytes }
        if isLast { end = .complete }
        request.resume()
    }

    static let read: MHD_ContentReaderCallback = { context, _, buffer, maximum in
        guard let context, let buffer else { return mhs_end_with_error() }
        let stream = Unmanaged<ResponseStream>.fromOpaque(context).takeUnretainedValue()
        return stream.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
    }

    static let free: MHD_ContentReaderFreeCallback = { context in
        guard let context else { return }
        let stream = Unmanaged<ResponseStream>.fromOpaque(context).takeRetainedValue()
        stream.release()
    }

    /// Fills the front of `buffer`. Returns 0 if nothing is ready; then the connection is suspended.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        while position == chunk.count {
            if let ready {
                (chunk, position, self.ready) = (ready, 0, nil)
                produce()
            } else if beaten != nil {
                request.suspend()
                return 0
            } else if let end {
                // The status was already sent. The only remaining way to report the failure is a visible truncation.
                return end == .complete ? mhs_end_of_stream() : mhs_end_with_error()
            } else {
                produce()
                request.suspend()
                return 0
            }
        }
        let count = min(buffer.count, chunk.count - position)
        chunk.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count])) }
        position += count
        return count
    }

    /// Begins to produce the next chunk, if there is room for one.
    private func produce() {
        guard !isProducing, end == nil, ready == nil, let source else { return }
        isProducing = true
        let service = request.service
        service.lanes.start(.pieces) {
            let produced = ProducedChunk(source)
            service.loop.post { self.arrive(produced) }
        }
    }

    private func arrive(_ produced: ProducedChunk) {
        isProducing = false
        guard source != nil else { return }
        take(produced)
        request.resume()
    }

    private func take(_ produced: ProducedChunk) {
        switch produced {
        case .chunk(let bytes): ready = bytes
        case .end: end = .complete
        case .failure: end = .broken
        }
    }

    private func release() {
        guard let source else { return }
        self.source = nil
        // Releasing the closure may take time: it may hold a long temporary file.
        request.service.lanes.start(.pieces) { withExtendedLifetime(source) {} }
    }
}

/// The result of one call of a stream's source.
enum ProducedChunk: Sendable {
    case chunk([UInt8]), end, failure

    init(_ source: HandedOver<ResponseStream.Source>) {
        do { self = try source.value().map { .chunk($0) } ?? .end } catch { self = .failure }
    }
}
