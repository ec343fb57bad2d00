internal import MobileProtocol
internal import MobileStore

/// One event of a stream of server-sent events.
struct ServerEvent: Equatable {
    var name = "message"
    var data = ""
    /// The delay before the next connection that the server has named before this event.
    var retry: Duration?
}

/// Reads server-sent events from pieces of a stream. Lines end with LF, CR or both; comments are skipped.
struct ServerEventReader {
    /// The longest event in bytes: the names of all groups of all packages are far shorter.
    static let longest = 1 << 20

    private var line: [UInt8] = []
    private var hasReturned = false
    private var event = ServerEvent()
    private var data: [String] = []
    private var hasContent = false
    private var length = 0
    private var retry: Duration?

    /// Takes a piece, and visits the events that it completes.
    /// - Throws: ``SyncError/Code/synchronizationCommunication`` for an event that is too long, and the errors of `visit`.
    mutating func take(_ piece: some Sequence<UInt8>, _ visit: (ServerEvent) throws -> Void) throws {
        for byte in piece {
            switch byte {
            case UInt8(ascii: "\n") where hasReturned: hasReturned = false
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                hasReturned = byte == UInt8(ascii: "\r")
                try endLine(visit)
            default:
                hasReturned = false
                length += 1
                guard length <= Self.longest else {
                    throw SyncError(.synchronize, .synchronizationCommunication, "an event of the server is longer than \(Self.longest) bytes")
                }
                line.append(byte)
            }
        }
    }

    private mutating func endLine(_ visit: (ServerEvent) throws -> Void) throws {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (event, data, hasContent, length) = (ServerEvent(), [], false, 0) }
            guard hasContent else { return }
            event.data = data.joined(separator: "\n")
            event.retry = retry
            return try visit(event)
        }
        let text = String(decoding: line, as: UTF8.self)
        guard !text.hasPrefix(":") else {
            length = data.reduce(0) { $0 + $1.utf8.count }
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? parts[1] : ""
        if value.first == " " { value.removeFirst() }
        switch parts[0] {
        case "event":
            event.name = String(value)
            hasContent = true
        case "data":
            data.append(String(value))
            hasContent = true
        case "retry": retry = Int64(value).flatMap { (0...86_400_000).contains($0) ? .milliseconds($0) : nil }
        default: break
        }
    }
}
