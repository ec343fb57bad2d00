import Synchronization

/// The lines that an example prints, from any thread, in order.
final class PrintedLines: Sendable {
    private let list = Mutex<[String]>([])

    func add(_ line: String) { list.withLock { $0.append(line) } }

    /// The lines since the last call.
    func take() -> [String] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
