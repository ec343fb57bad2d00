import Foundation
import PostgreSQLTestSupport
import Testing

/// The engine of the servers' own state in these tests: SQLite, or PostgreSQL with `SERVER_STORE=postgresql` in the environment.
enum StoreUnderTest {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["SERVER_STORE"] == "postgresql"

    /// A new database with the tables of a state; nil where the state is in a file.
    static func database() throws -> PostgreSQLTestDatabase? { try isPostgreSQL ? .ofState() : nil }
}

extension Trait where Self == ConditionTrait {
    /// A test about the file of the state.
    static var stateInFile: Self { .disabled(if: StoreUnderTest.isPostgreSQL, "the state is in PostgreSQL") }
    /// A suite whose tests do not depend on the engine from the environment, because they keep no state of a server or choose its engine themselves:
    /// the run with SQLite has all of it, and another one would repeat it.
    static var runsOnce: Self { .disabled(if: StoreUnderTest.isPostgreSQL, "the run with the state in SQLite has all of this suite") }
    /// A test about the state in PostgreSQL, regardless of the other tests.
    static var needsPostgreSQL: Self { .enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)) }
}
