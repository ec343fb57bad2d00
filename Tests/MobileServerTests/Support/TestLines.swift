import Synchronization

/// Keeps the lines of a server's log.
final class TestLines: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ line: String) { list.withLock { $0.append(line) } }

    /// Everything that is there.
    func all() -> [String] { list.withLock { $0 } }

    /// What came since the last call, without the lines about rejected operations.
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list.filter { !$0.contains("rejected:") }
        }
    }
}
