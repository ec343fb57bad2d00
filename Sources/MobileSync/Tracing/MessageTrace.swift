internal import MobileObjects
internal import MobileProtocol

/// The amount of the traffic with the server that is written to the package's console. SMP 2.3: `enableTrace:`, `enableTrace:withPayload:` of the
/// synchronization profile.
public enum MessageTraceLevel: Int, Sendable, Hashable, Comparable {
    /// Nothing.
    case off = 0
    /// Headers, in both directions.
    case headers
    /// Headers and contents: values of users, and user and password where a message contains them. Rows and large values, which are transferred in
    /// packed form, appear as their lengths.
    case payload

    public static func < (left: MessageTraceLevel, right: MessageTraceLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Writes messages and frames to the console of a package as they leave and arrive, as far as the profile's trace and the debug settings request it.
struct MessageTrace {
    enum Direction: String { case sent = "SENT", received = "RECEIVED" }

    private let console: ConsoleLogger
    /// The written part of a message, in each direction.
    private let sent: MessageTraceLevel
    private let received: MessageTraceLevel
    /// Whether sent operations are written with their contents although other messages are not.
    private let writesReplays: Bool

    /// Fails if nothing is to be written, so that no work is done for it.
    init?(_ package: PackageDatabase, _ level: MessageTraceLevel) {
        let settings = package.debugSettings
        let asked: MessageTraceLevel = settings.contains(.printServerMessages) ? .headers : .off
        sent = max(level, asked)
        received = settings.contains(.printServerMessageContent) ? .payload : max(level, asked)
        guard sent > .off || received > .off else { return nil }
        writesReplays = asked > .off
        console = package.console
    }

    /// Writes one message: its header, and its content if requested.
    func write(_ direction: Direction, _ message: Message) {
        let level = direction == .sent ? sent : received
        guard level > .off else { return }
        let text = level == .payload ? message.json.description : message.json.object?["header"]?.description ?? ""
        console.trace(direction.rawValue, text)
    }

    /// Writes one frame of a synchronization: its summary, or its content if requested.
    func write(_ direction: Direction, _ content: FrameContent) {
        let level = direction == .sent ? sent : received
        guard level > .off else { return }
        if level == .payload || writesReplays && direction == .sent && content.type == .operation {
            console.trace(direction.rawValue, "\(content.type.letter) \(content.text)")
        } else if let summary = content.summary {
            console.trace(direction.rawValue, "\(content.type.letter) \(summary)")
        }
    }
}

extension FrameContent {
    /// A summary of the frame, without values; nil for data.
    fileprivate var summary: String? {
        switch self {
        case .header(let header): "package \(header.package), client \(header.client), groups \(header.groups.joined(separator: ", "))"
        case .answer(let answer): "groups \(answer.groups.joined(separator: ", "))"
        case .operation(let operation): "\(operation.change.rawValue) of \(operation.object), id \(operation.id)"
        case .table(let part): "\(part.mode.rawValue) of \(part.object)"
        case .segment(let part): "segment of \(part.object), \(part.rows) rows"
        case .largeValue(let part): "\(part.attribute) of \(part.object)"
        case .groupEnd(let end): "end of group \(end.group)"
        case .replayResults(let results): "\(results.count) replay results"
        case .logRecords(let records): "\(records.count) log records"
        case .keyRange(let range): "keys \(range.first) to \(range.last)"
        case .failure(let failure): "failure \(failure.code)"
        case .wait, .data, .partEnd, .streamEnd: nil
        }
    }
}
