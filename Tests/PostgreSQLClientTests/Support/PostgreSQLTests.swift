import PostgreSQLTestSupport
import Testing

/// All tests that need a server. Each has a database of its own on one server, unless it breaks the server.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)))
struct PostgreSQLTests {}
