import Synchronization

/// The SQL statements that a database ran.
final class StatementTrace: Sendable {
    private let statements = Mutex<[String]>([])

    func append(_ statement: String) { statements.withLock { $0.append(statement) } }

    var count: Int { statements.withLock { $0.count } }

    var all: [String] { statements.withLock { $0 } }
}
