internal import MobileExecution

/// Keeps lines that come from any thread, in order.
public final class RecordedLines: Sendable {
    private let list = SystemLock<[String]>([])

    /// A list without lines.
    public init() {}

    /// Keeps one more line.
    public func add(_ line: String) { list.withLock { $0.append(line) } }

    /// The lines since the last ``take()``.
    public var all: [String] { list.withLock { $0 } }

    /// Removes the lines since the last call, and returns them.
    public func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
