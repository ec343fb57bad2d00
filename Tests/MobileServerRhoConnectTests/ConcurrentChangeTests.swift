import MobileExecution
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServerRhoConnect

/// Changes of the copy of a source's objects that meet in PostgreSQL.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)))
struct ConcurrentChangeTests {
    /// Without a wait for Swift's threads: the other session's transaction is open, and those threads may belong to tests that wait for its end.
    @Test("a change that meets an upload's create ends after it or before it, and the adapter creates once", arguments: ["push", "search"])
    func oneObject(kind: String) throws {
        let bench = try FaceBench(["m5": ["a": "5"]], configure: { $0.pollInterval = -1 }, isPostgreSQL: true)
        let first = try bench.client(), second = try bench.client(), database = try #require(bench.stateDatabase)
        try first.drain()
        // The create will have the id b1. The other change writes this object, and then m5, which another session holds.
        bench.adapter.objects = ["b1": ["a": "new"], "m5": ["a": "new"]]
        let holder = try database.connect()
        // Under a sanitizer the other sessions may arrive only after the idle-in-transaction timeout.
        try holder.execute("SET idle_in_transaction_session_timeout = 0")
        try holder.execute("BEGIN")
        try holder.execute("SELECT 1 FROM _rho_md WHERE object = 'm5' FOR UPDATE")
        let other = concurrently {
            Result {
                guard kind == "push" else { return try second.search(["sources": [["name": "Item"]]], ["search[a]": "new"]).status }
                return try bench.call(
                    "POST", "/app/v1/Item/push_objects", headers: ["x-rhoconnect-api-token": "admin-token"],
                    body: #"{"user_id":"kim","objects":{"b1":{"a":"new"},"m5":{"a":"new"}}}"#
                ).status
            }
        }
        try waitForLocks(1, database)
        let upload = concurrently { Result { try first.upload(["create": ["t": ["title": "once"]]]).status } }
        try waitForLocks(2, database)
        try holder.execute("ROLLBACK")
        #expect(try other().get() == 200)
        #expect(try upload().get() == 200)
        #expect(bench.adapter.state.withLock { $0.log } == ["create once"])
        let page = try first.query()
        #expect(page.commands?["links"] == ["t": ["l": "b1"]])
    }

    /// Waits until sessions of the database wait for others.
    private func waitForLocks(_ count: Int64, _ database: PostgreSQLTestDatabase) throws {
        let watcher = try database.connect()
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        try #require(eventually { try watcher.first(waiting)?[0].integer == count }, "\(count) sessions should wait for a lock")
    }
}
