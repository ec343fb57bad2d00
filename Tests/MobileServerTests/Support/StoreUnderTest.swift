import Foundation
import PostgreSQLTestSupport
import Testing

/// The engine of the servers' own state in these tests: SQLite, or PostgreSQL with `SERVER_STORE=postgresql` in the environment.
enum StoreUnderTest {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SERVER_STORE"] == "postgresql"
}

extension Trait where Self == ConditionTrait {
    /// A test about the file of the state.
    static var stateInFile: Self { .disabled(if: StoreUnderTest.isPostgreSQL, "the state is in PostgreSQL") }
    /// A test about the state in PostgreSQL, regardless of the other tests.
    static var needsPostgreSQL: Self { .enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)) }
}
