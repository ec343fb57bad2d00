import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Digest by buckets and version columns: the rows that are read, the marks that are kept, and the comparisons of all rows.
@Suite struct ChangeDetectionTests {
    /// Six thousand parts in each of two shelves, 1 to 12,000; a partition is a shelf.
    private static func parts(
        _ kind: BackEndKind, _ detection: BackEndBinding.ChangeDetection = .digest, load: String = "SELECT * FROM part WHERE shelf = :shelf",
        adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        var model = try PackageModel(
            json: """
                {
                  "format": 1, "name": "Parts", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                  "personalizationKeys": [{"name": "shelf", "type": "string"}],
                  "objects": [{
                    "name": "Part",
                    "attributes": [
                      {"name": "id", "type": "long"}, {"name": "shelf", "type": "string", "length": 5}, {"name": "name", "type": "string", "length": 40}
                    ],
                    "primaryKey": ["id"], "synchronizationParameters": [{"name": "shelf", "type": "string", "personalizationKey": "shelf"}],
                    "binding": {"backEnd": "enterprise", "table": "part", "load": "\(load)"}}]
                }
                """)
        model.objects[0].binding?.changeDetection = detection
        let numbers =
            kind == .sqlite
            ? "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) SELECT i FROM n" : "SELECT generate_series(1, 12000)"
        let tables = """
            CREATE TABLE part (id INTEGER PRIMARY KEY, shelf TEXT NOT NULL, name TEXT, v INTEGER, label TEXT);
            CREATE INDEX part_v ON part (shelf, v);
            INSERT INTO part (id, shelf, name, v) SELECT i, CASE WHEN i <= 6000 THEN 'A' ELSE 'B' END, 'part ' || i, i FROM (\(numbers)) AS numbers(i);
            """
        let sqlite = tables.replacing("AS numbers(i)", with: "AS numbers")
        return try TestServer(model: model, tables: sqlite, postgreSQL: tables, on: kind, adjust: adjust)
    }

    private static func device(_ server: TestServer, _ shelf: String = "A") throws -> TestDevice {
        let device = try TestDevice(server, name: "phone \(shelf)")
        device.personalization = ["shelf": .string(shelf)]
        try device.synchronize()
        return device
    }

    private static func comparisons(_ server: TestServer) throws -> [Int64] {
        try server.state { try $0.rows("SELECT compared FROM _partition ORDER BY id") }.compactMap { $0[0].integer }
    }

    /// Changes a row until a version is confirmed that all later changes are above. Transactions of other tests delay it.
    private static func confirmVersions(_ device: TestDevice) throws {
        for number in 1...2000 {
            try device.server.backEnd { try $0.execute("UPDATE part SET name = '\(number)', v = 100000 + \(number) WHERE id = 9") }
            try device.synchronize()
            let mark = try device.server.state { try $0.first("SELECT content FROM _mark", [])?[0].text.flatMap(VersionMark.init(text:)) }
            if let confirmed = mark?.progress.confirmed, (confirmed.integer ?? confirmed.string.flatMap { Int64($0) } ?? 0) > 100_000 { return }
        }
        Issue.record("no version was confirmed")
    }

    private static let ways: [(BackEndKind, BackEndBinding.ChangeDetection)] = BackEndKind.allCases.flatMap { kind in
        [(kind, .digest), (kind, .versionColumn("v"))]
    }

    // MARK: Changes

    @Test("rows that change, come, go, get another key or move to another partition are found without a comparison of all rows", arguments: ways)
    func singleRows(way: (BackEndKind, BackEndBinding.ChangeDetection)) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.parts(way.0, way.1) { $0.clock = { clock.milliseconds } }
        let devices = [try Self.device(server, "A"), try Self.device(server, "B")]
        let first = try Self.comparisons(server)
        var version = 20_000
        func change(_ statements: String...) throws -> [[String: Int]] {
            clock.advance(by: .seconds(60))
            version += 1
            try server.backEnd { for statement in statements { try $0.execute(statement.replacing(":v", with: "\(version)")) } }
            return try devices.flatMap { device in
                let result = try device.synchronize()
                return [result.upserts, result.deletes]
            }
        }
        // Until a first version is confirmed in PostgreSQL, and afterwards.
        for round in 0..<3 {
            let id = 100 + round
            #expect(try change("UPDATE part SET name = 'changed', v = :v WHERE id = \(id)") == [["Part": 1], [:], [:], [:]])
            #expect(try change("INSERT INTO part VALUES (\(20_000 + id), 'B', 'new', :v, NULL)") == [[:], [:], ["Part": 1], [:]])
            #expect(try change("DELETE FROM part WHERE id = \(200 + round)") == [[:], ["Part": 1], [:], [:]])
            #expect(try change("UPDATE part SET id = \(30_000 + round), v = :v WHERE id = \(300 + round)") == [["Part": 1], ["Part": 1], [:], [:]])
            #expect(try change("UPDATE part SET shelf = 'B', v = :v WHERE id = \(400 + round)") == [[:], ["Part": 1], ["Part": 1], [:]])
            // The values of two rows change places.
            #expect(
                try change(
                    "UPDATE part SET name = CASE id WHEN \(500 + round) THEN 'part \(600 + round)' ELSE 'part \(500 + round)' END, v = :v WHERE id IN (\(500 + round), \(600 + round))"
                ) == [["Part": 2], [:], [:], [:]])
            #expect(try change("UPDATE part SET label = 'not in the model' WHERE id = 7") == [[:], [:], [:], [:]])
            if round == 1 { try server.restart() }
        }
        // A file may have been restored while its server was stopped, so versions count for one life of it.
        let isComparedAfterStart = way.0 == .sqlite && way.1 == .versionColumn("v")
        #expect(try (Self.comparisons(server) == first) == !isComparedAfterStart)
        let names = try server.backEnd { try $0.rows("SELECT id, name FROM part WHERE shelf = 'A' ORDER BY id") }
        let held = devices[0].rows("Part", by: "id").map { [Value.integer($0.key.integer ?? 0), .text($0.value["name"]?.string ?? "")] }
        #expect(held.sorted { $0[0].integer ?? 0 < $1[0].integer ?? 0 } == names)
    }

    @Test("many changes are compared as a whole, a partition of few rows always; afterwards single ones are found again", arguments: ways)
    func manyChanges(way: (BackEndKind, BackEndBinding.ChangeDetection)) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.parts(way.0, way.1) { $0.clock = { clock.milliseconds } }
        let device = try Self.device(server)
        var compared = try Self.comparisons(server)
        func synchronize(_ statement: String) throws -> (upserts: [String: Int], deletes: [String: Int], isCompared: Bool) {
            clock.advance(by: .seconds(60))
            try server.backEnd { try $0.execute(statement) }
            let result = try device.synchronize(), before = compared
            compared = try Self.comparisons(server)
            return (result.upserts, result.deletes, compared != before)
        }
        let many = try synchronize("UPDATE part SET name = 'all', v = 30000 WHERE shelf = 'A' AND id > 10")
        #expect(many.upserts == ["Part": 5990] && (many.isCompared || way.1 != .digest))
        let one = try synchronize("UPDATE part SET name = 'one', v = 30001 WHERE id = 5")
        #expect(one.upserts == ["Part": 1] && !one.isCompared)
        let emptied = try synchronize("DELETE FROM part WHERE shelf = 'A' AND id > 1")
        #expect(emptied.deletes == ["Part": 5999] && emptied.isCompared)
        #expect(try server.state { try $0.rows("SELECT mark FROM _partition") } == [[.null]])
        let few = try synchronize("UPDATE part SET name = 'few' WHERE shelf = 'A'")
        #expect(few.upserts == ["Part": 1])
    }

    @Test("rows without a version, and large values with a new one, are found", arguments: BackEndKind.allCases)
    func missingVersion(kind: BackEndKind) throws {
        let server = try Self.parts(kind, .versionColumn("v")), device = try Self.device(server)
        for name in ["a", "b", "c"] {
            try server.backEnd { try $0.execute("UPDATE part SET name = '\(name)', v = NULL WHERE id = 7") }
            #expect(try device.synchronize().upserts == ["Part": 1])
        }
        try Self.confirmVersions(device)
        // The owner promises that there is no version below the last one.
        try server.backEnd { try $0.execute("UPDATE part SET name = 'unseen', v = 1 WHERE id = 8") }
        #expect(try device.synchronize().upserts == [:])
    }

    @Test("a change in the last of 250 columns is found without a comparison of all rows: a first load adds up the same sums as a later look")
    func wideRows() throws {
        let sheet = try WideSheet(columns: 250)
        let tables = """
            CREATE TABLE wide (id INTEGER PRIMARY KEY, \(sheet.columns.map { $0 + " INTEGER NOT NULL DEFAULT 7" }.joined(separator: ", ")));
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO wide (id) SELECT i FROM n;
            """
        let clock = VirtualClock(start: .seconds(1_800_000_000))
        let server = try TestServer(model: sheet.model, tables: tables, postgreSQL: "", on: .sqlite) { $0.clock = { clock.milliseconds } }
        let device = try TestDevice(server)
        try device.synchronize()
        let before = try Self.comparisons(server)
        clock.advance(by: .seconds(60))
        try server.backEnd { try $0.execute("UPDATE wide SET c250 = 8 WHERE id = 4321") }
        #expect(try device.synchronize().upserts == ["Wide": 1])
        #expect(try Self.comparisons(server) == before)
    }

    @Test("a load whose rows differ each time is compared each time", arguments: BackEndKind.allCases)
    func volatileLoad(kind: BackEndKind) throws {
        let server = try Self.parts(
            kind, load: "SELECT id, shelf, CASE WHEN id % 2 = 0 THEN name ELSE CAST(random() AS TEXT) END AS name FROM part WHERE shelf = :shelf")
        let device = try Self.device(server)
        for number in 0..<2 {
            try server.backEnd { try $0.execute("UPDATE part SET name = 'even \(number)' WHERE id = 8") }
            #expect(try device.synchronize().upserts == ["Part": 3001])
            #expect(device.rows("Part", by: "id")[8]?["name"] == .string("even \(number)"))
        }
    }

    // MARK: Marks

    @Test("a long mark is apart from the partition's row; one that is damaged or lost means a comparison of all rows", arguments: ways)
    func damagedMark(way: (BackEndKind, BackEndBinding.ChangeDetection)) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)), server = try Self.parts(way.0, way.1) { $0.clock = { clock.milliseconds } }
        let device = try Self.device(server)
        let lengths = try server.state {
            try $0.rows("SELECT length(p.mark), length(m.content) FROM _partition AS p JOIN _mark AS m ON m.partition = p.id")
        }
        #expect(lengths.count == 1 && lengths[0][0].integer ?? 0 < 200 && 512..<65_000 ~= lengths[0][1].integer ?? 0)
        for damage in ["UPDATE _mark SET content = replace(content, 'A', 'B')", "UPDATE _mark SET content = 'x'", "DELETE FROM _mark"] {
            let compared = try Self.comparisons(server)
            clock.advance(by: .seconds(60))
            try server.state { connection in _ = try connection.execute(damage) }
            try server.backEnd { try $0.execute("UPDATE part SET name = name || '!', v = v + 50000 WHERE id = 7") }
            #expect(try device.synchronize().upserts == ["Part": 1])
            #expect(try Self.comparisons(server) != compared, "\(damage)")
        }
        for text in ["", "{}", "[]", "x", #"{"name": "1", "seed": "00", "rows": "", "keys": ""}"#] {
            #expect(DigestMark(text: text) == nil && VersionMark(text: text) == nil)
        }
    }

    @Test("a change that got no new version is found after a day", arguments: BackEndKind.allCases)
    func comparison(kind: BackEndKind) throws {
        let clock = VirtualClock(start: .seconds(1_800_000_000)),
            server = try Self.parts(kind, .versionColumn("v")) { $0.clock = { clock.milliseconds } }
        let device = try Self.device(server)
        try Self.confirmVersions(device)
        try server.backEnd { try $0.execute("UPDATE part SET name = 'unseen' WHERE id = 2") }
        #expect(try device.synchronize().upserts == [:])
        clock.advance(by: .seconds(86_400))
        #expect(try device.synchronize().upserts == ["Part": 1])
    }

    // MARK: Versions

    @Test("a transaction that took its version early and commits late is not missed", .needsPostgreSQL)
    func lateCommit() throws {
        let server = try Self.parts(.postgreSQL, .versionColumn("v")), device = try Self.device(server)
        let database = try #require(server.backEndDatabase), early = try database.connect(), late = try database.connect()
        var version = 20_000
        func commitLate(_ name: String) throws {
            version += 1
            try late.run(script: "UPDATE part SET name = '\(name)', v = \(version) WHERE id = 2")
            #expect(try device.synchronize().upserts == ["Part": 1], "\(name)")
        }
        for round in 0..<3 {
            for look in 0..<3 { try commitLate("before \(round) \(look)") }
            version += 1
            try early.run(script: "BEGIN; UPDATE part SET name = 'early \(round)', v = \(version) WHERE id = 1")
            for look in 0..<4 { try commitLate("meanwhile \(round) \(look)") }
            try early.run(script: "COMMIT")
            #expect(try device.synchronize().upserts == ["Part": 1], "round \(round)")
        }
    }

    @Test func `a version is confirmed one look later, when every transaction of that look has ended`() {
        let progress = VersionProgress().next(seen: 5, VersionSnapshot(life: "", running: 100..<120))
        #expect(progress == VersionProgress(seen: 5))
        let second = progress.next(seen: 7, VersionSnapshot(life: "", running: 118..<130))
        #expect(second == VersionProgress(candidate: 5, end: 130, seen: 7))
        let waiting = second.next(seen: 9, VersionSnapshot(life: "", running: 129..<140))
        #expect(waiting == VersionProgress(candidate: 5, end: 130, seen: 9))
        let third = waiting.next(seen: 9, VersionSnapshot(life: "", running: 130..<150))
        #expect(third == VersionProgress(confirmed: 5, candidate: 9, end: 150, seen: 9))
        #expect(third.next(seen: nil, VersionSnapshot(life: "", running: 160..<160)) == VersionProgress(confirmed: 9, end: 150, seen: 9))
        #expect(progress.next(seen: 8, VersionSnapshot(life: "", running: nil)) == VersionProgress(confirmed: 8, seen: 8))
    }

    @Test("a version column must be in the load or the table, and have an order", arguments: BackEndKind.allCases)
    func refusals(kind: BackEndKind) throws {
        #expect(#expect(throws: ServerError.self) { try Self.parts(kind, .versionColumn("w")) }?.message.contains("version column \"w\"") == true)
        let narrow = try Self.parts(kind, .versionColumn("V"), load: "SELECT id, shelf, name FROM part WHERE shelf = :shelf")
        let device = try Self.device(narrow)
        try narrow.backEnd { try $0.execute("UPDATE part SET name = 'joined', v = 20000 WHERE id = 1") }
        #expect(try device.synchronize().upserts == ["Part": 1])
        guard kind == .postgreSQL else { return }
        #expect(#expect(throws: ServerError.self) { try Self.parts(kind, .versionColumn("label")) }?.code == .missingColumn)
    }

    // MARK: Buckets

    @Test("the server finds the bucket of each key as its back end does", arguments: BackEndKind.allCases)
    func buckets(kind: BackEndKind) throws {
        let server = try ChangeWay.digest.server(kind)
        try server.backEnd { backEnd in
            for number in [4, 63, 64, 5000, 9_007_199_254_740_993] {
                try backEnd.execute(#"INSERT INTO "the customers" ("customer no", name, region) VALUES (\#(number), 'x', 'NORTH')"#)
            }
            if kind == .postgreSQL { return }
            try backEnd.execute(#"INSERT INTO "the customers" ("customer no", name, region) VALUES (-70, 'x', 'NORTH')"#)
        }
        let system = try #require(server.server.packages[0].deployed.backEnds["enterprise"]?.system as? SQLBackEnd)
        let seed = Array(UInt8(0)..<16)
        for name in ["Customer", "Line"] {
            let plan = try #require(server.server.packages[0].deployed.object(named: name)), object = try system.object(plan.model)
            try system.engine.read { connection in
                let query = BucketQuery(object, ["region": "NORTH"]), bucket = connection.buckets.bucket(seed: seed)
                let keys = try connection.buckets.keys(of: query, in: nil, seed: seed, limit: 100)
                #expect(keys.count == (name == "Line" ? 3 : kind == .sqlite ? 8 : 7))
                for value in keys {
                    var sums = BucketSums()
                    sums.rows[bucket(try #require(RowKey(value, of: plan)))] = 1
                    let set = BucketSet(sums.rows, differentFrom: BucketSums().rows)
                    let found = try connection.buckets.keys(of: query, in: set, seed: seed, limit: 100)
                    #expect(found.contains(value) && found.count < keys.count, "\(name) \(value)")
                }
            }
        }
    }

    @Test func `sums of joined buckets are those of their parts, and texts of sums come back`() throws {
        var sums = BucketSums()
        for index in sums.rows.indices { sums.rows[index] = .max - UInt64(index) }
        sums.count = 5000
        #expect(sums.bucketCount(ChangeRules()) == 96 && sums.bucketCount(ChangeRules(rowsPerBucket: 0)) == 3072)
        let joined = BucketSums.joined(sums.rows, to: 96)
        #expect(joined.count == 96 && joined[1] == stride(from: 1, to: 3072, by: 96).reduce(0) { $0 &+ sums.rows[$1] })
        #expect(BucketSums.sums(BucketSums.text(joined)) == joined)
        #expect(BucketSums.sums("AAAA") == nil && BucketSums.sums(BucketSums.text(Array(joined.dropLast()))) == nil)
        #expect(BucketSums.text(sums.rows).utf8.count == 32_768)
        var other = sums
        other.rows[40] &+= 1
        let set = BucketSet(BucketSums.joined(other.rows, to: 96), differentFrom: joined)
        #expect(set.count == 1 && (0..<3072).filter(set.contains) == Array(stride(from: 40, to: 3072, by: 96)))
    }
}
