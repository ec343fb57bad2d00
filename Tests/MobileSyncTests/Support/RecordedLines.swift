import Synchronization

/// Keeps lines that come from any thread, in order.
final class RecordedLines: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ line: String) { list.withLock { $0.append(line) } }

    /// What came since the last call.
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
