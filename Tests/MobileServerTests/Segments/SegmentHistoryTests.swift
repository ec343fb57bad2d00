import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Random histories of two partitions against a simple model: regardless of the segments that were made, merged and removed, a device that synchronizes has exactly
/// the rows of its partitions.
@Suite(.runsOnce) struct SegmentHistoryTests {
    @Test("1,500 random histories of rows, segments, tombstones and old tokens", arguments: 0..<3)
    func histories(part: Int) throws {
        let bench = try HistoryBench(.sqlite)
        var carried = 0, needed = 0, chains = 0, judged = 0
        for seed in 0..<500 {
            let history = try bench.run(seed: UInt64(part * 500 + seed), steps: 30)
            #expect(history.mistakes.isEmpty, "seed \(part * 500 + seed)")
            if !history.mistakes.isEmpty { return }
            (carried, needed) = (carried + history.carried, needed + history.needed)
            (chains, judged) = (chains + history.chains, judged + history.judged)
        }
        // The rule of use holds for each partition: it allows 1.3 times the rows.
        #expect(chains > 500 && judged > 100 && carried * 100 <= needed * 130, "\(chains) chains, \(judged) judged: \(carried) rows for \(needed)")
    }

    /// Makes grants with a secret of their own.
    static func grants() throws -> ContentGrants {
        let bench = try StateStoreTests.Bench(.sqlite)
        return try ContentGrants(bench.store, ServerConfiguration(cachePath: ""))
    }

    @Test("the same with the state in PostgreSQL", .needsPostgreSQL)
    func postgreSQL() throws {
        let bench = try HistoryBench(.postgreSQL)
        for seed in 0..<60 { #expect(try bench.run(seed: 10_000 + UInt64(seed), steps: 30).mistakes.isEmpty, "seed \(10_000 + seed)") }
    }
}

/// A store with two partitions of one object, and a database in which devices keep their rows.
private final class HistoryBench {
    private let store: StateStoreTests.Bench
    private let server: TestServer
    private let object: ObjectPlan
    private let backEnd: any BackEnd
    private let folder = try? TemporaryDirectory()
    private let devices: Database
    let grants: SessionGrants

    struct Result {
        var mistakes: [String] = []
        /// Rows that partitions with chains brought, and rows that had come or changed in them.
        var carried = 0, needed = 0
        /// The chains that devices got, and those under the rule of use.
        var chains = 0, judged = 0
    }

    private struct Rollback: Error { let result: Result }

    init(_ engine: StateStoreTests.Engine) throws {
        store = try StateStoreTests.Bench(engine)
        // For the plan of its object and for its folder alone; the state is that of `store`.
        server = try FieldSales.server()
        let package = server.server.packages[0].deployed
        object = try #require(package.object(named: "Order"))
        backEnd = package.backEnd(of: object).system
        devices = try Database(ConnectionProfile(path: server.folder.file("devices.db")))
        grants = SessionGrants(
            grants: try ContentGrants(store.store, ServerConfiguration(cachePath: "")),
            session: Accounts.Session(user: "ada", application: "crm", device: "phone"), package: "Field:2.0", client: "1")
        try devices.write { connection in
            for device in 0..<History.devices { try connection.execute("CREATE TABLE d\(device) (_sk INTEGER PRIMARY KEY, name TEXT)") }
        }
        try store.store.write(label: "test") { connection in
            _ = try connection.execute("INSERT INTO _partition (id, object, parameters) VALUES (1, 1, '[1]'), (2, 1, '[2]')")
        }
    }

    /// Runs one history in a transaction of each database, which leaves nothing.
    func run(seed: UInt64, steps: Int) throws -> Result {
        do {
            return try devices.write { device in
                try store.store.write(label: "test", isolation: .locks) { connection in
                    var history = History(seed: seed, connection, device, object, backEnd, grants)
                    for _ in 0..<steps { try history.step() }
                    throw Rollback(result: history.result)
                }
            }
        } catch let rollback as Rollback { return rollback.result }
    }

    /// One random history.
    private struct History {
        static let devices = 3
        private static let keys: ClosedRange<Int64> = 1...10

        /// The state of a device at some time: its rows, and its token.
        struct Saved {
            var rows: [Int64: String] = [:]
            var delivered: [Int64: Int64]?
        }

        private var random: SeededGenerator
        private let connection: any StateConnection
        private let device: Connection
        private let object: ObjectPlan
        private let backEnd: any BackEnd
        private let grants: SessionGrants
        private var rules = SegmentRules()
        /// The back end: the partitions of each row, and its text.
        private var truth: [Int64: (partitions: Set<Int64>, text: String)] = [:]
        private var saved: [[Saved]] = Array(repeating: [Saved()], count: devices)
        private var count = 0
        var result = Result()

        init(
            seed: UInt64, _ connection: any StateConnection, _ device: Connection, _ object: ObjectPlan, _ backEnd: any BackEnd,
            _ grants: SessionGrants
        ) {
            random = SeededGenerator(seed: seed)
            (self.connection, self.device, self.object, self.backEnd, self.grants) = (connection, device, object, backEnd, grants)
            rules.leastRows = Int64.random(in: 1...3, using: &random)
            rules.textBytes = Int.random(in: 10...60, using: &random)
            rules.mergedIncrements = 2
            rules.percentOfRows = Bool.random(using: &random) ? 130 : 100_000
        }

        private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

        mutating func step() throws {
            switch number(0...9) {
            case 0...3:
                for _ in 0..<number(1...4) { edit() }
                if number(0...1) == 0 { try refresh([1, 2].filter { _ in number(0...1) == 0 }) }
            case 4, 5: try makeRun()
            case 6: try loseRuns()
            default: try synchronize(number(0...Self.devices - 1))
            }
        }

        // MARK: The server

        private mutating func edit() {
            let key = Int64.random(in: Self.keys, using: &random)
            count += 1
            let partitions: [Set<Int64>] = [[1], [2], [1, 2]]
            switch (number(0...5), truth[key]) {
            case (0...1, _?): truth[key] = nil
            case (2...3, let row?): truth[key] = (partitions[number(0...2)], row.text)
            default: truth[key] = (truth[key]?.partitions ?? partitions[number(0...2)], "text \(count)")
            }
        }

        /// Brings partitions up to date with the truth, all changes of one under one version.
        private func refresh(_ partitions: [Int64]) throws {
            for partition in partitions {
                let version = try self.version(partition) + 1
                var changed = false
                let known = try connection.rows("SELECT sk, body FROM _row WHERE partition = ?1 AND deleted = 0", [.integer(partition)])
                let rows = Dictionary(uniqueKeysWithValues: known.map { ($0[0].integer ?? 0, $0[1].text ?? "") })
                for key in Self.keys {
                    let row = truth[key].flatMap { $0.partitions.contains(partition) ? "[\(key),\"\($0.text)\"]" : nil }
                    guard row != rows[key] else { continue }
                    changed = true
                    try connection.execute(
                        """
                        INSERT INTO _row (partition, sk, version, since, deleted, body) VALUES (?1, ?2, ?3, ?3, ?4, ?5)
                        ON CONFLICT (partition, sk) DO UPDATE SET version = excluded.version, deleted = excluded.deleted, body = excluded.body
                        """,
                        [.integer(partition), .integer(key), .integer(version), .integer(row == nil ? 1 : 0), .text(row ?? "")])
                }
                if changed { try connection.execute("UPDATE _partition SET version = ?2 WHERE id = ?1", [.integer(partition), .integer(version)]) }
            }
        }

        private func version(_ partition: Int64) throws -> Int64 {
            try connection.number("SELECT version FROM _partition WHERE id = ?1", [.integer(partition)])
        }

        /// Makes a run as the rules ask for it, or any other one that could have been made.
        private mutating func makeRun() throws {
            let partition = Int64(number(1...2)), need = SegmentNeed(partition: partition, shape: object.shape)
            let state = try #require(try PartitionState.find(partition, in: connection)), version = state.version
            let directory = SegmentDirectory(partition: partition, connection: connection)
            let runs = try directory.runs(shape: need.shape)
            var task = try SegmentTask(need, rules, in: connection)
            switch number(0...3) {
            case 0: task = SegmentTask(.base, since: SegmentRun.beginning, state)
            case 1:
                let since = runs.map(\.until).randomElement(using: &random) ?? Int64(number(0...Int(version)))
                if since < version { task = SegmentTask(.increment, since: since, state) }
            case 2:
                if let first = runs.filter({ !$0.isBase }).randomElement(using: &random), let second = runs.first(where: { $0.since == first.until })
                {
                    task = SegmentTask(.merge([first, second]), since: first.since, until: second.until, state)
                }
            default: break
            }
            guard let task else { return }
            count += 1
            let draft = try SegmentDraft(task, need, textBytes: rules.textBytes, in: connection)
            _ = try draft.store(0..<draft.builder.segments.count, run: Int64(count), now: Int64(count), need, in: connection)
            try draft.complete(run: Int64(count), now: Int64(count), need, in: connection)
        }

        /// Removes old runs, or tombstones.
        private mutating func loseRuns() throws {
            let partition = Int64(number(1...2))
            if number(0...1) == 0 {
                try SegmentDirectory(partition: partition, connection: connection).remove(retiredBefore: Int64(number(0...count + 1)))
            } else {
                try TombstoneHorizon.raise(partition, to: Int64(number(0...Int(version(partition)))), in: connection)
            }
        }

        // MARK: The devices

        private mutating func synchronize(_ number: Int) throws {
            let partitions: [[Int64]] = [[1], [2], [1, 2]]
            let asked = partitions[self.number(0...2)]
            try refresh(asked)
            // From its last state, or from any earlier one.
            let before = (self.number(0...1) == 0 ? saved[number].last : saved[number].randomElement(using: &random)) ?? Saved()
            let rows = Spool(), largeValues = LargeValueList(), versions = Dictionary(uniqueKeysWithValues: try asked.map { ($0, try version($0)) })
            var steps: [Download.Step] = []
            let delta = try ObjectDelta(
                object: object, keySpace: 1, backEnd: backEnd, current: versions, delivered: before.delivered, keepsKeys: true, gone: [], removed: [],
                own: OwnLargeValues(), rules,
                grants, connection)
            try delta.compose(rows, largeValues, &steps)
            rows.rewind()
            try note(delta.plans)
            let after = try apply(steps, rows, to: before.rows, table: "d\(number)")
            let expected = truth.filter { !$0.value.partitions.isDisjoint(with: asked) }.mapValues(\.text)
            if after != expected { result.mistakes.append("device \(number) of \(asked) from \(before): \(after), expected \(expected)") }
            saved[number].append(
                Saved(rows: after, delivered: versions))
        }

        private mutating func note(_ plans: [PartitionPlan]) throws {
            for plan in plans {
                guard let chain = plan.chain else { continue }
                result.chains += 1
                guard rules.percentOfRows == 130 else { continue }
                let changes = PartitionChanges(partition: plan.partition, connection: connection)
                result.judged += 1
                let carried = Int(try chain.rows + changes.live(after: chain.end, limit: .max))
                let needed = Int(try changes.live(after: plan.since ?? SegmentRun.beginning, limit: .max))
                if carried * 100 > max(needed, 1) * 130 { result.mistakes.append("a chain of \(carried) rows for \(needed)") }
                (result.carried, result.needed) = (result.carried + carried, result.needed + needed)
            }
        }

        /// Imports a download as a device does.
        private func apply(_ steps: [Download.Step], _ rows: Spool, to before: [Int64: String], table: String) throws -> [Int64: String] {
            try device.execute("DELETE FROM \(table)")
            for (key, name) in before { try device.execute("INSERT INTO \(table) VALUES (?1, ?2)", [.integer(key), .text(name)]) }
            var mode = TablePart.Mode.upsert
            for step in steps {
                switch step {
                case .frame(.table(let part)):
                    mode = part.mode
                    if mode == .reset { try device.execute("DELETE FROM \(table)") }
                case .frame(.segment(let part)):
                    let content = try #require(try SegmentDirectory.content(part.content.name, in: connection))
                    #expect(Int64(content.count) == part.length)
                    try take(content, .upsert, table)
                case .rows(let bytes): try take(rows.nextChunk(maximum: bytes) ?? [], mode, table)
                default: break
                }
            }
            let after = try device.rows("SELECT _sk, name FROM \(table)")
            return Dictionary(uniqueKeysWithValues: after.map { ($0[0].integer ?? 0, $0[1].text ?? "") })
        }

        private func take(_ bytes: [UInt8], _ mode: TablePart.Mode, _ table: String) throws {
            var options = ImportOptions()
            options.keyColumns = ["_sk"]
            let importer = try device.importer(
                into: table, columns: mode == .delete ? ["_sk"] : ["_sk", "name"], mode: mode == .delete ? .delete : .upsert, options: options)
            try importer.push(bytes)
            try importer.finish()
        }
    }
}
