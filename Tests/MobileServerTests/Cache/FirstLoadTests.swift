import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// First loads of partitions, whose rows get keys and whose segments are made while they are loaded.
@Suite struct FirstLoadTests {
    private static let rules = SegmentRules(leastRows: 2)

    private static func depot(hasSnapshots: Bool = true) -> Depot {
        let depot = Depot(hasSnapshots: hasSnapshots)
        for number: Int64 in 1...6 { depot.set(number, .init(name: "article \(number)", shelves: "A")) }
        return depot
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

    @Test("a row that a device creates during the first load keeps the device's key", arguments: StateStoreTests.Engine.available)
    func createdDuringLoad(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasSnapshots: false), servers = try DepotServers(depot, engine, segments: Self.rules)
        depot.willLoad.withLock { $0 = { _ in depot.create(4, .init(name: "created", shelves: "A"), key: 77) } }
        try servers.refresh("A")
        depot.willLoad.withLock { $0 = nil }
        let rows = try servers.rows("A")
        #expect(rows.count == 6 && rows[4]?.key == 77 && Set(rows.values.map(\.key)).count == 6)
        for (number, row) in rows { #expect(try row.parent == servers.key(of: number / 2), "the parent of \(number)") }
    }

    @Test("rows that another partition has keep their keys, and a row that comes twice is refused", arguments: StateStoreTests.Engine.available)
    func knownRows(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(), servers = try DepotServers(depot, engine, segments: Self.rules)
        depot.doubled.withLock { $0 = 5 }
        #expect(throws: ServerError.self) { try servers.refresh("A") }
        #expect(try servers.rows("A").isEmpty && servers.key(of: 1) == nil)
        depot.doubled.withLock { $0 = nil }
        try servers.refresh("A")
        for number: Int64 in 4...6 { depot.set(number, .init(name: "on both", shelves: "AB")) }
        try servers.refresh("B")
        let first = try servers.rows("A")
        for (number, row) in try servers.rows("B") { #expect(row.key == first[number]?.key, "article \(number)") }
        #expect(try servers.rows("B").count == 3)
    }

    @Test("keys that a restored counter does not know are not used", arguments: StateStoreTests.Engine.available)
    func restoredCounter(engine: StateStoreTests.Engine) throws {
        let depot = Self.depot(hasSnapshots: false), servers = try DepotServers(depot, engine, segments: Self.rules)
        let before = try servers.store.read { try PackageCache.nextKey(in: $0) }, store = servers.store
        // The record is read between the load and the write.
        depot.willLoad.withLock { $0 = { _ in depot.afterLoad.withLock { $0 = { Self.putBack(before, in: store) } } } }
        try servers.refresh("A")
        let rows = try servers.rows("A"), next = try servers.store.read { try PackageCache.nextKey(in: $0) }
        #expect(rows.count == 6 && rows.values.allSatisfy { (before..<next).contains($0.key) })
    }

    private static func putBack(_ next: Int64, in store: any StateStore) {
        do { try store.write(label: "test") { _ = try $0.execute("UPDATE _counter SET next = ?1", [.integer(next)]) } } catch { Issue.record(error) }
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
            let base = try #require(BaseDraft(need, stateStore: store, configuration: configuration))
            for number in 1...20 { base.add(Array("[\(number),\"some text of a row\"]".utf8), count: 1) }
            base.finish()
            let made = try store.read { try $0.number("SELECT count(*) FROM _segment") }
            #expect(made > 3)
            if isCompleted { try store.write(label: "test") { try base.complete(1, rows: 20, in: $0) } }
            base.end()
            #expect(try store.read { try $0.number("SELECT count(*) FROM _segment") } == (isCompleted ? made : 0))
            let runs = try store.read { try SegmentDirectory(partition: partition, connection: $0).runs(shape: "test") }
            #expect(runs.map(\.rows) == (isCompleted ? [20] : []))
        }
    }
}
