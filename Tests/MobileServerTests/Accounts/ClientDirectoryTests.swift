import MobileExecution
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The owner of a client id.
@Suite struct ClientDirectoryTests {
    @Test("of two users who come with the same new client id at the same time, the second is refused", .stateInFile)
    func twoUsers() throws {
        let server = try FieldSales.server()
        let clients = server.server.packages[0].clients
        let database = try #require(clients.stateStore as? SQLiteStateStore).database
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        // The other user comes between the first one's look-up and write: at the first statement after the look-up.
        let hasLooked = SystemLock(false)
        database.setTrace { sql in
            let isNext = hasLooked.withLock { hasLooked in
                defer { hasLooked = sql.contains("FROM \"_client\"") }
                return hasLooked
            }
            guard isNext else { return }
            #expect(throws: Never.self) {
                try cache.write { connection in
                    _ = try connection.execute(
                        "INSERT OR IGNORE INTO _client (client, package, user_name, state) VALUES ('c-1', ?1, 'bob', 'suspended')",
                        [.integer(clients.cache.id)])
                }
            }
        }
        #expect(throws: RequestFailure.self) { try clients.setState(.subscribed, of: "c-1", user: "ada") }
        database.setTrace(nil)
        #expect(try clients.state(of: "c-1", user: "bob") == .suspended)
        try clients.setState(.subscribed, of: "c-1", user: "bob")
        #expect(try clients.state(of: "c-1", user: "bob") == .subscribed)
        try cache.close()
    }
}
