import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// Caches of other releases of the server.
@Suite struct CacheVersionTests {
    private func change(_ server: TestServer, _ statements: [String]) throws {
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        try cache.write { connection in for statement in statements { _ = try connection.execute(statement) } }
        try cache.close()
    }

    /// Removes the indexes that version 3 added.
    private static let beforeVersion3 =
        ["_session_user", "_session_used", "_session_began", "_device_user"].map { "DROP INDEX \($0)" }
        + [("_session", "used"), ("_user", "locked"), ("_device", "locked")].map { "ALTER TABLE \($0) DROP COLUMN \($1)" } + [
            "DROP TABLE _activation"
        ]

    @Test("LGN-01: sessions of a release that did not note their use have all of their idle time when the cache is brought up to date")
    func sessions() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try FieldSales.server { $0.clock = { clock.milliseconds } }
        let device = try TestDevice(server)
        try server.server.close()
        try change(server, Self.beforeVersion3 + ["PRAGMA user_version = 2"])
        clock.advance(by: .days(200))
        try server.restartClosed()
        clock.advance(by: .days(29))
        let later = try device.synchronize().status
        #expect(later == 200)
        clock.advance(by: .days(30))
        let idle = try device.synchronize().status
        #expect(idle == 401)
    }

    @Test("LRC-19: a cache without log tables gets them, and keeps everything that it has")
    func migration() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let tokens = device.tokens
        try server.server.close()
        let added = ["_log_table", "_log_client", "_inquiry", "_domain_log", "_trace", "_traced_request", "default_field_2_0_logr_1"]
        try change(server, Self.beforeVersion3 + added.map { "DROP TABLE \($0)" } + ["PRAGMA user_version = 1"])
        try server.restartClosed()
        let record = LogRecordEntry(messageId: 1, level: .info, code: 9999, message: "visited", component: "Field", timestamp: "")
        let result = try device.synchronize(groups: ["system", "default", "lines"], log: [record])
        #expect(result.status == 200 && result.resets.isEmpty && result.upserts.isEmpty, "session and tokens are known")
        #expect(device.tokens["default"] == tokens["default"])
        #expect(try server.server.administration.logTables().map(\.rows) == [1])
        try server.restart()
        #expect(try server.server.administration.logTables().map(\.rows) == [1])
    }

    @Test("a cache of a later release is refused and left as it is; so is a file that is no cache, and one that is not there")
    func refusals() throws {
        let server = try FieldSales.server()
        try server.server.close()
        try change(server, ["PRAGMA user_version = 4"])
        let error = #expect(throws: ServerError.self) { try MobileServer(server.configuration) }
        #expect(error?.code == .cache && error?.message.contains("version 1 to 3, found version 4") == true)
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: server.configuration) }?.code == .cache)
        try change(server, ["PRAGMA user_version = 3"])
        try server.restartClosed()
        var missing = server.configuration
        missing.cachePath = server.folder.file("missing.db")
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: missing) }?.code == .cache)
        missing.cachePath = server.backEndPath
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: missing) }?.code == .cache)
        #expect(try server.backEndValue("SELECT count(*) FROM sqlite_schema WHERE name LIKE '\\_log%' ESCAPE '\\'") == 0)
    }
}
