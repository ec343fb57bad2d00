import MobileExecution

/// The SQL statements that a database ran.
final class StatementTrace: Sendable {
    private let statements = SystemLock<[String]>([])

    func append(_ statement: String) { statements.withLock { $0.append(statement) } }

    var count: Int { statements.withLock { $0.count } }

    var all: [String] { statements.withLock { $0 } }
}
