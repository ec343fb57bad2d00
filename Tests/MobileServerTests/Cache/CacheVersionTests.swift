import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Caches of other releases of the server.
@Suite(.stateInFile) struct CacheVersionTests {
    private func change(_ server: TestServer, _ statements: [String]) throws {
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        try cache.write { connection in for statement in statements { _ = try connection.execute(statement) } }
        try cache.close()
    }

    /// Removes what version 14 added: each object has its keys under its own number.
    static let toVersion13 = [
        "UPDATE _key SET object = (SELECT s.object FROM _key_space AS s WHERE s.space = _key.object)", "DROP TABLE _key_space",
        "DROP TABLE _record_source", "PRAGMA user_version = 13",
    ]

    /// Makes all keys of rows texts.
    private static let toVersion11 =
        toVersion13 + [
            "DROP INDEX _key_sk", "ALTER TABLE _key RENAME TO _key_12",
            "CREATE TABLE _key (object BIGINT NOT NULL, k TEXT NOT NULL, sk BIGINT NOT NULL, PRIMARY KEY (object, k)) WITHOUT ROWID",
            "CREATE UNIQUE INDEX _key_sk ON _key (object, sk)", "INSERT INTO _key (object, k, sk) SELECT object, k, sk FROM _key_12",
            "DROP TABLE _key_12",
            "PRAGMA user_version = 11",
        ]

    /// Removes what version 7 added.
    static let toVersion6 =
        toVersion13 + ["_row_deleted", "_partition_used", "_partition_digest"].map { "DROP INDEX \($0)" }
        + ["_era", "_partition_era", "_reconciled", "_refresh", "_mark"].map { "DROP TABLE \($0)" }
        + [
            ("_partition", "digest"), ("_partition", "era"), ("_partition", "used"), ("_partition", "mark"),
            ("_partition", "compared"), ("_back_end", "era"), ("_traced_request", "noted"),
        ].map {
            "ALTER TABLE \($0) DROP COLUMN \($1)"
        } + ["PRAGMA user_version = 6"]

    /// Gives the tables the form of version 3: one table of rows and one of keys per object, one counter per package, columns called `user`.
    private static let toVersion3 =
        toVersion6 + [
            "CREATE TABLE old_package (id INTEGER PRIMARY KEY, name TEXT, epoch TEXT, version INTEGER, next_key INTEGER)",
            "INSERT INTO old_package SELECT id, name, epoch, 5, (SELECT next FROM _counter) FROM _package",
            "CREATE TABLE old_partition (id INTEGER PRIMARY KEY)", "CREATE TABLE old_large (object INTEGER PRIMARY KEY)",
        ]
        + ["Customer", "Order", "Line"].flatMap { object in
            [
                #"CREATE TABLE "Field:2.0/\#(object)" (_sk)"#,
                #"CREATE TABLE "Field:2.0/\#(object)/keys" (_sk INTEGER PRIMARY KEY, k NOT NULL UNIQUE)"#,
                #"INSERT INTO "Field:2.0/\#(object)/keys" SELECT sk, json_extract(k, '$') FROM _key WHERE object = (SELECT id FROM _object WHERE name = '\#(object)')"#,
            ]
        }
        + ["_package", "_partition", "_large"].flatMap { ["DROP TABLE \($0)", "ALTER TABLE old\($0) RENAME TO \($0)"] }
        + ["_key", "_row", "_counter", "_rejected_row", "_user_role", "_user_attribute"].map { "DROP TABLE \($0)" } + ["DROP INDEX _key_range_client"]
        + ["_device", "_session", "_activation", "_client", "_domain_log", "_trace"].map { "ALTER TABLE \($0) RENAME COLUMN user_name TO user" }
        + ["PRAGMA user_version = 3"]

    /// Removes what version 3 added.
    private static let toVersion2 =
        ["_session_user", "_session_used", "_session_began", "_device_user"].map { "DROP INDEX \($0)" }
        + [("_session", "used"), ("_user", "locked"), ("_device", "locked")].map { "ALTER TABLE \($0) DROP COLUMN \($1)" }
        + ["DROP TABLE _activation", "PRAGMA user_version = 2"]

    @Test func `a file of another system is refused as a cache, and stays as it is`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("foreign.db")
        let foreign = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try foreign.write { _ = try $0.execute("CREATE TABLE invoice (id INTEGER PRIMARY KEY)") }
        try foreign.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: ServerError.self) {
            try MobileServer(ServerConfiguration(cachePath: path, packages: [], users: [:]))
        }
        #expect(error?.code == .cache && error?.message.contains("found version 0; name another file") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["foreign.db"])
    }

    @Test("LGN-01: sessions of a release that did not note their use have all of their idle time when the cache is brought up to date")
    func sessions() throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try FieldSales.server { $0.clock = { clock.milliseconds } }
        let device = try TestDevice(server)
        try server.server.close()
        try change(server, Self.toVersion3 + Self.toVersion2)
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
        let rows = device.rows
        try server.server.close()
        let added = ["_log_table", "_log_client", "_inquiry", "_domain_log", "_trace", "_traced_request", "default_field_2_0_logr_1"]
        try change(server, Self.toVersion3 + Self.toVersion2 + added.map { "DROP TABLE \($0)" } + ["PRAGMA user_version = 1"])
        try server.restartClosed()
        let record = LogRecordEntry(messageId: 1, level: .info, code: 9999, message: "visited", component: "Field", timestamp: "")
        let result = try device.synchronize(groups: ["system", "default", "lines"], log: [record])
        #expect(result.status == 200 && !result.resets.isEmpty, "the session is known, the rows are loaded again")
        #expect(device.rows == rows && rows["Customer"]?.isEmpty == false, "each row keeps its surrogate key")
        #expect(try server.server.administration.logTables().map(\.rows) == [1])
        try server.restart()
        #expect(try server.server.administration.logTables().map(\.rows) == [1])
    }

    @Test("a cache without segments and marks gets them, and keeps everything that it has")
    func segments() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.close()
        let added = ["_segment_run", "_segment", "_tombstone_horizon", "_secret"]
        try change(server, Self.toVersion6 + added.map { "DROP TABLE \($0)" } + ["PRAGMA user_version = 5"])
        try server.restartClosed()
        let rows = device.rows, result = try device.synchronize()
        #expect(result.status == 200 && device.rows["Customer"] == rows["Customer"])
        #expect(try server.state { try $0.rows("SELECT count(*) FROM _mark", []) } == [[0]])
        let counts = try server.state { connection in try added.map { try connection.rows("SELECT count(*) FROM \($0)", []) } }
        #expect(counts == [[[0]], [[0]], [[0]], [[1]]])
        let refreshes = try server.state { try $0.rows("SELECT name, held FROM _refresh") }
        #expect(refreshes.allSatisfy { $0 == ["enterprise", 0] })
    }

    @Test func `a cache with all rows in the index of versions gets one of changed rows, and sends the changes`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        func indexes() throws -> [String] {
            try server.state {
                try $0.rows("SELECT name FROM sqlite_schema WHERE tbl_name = '_row' AND sql IS NOT NULL AND type = 'index' ORDER BY name")
            }
            .compactMap { $0[0].text }
        }
        let present = try indexes()
        try server.server.close()
        try change(
            server,
            Self.toVersion13 + [
                "DROP INDEX _row_changed", "CREATE INDEX _row_version ON _row (partition, version, deleted)", "PRAGMA user_version = 10",
            ])
        try server.restartClosed()
        #expect(try indexes() == present && present == ["_row_changed", "_row_deleted", "_row_sk"])
        try server.backEnd {
            _ = try $0.execute(
                #"UPDATE "the customers" SET name = 'Changed' WHERE "customer no" = (SELECT min("customer no") FROM "the customers" WHERE region = 'NORTH')"#
            )
        }
        #expect(try device.synchronize().upserts["Customer"] == 1)
    }

    @Test func `a cache with all keys as texts keeps integers as integers, and each row keeps its surrogate key`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        func keys(_ types: String) throws -> [[Value]] {
            try server.state { try $0.rows("SELECT CAST(k AS TEXT), sk, \(types) FROM _key ORDER BY sk") }
        }
        let present = try keys("typeof(k)"), rows = device.rows
        #expect(Set(present.map { $0[2] }) == ["integer", "text"], "keys of one attribute and of several")
        try server.server.close()
        try change(server, Self.toVersion11)
        try server.restartClosed()
        #expect(try keys("typeof(k)") == present)
        #expect(try server.state { try $0.rows("SELECT name FROM sqlite_schema WHERE tbl_name LIKE '\\_key\\_1%' ESCAPE '\\'") }.isEmpty)
        try server.backEnd {
            _ = try $0.execute(
                #"UPDATE "the customers" SET name = 'Changed' WHERE "customer no" = (SELECT min("customer no") FROM "the customers" WHERE region = 'NORTH')"#
            )
        }
        let result = try device.synchronize()
        #expect(result.status == 200 && result.resets.isEmpty && result.upserts == ["Customer": 1] && result.deletes.isEmpty)
        #expect(device.rows["Customer"]?.keys == rows["Customer"]?.keys && device.rows["Line"] == rows["Line"])
    }

    @Test func `a cache that cannot be brought up to date stays as it is, and can be later`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.server.close()
        // The name that the conversion of the keys gives to their former table.
        try change(server, Self.toVersion11 + ["CREATE TABLE _key_11 (x)"])
        func content() throws -> [[Value]] {
            let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
            defer { try? cache.close() }
            return try cache.read { connection in
                try connection.rows("SELECT * FROM _key ORDER BY sk") + connection.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
                    + connection.rows("PRAGMA user_version")
            }
        }
        let before = try content()
        #expect(#expect(throws: ServerError.self) { try MobileServer(server.configuration) }?.code == .cache)
        #expect(try content() == before && before.last == [11])
        try change(server, ["DROP TABLE _key_11"])
        try server.restartClosed()
        let result = try device.synchronize()
        #expect(result.status == 200 && result.resets.isEmpty && result.upserts.isEmpty && result.deletes.isEmpty)
    }

    @Test("a cache of a later release is refused and left as it is; so is a file that is no cache, and one that is not there", .backEndInFile)
    func refusals() throws {
        let server = try FieldSales.server()
        try server.server.close()
        try change(server, ["PRAGMA user_version = \(SQLiteStateSchema.version + 1)"])
        let error = #expect(throws: ServerError.self) { try MobileServer(server.configuration) }
        #expect(error?.code == .cache && error?.message.contains("version 1 to \(SQLiteStateSchema.version), found version") == true)
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: server.configuration) }?.code == .cache)
        try change(server, ["PRAGMA user_version = \(SQLiteStateSchema.version)"])
        try server.restartClosed()
        var missing = server.configuration
        missing.cachePath = server.folder.file("missing.db")
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: missing) }?.code == .cache)
        missing.cachePath = server.backEndPath
        #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: missing) }?.code == .cache)
        #expect(try server.backEndValue("SELECT count(*) FROM sqlite_schema WHERE name LIKE '\\_log%' ESCAPE '\\'") == 0)
    }
}
