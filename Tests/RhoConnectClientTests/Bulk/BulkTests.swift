import Foundation
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct BulkTests {
    static let place = "POST /rc/v1/app/bulk_data"
    static let url = #"{"result":"url","url":"/data/application/kim/kim_1795000000.data"}"#

    static func serve(_ archive: [UInt8], on bench: Bench, waits: Int = 0) {
        for _ in 0..<waits { bench.server.answer(place, .json(#"{"result":"wait"}"#)) }
        bench.server.answer(place, .json(url))
        bench.server.answer(
            "GET /data/application/kim/kim_1795000000.data.rzip", .init(headers: [("X-File", "1")], contentType: "text/plain", body: archive))
    }

    @Test("RC-160: a bulk synchronization reports its stages in their order, then the incremental one follows")
    func stages() async throws {
        let shared = RhomModel("Shared", partition: .app)
        let bench = try Bench(others: [shared])
        bench.server.answer(Self.place, .json(#"{"result":"wait"}"#))
        bench.server.answer(Self.place, .json(Self.url))
        bench.server.answer(Self.place, .json(#"{"result":"nop"}"#))
        let archive = try BulkFiles.archive(bench.directory, sources: [("Item", "incremental")], values: [(1, "77", "title", "Saw")])
        bench.server.answer("GET /data/application/kim/kim_1795000000.data.rzip", .init(headers: [("X-File", "1")], body: archive))
        try bench.client.setBulkSyncState(.notSynchronized)
        let notes = await bench.client.notifications()
        let stages = notes.filter { $0.syncType == .bulk }.map {
            "\($0.partition?.rawValue ?? ""):\($0.bulkStatus?.rawValue ?? ""):\($0.status?.rawValue ?? "")"
        }
        #expect(
            stages == [
                ":start:in_progress", "user:start:in_progress", "user:download:in_progress", "user:change_db:in_progress", "user:ok:in_progress",
                "app:start:in_progress", "app:ok:ok", ":blobs:in_progress", ":complete:ok",
            ])
        #expect(notes.filter { $0.syncType == .incremental }.words == ["Item:ok", "Shared:ok", "complete"])
        #expect(try bench.client.bulkSyncState() == .done)
        #expect(try await bench.item.findAll().map(\.attributes) == [["title": "Saw"]])
        let bodies = bench.server.requests.filter { $0.path == "/rc/v1/app/bulk_data" }.compactMap(\.json)
        #expect(
            bodies == [
                ["partition": "user", "sources": ["Item"]], ["partition": "user", "sources": ["Item"]], ["partition": "app", "sources": ["Shared"]],
            ] as [JSONValue])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).filter { $0.contains("-bulk-") } == [])
        bench.check()
    }

    @Test("RC-141: sources are mapped by their names, and one that the file has as not selected keeps its objects and stays enabled")
    func mapping() throws {
        let other = RhomModel("Other")
        let bench = try Bench(others: [other])
        bench.server.add("Item", #"{"insert":{"old":{"a":"x"}}}"#, token: "1")
        bench.server.add("Other", #"{"insert":{"kept":{"a":"x"}}}"#, token: "1")
        bench.client.syncAll()
        let archive = try BulkFiles.archive(
            bench.directory, sources: [("Unknown", "incremental"), ("Other", "none"), ("Item", "incremental")],
            values: [(3, "77", "title", "Saw"), (1, "u", "a", "b"), (2, "o", "a", "b")])
        Self.serve(archive, on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        bench.server.forgetRequests()
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.findAll().map { $0["object"] } == ["77"])
        #expect(try other.findAll().map { $0["object"] } == ["kept"])
        #expect(bench.server.queries.map(\.source) == ["Item", "Other"])
        #expect(try bench.value("SELECT count(*) FROM object_values WHERE source_id NOT IN (1, 2)") == 0)
    }

    @Test("RC-142: local changes that were not sent survive, and are visible in the data")
    func localChanges() throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"},"2":{"a":"x"},"3":{"a":"x"}}}"#, token: "1", count: 3)
        bench.client.syncAll()
        let id = try bench.item.create(["title": "New"])
        try bench.item.save(["object": "1", "a": "mine"])
        try bench.item.destroy(["object": "2"])
        let archive = try BulkFiles.archive(
            bench.directory, sources: [("Item", "incremental")], values: [(1, "1", "a", "server"), (1, "2", "a", "server"), (1, "3", "a", "server")])
        Self.serve(archive, on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        bench.server.forgetRequests()
        bench.client.syncAll()
        #expect(
            try Set(bench.item.findAll().map { ($0["object"] ?? "") + ($0["a"] ?? "") + ($0["title"] ?? "") }) == ["1mine", id + "New", "3server"])
        #expect(
            try bench.upload(0) == [
                "source_name": "Item", "client_id": "client1", "create": [id: ["title": "New"]], "update": ["1": ["a": "mine"]],
                "delete": ["2": ["a": "x"]],
            ] as JSONValue)
    }

    @Test("RC-143 RC-144: files of unsent changes survive, and attributes with the suffix of files are renamed and downloaded")
    func blobs() throws {
        var options = RhomModel.Options()
        options.blobAttributes = ["photo": .keeps]
        let bench = try Bench(item: RhomModel("Item", options: options))
        let file = try bench.directory.write([1, 2, 3], to: "store.db-files/mine.png")
        let id = try bench.item.create(["photo": "mine.png"])
        bench.server.answer("GET /files/a.png", .init(headers: [("X", "1")], body: [9, 9]))
        let archive = try BulkFiles.archive(
            bench.directory, sources: [("Item", "incremental")],
            values: [(1, "1", "photo-rhoblob", bench.server.root + "/files/a.png"), (1, "1", "title", "Saw")])
        Self.serve(archive, on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.find(id)?["photo"] == "mine.png")
        #expect([UInt8](try Data(contentsOf: URL(filePath: file))) == [1, 2, 3])
        let object = try #require(try bench.item.find("1"))
        #expect(Set(object.attributes.keys) == ["photo", "title"])
        #expect(try BlobTests.file(object["photo"], bench) == [9, 9])
    }

    @Test(
        "RC-145: a failed file leaves the data and the state as they were; failed downloads of attributes continue there",
        arguments: [
            "status", "garbage", "truncated", "two entries", "trigger", "view", "virtual table", "virtual table in other words", "columns", "bytes",
            "no UTF-8", "no UTF-8 in an id", "page", "computed", "no row ids", "no database",
        ])
    func failures(kind: String) async throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"}}}"#, token: "1")
        await bench.client.syncAll()
        let good = try BulkFiles.archive(bench.directory, sources: [("Item", "incremental")], values: [(1, "2", "a", "y")])
        let values = [(1, "2", "a", "y")], sources = [("Item", "incremental")]
        func archive(_ extra: String...) throws -> [UInt8] { try BulkFiles.archive(bench.directory, sources: sources, values: values, extra: extra) }
        let bad: [UInt8] =
            switch kind {
            case "status": []
            case "garbage": patternBytes(5000)
            case "truncated": Array(good.prefix(good.count - 30))
            case "trigger": try archive("CREATE TRIGGER t AFTER INSERT ON object_values BEGIN DELETE FROM sources; END")
            case "view":
                try archive(
                    "ALTER TABLE object_values RENAME TO hidden", "CREATE VIEW object_values AS SELECT source_id, attrib, object, value FROM hidden")
            case "virtual table": try archive("CREATE VIRTUAL TABLE more USING fts5(a)")
            case "virtual table in other words":
                // SQLite reads it as before; it only writes it in the usual words.
                try BulkFiles.archive(
                    bench.directory, sources: sources, values: values, extra: ["CREATE VIRTUAL TABLE more USING fts5(a)"],
                    replacing: ("VIRTUAL TABLE more", "VIRTUAL\tTABLE more"))
            case "columns": try archive("ALTER TABLE object_values ADD COLUMN more TEXT")
            case "computed":
                try archive("DROP TABLE object_values", "CREATE TABLE object_values (source_id, attrib, object, value AS (attrib || 'x'))")
            case "no row ids":
                try archive(
                    "DROP TABLE object_values",
                    "CREATE TABLE object_values (source_id, attrib, object, value, PRIMARY KEY (object, attrib)) WITHOUT ROWID")
            case "bytes": try archive("UPDATE object_values SET value = x'00FF'")
            case "no UTF-8": try archive("UPDATE object_values SET value = CAST(x'61FF' AS TEXT)")
            case "no UTF-8 in an id": try archive("UPDATE object_values SET object = CAST(x'C0AF' AS TEXT)")
            case "page": try BulkFiles.zip(Self.damaged(bench), name: "a.data")
            case "two entries": try Self.twoEntries
            default: try BulkFiles.zip(patternBytes(9000), name: "a.data")
            }
        bench.server.answer(Self.place, .json(Self.url))
        let answer: StrictServer.Answer = kind == "status" ? .text(404, "gone") : .init(headers: [("X", "1")], body: bad)
        bench.server.answer("GET /data/application/kim/kim_1795000000.data.rzip", answer)
        bench.server.answer("GET /data/application/kim/kim_1795000000.data.rzip", .init(headers: [("X", "1")], body: good))
        try bench.client.setBulkSyncState(.notSynchronized)
        let notes = await bench.client.notifications()
        let last = try #require(notes.last)
        #expect(last.status == .error && last.syncType == .bulk && last.bulkStatus == nil)
        #expect(last.errorCode == (kind == "status" ? .remoteServer : .unexpectedServerResponse), "\(last)")
        if kind.hasPrefix("virtual") { #expect(last.errorMessage.hasSuffix("has a virtual table \"more\"; only tables and indexes are expected")) }
        if kind == "bytes" { #expect(last.errorMessage.hasSuffix(": bytes where a text is expected")) }
        if kind.hasPrefix("no UTF-8") { #expect(last.errorMessage.hasSuffix(": a text that is not UTF-8")) }
        #expect(try await bench.item.findAll().map { $0["object"] } == ["1"])
        #expect(try bench.client.bulkSyncState() == .notSynchronized)
        #expect(await bench.client.syncAll().errorCode == .none)
        #expect(try await bench.item.findAll().map { $0["object"] } == ["2"])
    }

    @Test("RC-145: when a file of an attribute cannot be downloaded, the next synchronization continues with the files")
    func blobStage() async throws {
        let bench = try Bench()
        bench.server.answer("GET /files/a.png", .text(500, "busy"))
        bench.server.answer("GET /files/a.png", .init(headers: [("X", "1")], body: [9]))
        Self.serve(
            try BulkFiles.archive(
                bench.directory, sources: [("Item", "incremental")], values: [(1, "1", "p-rhoblob", bench.server.root + "/files/a.png")]), on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        let notes = await bench.client.notifications()
        #expect(notes.last?.status == .inProgress && notes.last?.bulkStatus == .error && notes.last?.errorCode == .unexpectedServerResponse)
        #expect(try bench.client.bulkSyncState() == .loadingBlobs)
        bench.server.forgetRequests()
        #expect(await bench.client.syncAll().errorCode == .none)
        #expect(!bench.server.requests.contains { $0.path == "/rc/v1/app/bulk_data" })
        #expect(try bench.client.bulkSyncState() == .done)
    }

    @Test(
        "RC-146: an empty address, and waiting without end, are errors",
        arguments: [#"{"result":"url","url":""}"#, #"{"result":"wait"}"#, #"{"result":"later"}"#, "Unknown"])
    func noFile(answer: String) throws {
        let bench = try Bench { $0.bulkAttempts = 3 }
        bench.server.answer(Self.place, .json(answer))
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .unexpectedServerResponse)
        #expect(try bench.client.bulkSyncState() == .notSynchronized)
        #expect(bench.server.queries.isEmpty)
    }

    @Test("a page that the server may send again is received before the file is requested, whose data is newer")
    func pageBeforeFile() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        let page = StrictServer.Answer.json(StrictServer.page(#"{"insert":{"1":{"a":"old"}}}"#, token: "11", count: 1))
        // The server's rule: the pending page comes until it is acknowledged.
        bench.server.onRequest { request in request.isQuery ? request.query["token"] == "11" ? .json(StrictServer.page()) : page : nil }
        Self.serve(try BulkFiles.archive(bench.directory, sources: [("Item", "incremental")], values: [(1, "1", "a", "new")]), on: bench)
        transport.setFate { $0.url.contains("/app/v1/") ? .loseAnswer : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.find("1")?["a"] == "new")
    }

    @Test func `fixed schemas are loaded from their own tables`() throws {
        let fixed = RhomModel("Fixed", modelType: .fixedSchema(RhomSchema(version: "1", "title", "price")))
        let bench = try Bench(item: fixed)
        let table = #"CREATE TABLE "Fixed" (object varchar(255) PRIMARY KEY, "title" varchar, "price" varchar)"#
        Self.serve(
            try BulkFiles.archive(
                bench.directory, sources: [("Fixed", "incremental")],
                extra: [table, "INSERT INTO Fixed VALUES ('1', 'Saw', NULL), ('2', NULL, NULL), ('3', 'Axe', 9)"]), on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try fixed.findAll().map(\.attributes) == [["title": "Saw"], ["title": "Axe", "price": "9"]])
    }

    @Test func `fixed schemas may have more columns than a function has arguments`() throws {
        let columns = (0..<200).map { "c\($0)" }
        let fixed = RhomModel("Fixed", modelType: .fixedSchema(RhomSchema(version: "1", properties: columns.map { .init($0) })))
        let bench = try Bench(item: fixed)
        let table = "CREATE TABLE Fixed (object PRIMARY KEY, \(columns.joined(separator: ", ")))"
        Self.serve(
            try BulkFiles.archive(
                bench.directory, sources: [("Fixed", "incremental")], extra: [table, "INSERT INTO Fixed (object, c0, c199) VALUES ('1', 'a', 'b')"]),
            on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try fixed.findAll().map(\.attributes) == [["c0": "a", "c199": "b"]])
    }

    @Test(arguments: [false, true])
    func `reserved names, empty ids and missing values of a file are left out`(isLarge: Bool) throws {
        let bench = try Bench()
        let rows = isLarge ? (10_000..<16_000).map { (1, String($0), "a", "x") } : []
        Self.serve(
            try BulkFiles.archive(
                bench.directory, sources: [("Item", "incremental")],
                values: rows + [(1, "2", "a", "x"), (1, "2", "attrib_type", "x"), (1, "", "a", "x")],
                extra: ["INSERT INTO object_values VALUES (1, 'a', '3', NULL), (1, NULL, '4', 'x'), (1, 'a', NULL, 'x'), (NULL, 'a', '5', 'x')"]),
            on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.count() == rows.count + 1)
        #expect(try bench.item.find("2")?.attributes == ["a": "x"])
        #expect(try bench.value("SELECT count(*) FROM object_values WHERE object = '' OR attrib = 'attrib_type'") == 0)
    }

    @Test(arguments: [Int64.max, Int64.max - 1, 5000, -3])
    func `row ids of any size are the server's affair`(last: Int64) throws {
        let bench = try Bench()
        Self.serve(
            try BulkFiles.archive(
                bench.directory, sources: [("Item", "incremental")], values: [(1, "2", "a", "x")],
                extra: ["INSERT INTO object_values (rowid, source_id, object, attrib, value) VALUES (\(last), 1, '1', 'a', 'y')"]), on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.findAll().map { $0["a"] } == ["y", "x"])
    }

    @Test func `bulk-only models are loaded, and not queried`() throws {
        let bulk = RhomModel("Bulk", syncType: .bulkOnly)
        let bench = try Bench(others: [bulk])
        Self.serve(try BulkFiles.archive(bench.directory, sources: [("Bulk", "bulk_sync_only")], values: [(1, "1", "a", "b")]), on: bench)
        try bench.client.setBulkSyncState(.notSynchronized)
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bulk.count() == 1)
        #expect(bench.server.queries.map(\.source) == ["Item"])
    }

    /// A database with a page of other bytes in its middle.
    static func damaged(_ bench: Bench) throws -> [UInt8] {
        let path = bench.directory.file("damaged.data")
        let store = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try store.write { connection in
            for statement in BulkFiles.schema { try connection.execute(statement) }
            try connection.execute("INSERT INTO sources (source_id, name, sync_type) VALUES (1, 'Item', 'incremental')")
            for number in 0..<500 {
                try connection.execute(
                    "INSERT INTO object_values VALUES (1, 'a', ?1, ?2)", [.text("o\(number)"), .text(String(repeating: "v", count: 100))])
            }
        }
        try store.close()
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        for place in 4096 * 10..<4096 * 11 { bytes[place] = 0x5A }
        return bytes
    }

    static var twoEntries: [UInt8] {
        get throws {
            final class Collected { var bytes: [UInt8] = [] }
            let archive = Collected()
            let writer = try ZipWriter { archive.bytes += $0.withUnsafeBytes { Array($0) } }
            for name in ["a", "b"] {
                try writer.begin(name)
                try writer.end()
            }
            try writer.finish()
            return archive.bytes
        }
    }
}
