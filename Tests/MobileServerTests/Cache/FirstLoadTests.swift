import Foundation
import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// First loads of partitions, whose rows are written and whose segments are made while they are loaded.
@Suite struct FirstLoadTests {
    private static let segments = SegmentRules(leastRows: 2), rules = RefreshRules(rowsInBlock: 2)

    private static func depot(hasLog: Bool = true, hasSnapshots: Bool = true) -> Depot {
        let depot = Depot(hasLog: hasLog, hasSnapshots: hasSnapshots)
        for number: Int64 in 1...6 { depot.set(number, .init(name: "article \(number)", shelves: "A")) }
        return depot
    }

    private static func servers(_ depot: Depot, _ engine: StateStoreTests.Engine) throws -> DepotServers {
        try DepotServers(depot, engine, rules: [rules], segments: segments)
    }

    /// Whether a shelf counts as loaded.
    private static func isLoaded(_ shelf: Character, _ servers: DepotServers) throws -> Bool {
        try servers.store.read { try $0.exists("SELECT 1 FROM _partition WHERE parameters = ?1 AND is_loaded = 1", [.text("[\"\(shelf)\"]")]) }
    }

    @Test func `the base of a partition is there after its first load, and serves its first device`() throws {
        let server = try SegmentDeliveryTests.server()
        let north = PartitionParameters(object: "Customer", values: [.text("NORTH")], text: "[\"NORTH\"]")
        _ = try server.server.packages[0].refresher.refresh([north])
        func count(_ table: String) throws -> Int64 { try server.state { try $0.number("SELECT count(*) FROM \(table)") } }
        let made = try count("_segment")
        #expect(try count("_segment_run") == 1 && made > 3)
        let device = try TestDevice(server)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        let answer = try device.synchronize()
        #expect(answer.segments.count == Int(made) && answer.segments.reduce(0) { $0 + $1.rows } == 400 && answer.refused.isEmpty)
        let names = try server.backEnd { try $0.rows("SELECT name FROM \"the customers\" WHERE region = 'NORTH'").compactMap { $0[0].text } }
        #expect(Set(device.rows("Customer", by: "name").keys) == Set(names.map { .string($0) }) && device.rows["Customer"]?.count == 400)
        #expect(try count("_segment") == made && count("_segment_run") == 1)
        // Each row is in the segments under the key that it has in the store.
        let keys = try server.state {
            try $0.rows("SELECT sk FROM _row WHERE partition = (SELECT partition FROM _segment_run)").compactMap { $0[0].integer }
        }
        #expect(Set(device.rows["Customer"]?.keys.map { $0 } ?? []) == Set(keys))
    }

    @Test("the segments of a first load have its rows as they travel, with the keys of their parents", arguments: StateStoreTests.Engine.available)
    func sameRows(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(), servers = try Self.servers(depot, engine)
        // The parent of 6 is 3, of another block; that of 1 is 0, which is nowhere.
        try servers.refresh("A")
        let contents = try servers.store.read { try $0.rows("SELECT content FROM _segment ORDER BY number") }
        var texts: [String] = []
        for content in contents {
            guard case .blob(let bytes) = content[0] else { continue }
            texts += try Inflated.rows(bytes, columns: ["_sk", "number", "name", "parent", "above"]).map { JSONValue.array($0).description }
        }
        #expect(try texts == servers.store.read { try $0.texts("SELECT body FROM _row ORDER BY sk") } && texts.count == 6)
        let rows = try servers.rows("A")
        for (number, row) in rows { #expect(try row.parent == servers.key(of: number / 2), "the parent of \(number)") }
    }

    @Test(
        "rows of a load that broke off reach nobody, and the next load takes them over", arguments: StateStoreTests.Engine.available, [true, false])
    func brokenOff(engine: StateStoreTests.Engine, hasLog: Bool) throws {
        let depot = Self.depot(hasLog: hasLog), servers = try Self.servers(depot, engine)
        depot.breaksBefore.withLock { $0 = 6 }
        #expect(throws: (any Error).self) { try servers.refresh("A") }
        #expect(try !Self.isLoaded("A", servers) && servers.key(of: 1) != nil)
        #expect(try servers.store.read { try $0.number("SELECT count(*) FROM _segment") } == 0)
        let former = try servers.key(of: 1)
        depot.breaksBefore.withLock { $0 = nil }
        // One row is another one by now, one is gone, and one is new.
        depot.set(2, .init(name: "changed", shelves: "A"))
        depot.set(3, nil)
        depot.set(7, .init(name: "new", shelves: "A"))
        try servers.refresh("A")
        let rows = try servers.rows("A")
        #expect(try Self.isLoaded("A", servers) && rows.keys.sorted() == [1, 2, 4, 5, 6, 7])
        #expect(rows[1]?.key == former && rows[2]?.name == "changed" && rows[7]?.name == "new")
        #expect(try servers.version("A") == 1)
    }

    /// SQLite keeps the first rows of a statement that fails so: they go with their transaction.
    @Test func `a block that fails in the middle of a statement leaves nothing, and the next load takes over the blocks before it`() throws {
        let servers = try Self.servers(Self.depot(), .sqlite)
        func count(_ table: String) throws -> Int64 { try servers.store.read { try $0.number("SELECT count(*) FROM \(table)") } }
        let next = try servers.store.read { try $0.number("SELECT coalesce(max(next), 1) FROM _counter") }
        // The second key of the second block: the first one has two rows, and a parent that is nowhere.
        _ = try servers.store.write(label: "test") {
            try $0.execute(
                """
                INSERT INTO _key (object, k, sk)
                SELECT space, 'of nobody', ?1 FROM _key_space AS s JOIN _object AS o ON o.id = s.object WHERE name = 'Article'
                """, [.integer(next + 4)])
        }
        #expect(throws: (any Error).self) { try servers.refresh("A") }
        #expect(try !Self.isLoaded("A", servers) && count("_key") == 4 && count("_row") == 2 && count("_segment") == 0)
        let former = try servers.key(of: 1)
        try servers.store.write(label: "test") { _ = try $0.execute("DELETE FROM _key WHERE k = 'of nobody'") }
        try servers.refresh("A")
        let rows = try servers.rows("A")
        #expect(try Self.isLoaded("A", servers) && rows.keys.sorted() == [1, 2, 3, 4, 5, 6] && rows[1]?.key == former && count("_key") == 7)
    }

    @Test("a device that gets the key of a row meanwhile keeps it", arguments: StateStoreTests.Engine.available)
    func keyedDuringLoad(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(), servers = try Self.servers(depot, engine), store = servers.store
        // In the snapshot there is another row 4: it was removed since, and a device has created one with the same number.
        depot.willLoad.withLock { hook in
            hook = { _ in
                depot.willLoad.withLock { $0 = nil }
                depot.set(4, nil)
                depot.create(4, .init(name: "created", shelves: "A"), key: 77)
                let package = servers.servers[0].packages[0]
                do {
                    let backEnd = try #require(package.deployed.backEnds["depot"])
                    try KeyMap(package: package.deployed, cache: package.cache).catchUp(with: backEnd, store)
                } catch { Issue.record(error) }
            }
        }
        try servers.refresh("A")
        try servers.refresh("A")
        let rows = try servers.rows("A")
        #expect(rows.count == 6 && rows[4]?.key == 77 && rows[4]?.name == "created")
        for (number, row) in rows { #expect(try row.parent == servers.key(of: number / 2), "the parent of \(number)") }
        #expect(try store.read { try $0.number("SELECT count(*) FROM _key WHERE CAST(k AS TEXT) = '4'") } == 1)
    }

    @Test("a row that a device creates during the first load keeps the device's key", arguments: StateStoreTests.Engine.available)
    func createdDuringLoad(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasSnapshots: false), servers = try Self.servers(depot, engine)
        depot.willLoad.withLock { $0 = { _ in depot.create(4, .init(name: "created", shelves: "A"), key: 77) } }
        try servers.refresh("A")
        depot.willLoad.withLock { $0 = nil }
        let rows = try servers.rows("A")
        #expect(rows.count == 6 && rows[4]?.key == 77 && Set(rows.values.map(\.key)).count == 6)
        for (number, row) in rows { #expect(try row.parent == servers.key(of: number / 2), "the parent of \(number)") }
    }

    @Test(
        "rows that another partition has keep their keys, and a row that comes twice is held back alone", arguments: StateStoreTests.Engine.available,
        [5, 6])
    func knownRows(engine: StateStoreTests.Engine, doubled: Int64) throws {
        // Twice in one block, and in two.
        let depot = Self.depot(), servers = try Self.servers(depot, engine)
        depot.doubled.withLock { $0 = doubled }
        try servers.refresh("A")
        #expect(try Self.isLoaded("A", servers) && servers.rows("A").keys.sorted() == (1...6).filter { $0 != doubled })
        depot.doubled.withLock { $0 = nil }
        for number: Int64 in 4...6 { depot.set(number, .init(name: "on both", shelves: "AB")) }
        try servers.refresh("A")
        try servers.refresh("B")
        let first = try servers.rows("A")
        for (number, row) in try servers.rows("B") { #expect(row.key == first[number]?.key, "article \(number)") }
        #expect(try servers.rows("B").count == 3)
    }

    @Test("a base that is not completed leaves no segment, and a completed one is used", arguments: StateStoreTests.Engine.available)
    func unused(engine: StateStoreTests.Engine) throws {
        let servers = try DepotServers(Self.depot(), engine), store = servers.store
        try servers.refresh("A")
        let partition = try store.read { try $0.number("SELECT id FROM _partition") }
        var configuration = servers.servers[0].configuration
        configuration.segmentRules.textBytes = 100
        let need = SegmentNeed(partition: partition, shape: "test")
        for isCompleted in [false, true] {
            let files = SegmentFiles(configuration)
            let base = try #require(BaseDraft(need, stateStore: store, files: files, configuration: configuration))
            for number in 1...20 {
                try base.add { texts in
                    // The memory of former rows comes again.
                    texts.removeAll()
                    texts.add { $0 += Array("[\(number),\"some text of a row\"]".utf8) }
                }
            }
            base.finish()
            let names = try store.read { try $0.texts("SELECT name FROM _segment ORDER BY number") }
            // Their files are there before a device wants them.
            for name in names { #expect(files.isAtHand(name)) }
            let contents = try names.map {
                try Inflated.rows(Array(Data(contentsOf: URL(fileURLWithPath: files.path(of: $0)))), columns: ["_sk", "text"])
            }
            #expect(contents.flatMap(\.self).map { $0[0] } == (1...20).map { JSONValue.integer($0) })
            let made = try store.read { try $0.number("SELECT count(*) FROM _segment") }
            #expect(made > 3)
            if isCompleted { try store.write(label: "test") { try base.complete(1, rows: 20, in: $0) } }
            if !isCompleted { base.discard() }
            #expect(try store.read { try $0.number("SELECT count(*) FROM _segment") } == (isCompleted ? made : 0))
            let runs = try store.read { try SegmentDirectory(partition: partition, connection: $0).runs(shape: "test") }
            #expect(runs.map(\.rows) == (isCompleted ? [20] : []))
            for name in names { #expect(files.isAtHand(name) == isCompleted) }
        }
    }

    @Test("a run that is discarded leaves the files that another run has as well", arguments: StateStoreTests.Engine.available)
    func sharedFiles(engine: StateStoreTests.Engine) throws {
        let servers = try DepotServers(Self.depot(), engine), store = servers.store
        try servers.refresh("A")
        let partition = try store.read { try $0.number("SELECT id FROM _partition") }
        let configuration = servers.servers[0].configuration, files = SegmentFiles(configuration)
        func draft(_ shape: String, _ extra: String) throws -> BaseDraft {
            let base = try #require(
                BaseDraft(SegmentNeed(partition: partition, shape: shape), stateStore: store, files: files, configuration: configuration))
            try base.add { texts in
                texts.removeAll()
                texts.add { $0 += Array("[1,\"a row\"]".utf8) }
                if !extra.isEmpty { texts.add { $0 += Array(extra.utf8) } }
            }
            base.finish()
            return base
        }
        func names() throws -> Set<String> { Set(try store.read { try $0.texts("SELECT name FROM _segment") }) }
        let complete = try draft("a", "")
        try store.write(label: "test") { try complete.complete(1, rows: 1, in: $0) }
        let kept = try names(), same = try draft("b", ""), other = try draft("c", "[2,\"another row\"]"), added = try names().subtracting(kept)
        #expect(complete.isCompleted && kept.count == 1 && added.count == 1)
        for name in kept.union(added) { #expect(files.isAtHand(name)) }
        same.discard()
        other.discard()
        #expect(try names() == kept && !same.isCompleted)
        for name in kept { #expect(files.isAtHand(name) && FileManager.default.fileExists(atPath: files.path(of: name))) }
        for name in added { #expect(!files.isAtHand(name) && !FileManager.default.fileExists(atPath: files.path(of: name))) }
    }

    @Test func `a file without a request takes no other one's place, and none is written after the end`() throws {
        let servers = try DepotServers(Self.depot(), .sqlite), content = [UInt8](repeating: 7, count: 1000)
        var configuration = servers.servers[0].configuration
        let folder = try TemporaryDirectory()
        configuration.segmentDirectory = folder.file("segments")
        configuration.segmentCacheSize = 2500
        let files = SegmentFiles(configuration), names = (0..<4).map { String(repeating: "\($0)", count: 64) }
        for name in names { files.add(content, named: name) }
        #expect(names.map(files.isAtHand) == [true, true, false, false])
        files.remove([names[0]])
        files.add(content, named: names[3])
        #expect(names.map(files.isAtHand) == [false, true, false, true])
        files.remove(names)
        files.close()
        try FileManager.default.removeItem(atPath: folder.file("segments"))
        files.add(content, named: names[0])
        #expect(!files.isAtHand(names[0]) && !FileManager.default.fileExists(atPath: folder.file("segments")))
    }

    @Test func `a load whose files find no place is complete, and its devices are served once there is one`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("segments")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("no folder".utf8)))
        let server = try Self.words(.sqlite, (0..<50).map { ("word \($0)", nil) }) {
            $0.segmentDirectory = path
            $0.segmentRules = SegmentRules(leastRows: 2)
            $0.refreshRules = RefreshRules(rowsInBlock: 7)
        }
        let device = try TestDevice(server)
        _ = try? device.synchronize()
        #expect(try server.state { try $0.number("SELECT row_count FROM _segment_run") } == 50)
        #expect(try server.state { try $0.number("SELECT count(*) FROM _partition WHERE is_loaded = 1") } == 1)
        try FileManager.default.removeItem(atPath: path)
        let second = try TestDevice(server, name: "second")
        try second.synchronize()
        #expect(second.rows["Word"]?.count == 50)
    }

    /// Words and their roots, which are words as well.
    private static func words(
        _ kind: BackEndKind, _ rows: [(word: String, root: String?)], adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> TestServer {
        let model = try PackageModel(
            json: """
                {
                  "format": 1, "name": "Words", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                  "objects": [{
                    "name": "Word",
                    "attributes": [
                      {"name": "word", "type": "string", "length": 40}, {"name": "rootWord", "type": "string", "length": 40, "nullable": true},
                      {"name": "count", "type": "int"}
                    ],
                    "primaryKey": ["word"],
                    "relationships": [{"name": "root", "target": "Word", "cardinality": "manyToOne", "mapping": {"rootWord": "word"}}],
                    "binding": {"backEnd": "enterprise", "table": "word"}}]
                }
                """)
        let table = "CREATE TABLE word (word TEXT PRIMARY KEY, \"rootWord\" TEXT, count INTEGER NOT NULL)"
        let server = try TestServer(model: model, tables: table, postgreSQL: table, on: kind, adjust: adjust)
        try server.backEnd { connection in
            for (index, row) in rows.enumerated() {
                _ = try connection.execute(
                    "INSERT INTO word (word, \"rootWord\", count) VALUES (?1, ?2, ?3)",
                    [.text(row.word), row.root.map { .text($0) } ?? .null, .integer(Int64(index))])
            }
        }
        return server
    }

    @Test("two keys that read alike are two rows and two parents, also when both change", arguments: BackEndKind.allCases)
    func alikeKeys(kind: BackEndKind) throws {
        let composed = "caf\u{E9}", decomposed = "cafe\u{301}"
        let others = (0..<200).map { (word: "word \($0)", root: String?.none) }
        let server = try Self.words(kind, [(composed, nil), (decomposed, nil), ("1", composed), ("2", decomposed), ("3", composed)] + others) {
            $0.changeRules = ChangeRules(leastRows: 1, rowsPerBucket: 1, changedPart: 4)
        }
        let device = try TestDevice(server)
        try device.synchronize()
        let keys = try server.state { try $0.rows("SELECT CAST(k AS TEXT), sk FROM _key", []) }.map {
            (Array(($0[0].text ?? "").utf8), $0[1].integer ?? 0)
        }
        #expect(keys.count == 205)
        func key(_ word: String) -> Int64? { keys.first { $0.0 == Array(KeyText(.text(word)).text.utf8) }?.1 }
        let bodies = try server.state { try $0.rows("SELECT sk, body FROM _row", []) }
        for (word, root) in [("1", composed), ("2", decomposed), ("3", composed)] {
            let body = try #require(bodies.first { $0[0].integer == key(word) }?[1].text)
            #expect(try JSONValue(parsing: Array(body.utf8)).array?.last?.integer == key(root) && key(root) != nil, "\(body)")
        }
        try server.backEnd { try $0.execute("UPDATE word SET count = 1000 WHERE word IN (?1, ?2)", [.text(composed), .text(decomposed)]) }
        #expect(try device.synchronize().upserts == ["Word": 2])
        try server.backEnd { try $0.execute("DELETE FROM word WHERE word IN (?1, ?2)", [.text(composed), .text(decomposed)]) }
        #expect(try device.synchronize().deletes == ["Word": 2])
    }

    @Test(
        "keys in any notation, and references with and without a parent, are the same in a first load and in a later comparison",
        arguments: BackEndKind.allCases)
    func keyNotations(kind: BackEndKind) throws {
        let words = ["plain-1", "n", "null", "", "a\"b", "a/b", "a\\b", "ü", "line\nfeed", "[1]", "{}", "1", "\u{1}", "'", "a b_c.d:e", "\u{7F}"]
        let server = try Self.words(kind, words.enumerated().map { ($1, $0 % 3 == 0 ? nil : words[($0 + 5) % words.count]) })
        let device = try TestDevice(server)
        try device.synchronize()
        func keys() throws -> [String: Int64] {
            Dictionary(
                uniqueKeysWithValues: try server.state {
                    try $0.rows("SELECT CAST(k AS TEXT), sk FROM _key", []).map { ($0[0].text ?? "", $0[1].integer ?? 0) }
                })
        }
        let first = try keys()
        #expect(Set(first.keys) == Set(words.map { KeyText(.text($0)).text }))
        let bodies = try server.state { try $0.rows("SELECT sk, body FROM _row ORDER BY sk", []).map { ($0[0].integer ?? 0, $0[1].text ?? "") } }
        for (key, body) in bodies {
            let row = try JSONValue(parsing: Array(body.utf8)), index = Int(row[3]?.integer ?? -1)
            #expect(first[KeyText(.text(words[index])).text] == key)
            let root = index % 3 == 0 ? nil : first[KeyText(.text(words[(index + 5) % words.count])).text]
            #expect(row[4]?.integer == root, "the root of \(words[index].debugDescription)")
        }
        try server.backEnd { try $0.execute("UPDATE word SET count = count + 100", []) }
        try device.synchronize()
        #expect(try keys() == first)
        #expect(try server.state { try $0.number("SELECT count(*) FROM _row WHERE deleted = 0") } == Int64(words.count))
    }
}
