import Foundation
import MobileExecution

/// The SQL statements that a database ran.
final class StatementTrace: Sendable {
    private let statements = SystemLock<[String]>([])

    private let changed = NSCondition()

    func append(_ statement: String) {
        statements.withLock { $0.append(statement) }
        changed.withLock { changed.broadcast() }
    }

    /// Waits until the statements are such.
    /// - Returns: false after 30 seconds.
    func wait(until isThere: ([String]) -> Bool) -> Bool {
        let deadline = Date() + 30
        return changed.withLock {
            while !isThere(all) { guard changed.wait(until: deadline) else { return isThere(all) } }
            return true
        }
    }

    var count: Int { statements.withLock { $0.count } }

    var all: [String] { statements.withLock { $0 } }
}
