internal import MobileExecution
internal import MobileMicrohttpd

/// The response to a client that listens: its listener's events, as they come.
///
///     idle --event, heartbeat--> writing --all bytes are in the socket--> idle
///      |                            |
///      +-- the server leaves --> last event, end of the response
///                                   +-- for a whole interval --> cut
///
/// An idle stream has no thread, no timer and no bytes: its connection is suspended. The bytes that it writes fit in the system's small buffer of the socket; a
/// client that does not read for the time between two heartbeats is cut.
///
/// Threads: the loop's alone, apart from the listener.
final class EventStream {
    private let request: DaemonRequest
    private let listener: EventListener
    private let service: HTTPService
    private var chunk: [UInt8] = []
    private var position = 0
    private var isEnding = false
    private var isIdle = false
    /// The time of the last byte, or of the beginning.
    private var moved = ContinuousClock.now
    /// The time at which the client has to come again, so that its session is checked.
    private let end: ContinuousClock.Instant

    init(_ listener: EventListener, for request: DaemonRequest, time: Duration) {
        self.listener = listener
        self.request = request
        service = request.service
        service.listeners.withLock { $0 += 1 }
        // Not all at once, after a restart of the server.
        end = ContinuousClock.now + time * Double.random(in: 0.75...1)
        listener.attach { [loop = request.service.loop, weak request] in loop.post { [weak request] in request?.events?.wake() } }
    }

    deinit { service.listeners.withLock { $0 -= 1 } }

    static let read: MHD_ContentReaderCallback = { context, _, buffer, maximum in
        guard let context, let buffer else { return mhs_end_with_error() }
        let stream = Unmanaged<EventStream>.fromOpaque(context).takeUnretainedValue()
        return stream.fill(UnsafeMutableRawBufferPointer(start: buffer, count: maximum))
    }

    static let free: MHD_ContentReaderFreeCallback = { context in
        guard let context else { return }
        Unmanaged<EventStream>.fromOpaque(context).release()
    }

    /// Fills the front of `buffer`. Returns 0 if nothing is to be sent; then the connection is suspended.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        moved = .now
        if position == chunk.count {
            (chunk, position) = ([], 0)
            if isEnding { return mhs_end_of_stream() }
            switch listener.take() {
            case .events(let bytes): chunk = bytes
            case .end(let bytes): (chunk, isEnding) = (bytes, true)
            case .wait:
                isIdle = true
                request.suspend()
                return 0
            }
        }
        isIdle = false
        let count = min(buffer.count, chunk.count - position)
        chunk.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count])) }
        position += count
        return count
    }

    /// The listener has something to send.
    func wake() { if isIdle { request.resume() } }

    /// Ends the response after a last event.
    func finish() { listener.end() }

    /// Sends a heartbeat if nothing was sent for `interval`, so that a dead connection is found.
    /// - Returns: false if the client has not read for that time.
    func beat(_ now: ContinuousClock.Instant, every interval: Duration) -> Bool {
        if now >= end { listener.end() }
        guard now - moved >= interval else { return true }
        guard isIdle else { return false }
        chunk = Array(":\n\n".utf8)
        moved = now
        request.resume()
        return true
    }
}
