import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing
import Worlds

@testable import DatabaseWorlds

/// Random databases, each from `mobile model` to the changes of a device. `Tests/DatabaseWorlds/README.md` says how to read a failure.
@Suite struct DatabaseWorldsTests {
    /// `WORLDS_FIRST` and `WORLDS` in the environment give other seeds.
    static let seeds: [UInt64] = {
        let first: UInt64 = TestSetting.number("WORLDS_FIRST") ?? 0
        return Array(first..<first + (TestSetting.number("WORLDS") ?? 24))
    }()

    private func check(_ seed: UInt64, _ engine: DatabaseEngine, compiles: Bool = false) {
        var draw = DatabaseDraw(seed: seed, engine: engine, avoiding: Set(DatabaseFault.allCases))
        let world = draw.world(), run = DatabaseRun(world, avoiding: Set(DatabaseFault.allCases), compiles: compiles)
        #expect(run.failure == nil, "\(world)")
    }

    @Test(arguments: seeds)
    func `a database of SQLite is on the device as it is, and takes the changes of the device`(seed: UInt64) { check(seed, .sqlite) }

    @Test(.enabled(if: PostgreSQLInstallation.runsTests), arguments: seeds)
    func `a database of PostgreSQL is on the device as it is, and takes the changes of the device`(seed: UInt64) { check(seed, .postgreSQL) }

    @Test func `the classes of a model compile`() { check(1000, .sqlite, compiles: true) }

    @Test(arguments: [DatabaseEngine.sqlite, .postgreSQL])
    func `a seed gives the same database, also through its file`(engine: DatabaseEngine) throws {
        for seed in UInt64(0)..<40 {
            var one = DatabaseDraw(seed: seed, engine: engine, avoiding: []), other = DatabaseDraw(seed: seed, engine: engine, avoiding: [])
            let world = one.world()
            #expect(world == other.world())
            let found = FoundDatabase(world, DatabaseFailure(kind: .noModel, text: ""), avoiding: [])
            #expect(try JSONDecoder().decode(FoundDatabase.self, from: found.json()).world == world)
        }
    }

    @Test(arguments: [DatabaseEngine.sqlite, .postgreSQL])
    func `all features are drawn, and none of a known fault that is avoided`(engine: DatabaseEngine) {
        var met = PairTable<DatabaseFeature>()
        let avoided = DatabaseFault.allCases.reduce(into: Set<DatabaseFeature>()) { $0.formUnion($1.features(engine)) }
        for seed in UInt64(0)..<600 {
            var draw = DatabaseDraw(seed: seed, engine: engine, avoiding: [])
            met.add(draw.world().features)
            var careful = DatabaseDraw(seed: seed, engine: engine, avoiding: Set(DatabaseFault.allCases))
            let left = careful.world().features.intersection(avoided)
            #expect(left.isEmpty, "seed \(seed): \(left)")
        }
        let missing = met.missing(DatabaseFeature.all(engine)).filter { !$0.contains(" + ") }
        #expect(missing.isEmpty, "\(missing)")
    }
}

/// Databases that failed once. Those of known faults still fail; those of repaired ones do not.
@Suite struct FoundDatabaseTests {
    static let files: [String] = {
        let folder = Repository.file("Tests/DatabaseWorlds/Found")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    @Test(arguments: files)
    func `a database that failed once`(file: String) throws {
        let found = try FoundDatabase(contentsOf: Repository.file("Tests/DatabaseWorlds/Found/\(file)"))
        guard found.world.engine != .postgreSQL || PostgreSQLInstallation.runsTests else { return }
        let run = found.run()
        guard let fault = found.fault else {
            #expect(run.failure == nil, "\(found.world)")
            return
        }
        try #require(DatabaseFault(rawValue: fault) != nil, "\(fault) is repaired: take it out of \(file)")
        withKnownIssue("\(fault)") { #expect(run.failure == nil) }
        #expect(run.failure?.kind == found.kind, "\(run.failure?.text ?? "")")
    }

    @Test(arguments: [
        ("\"key\": \\[\\s*\\d+\\s*\\]", "\"key\": [9]", "its key has a column that is not there"),
        ("\"row\": \\d+", "\"row\": -1", "its row is below 0"),
        ("\"column\": \\d+", "\"column\": 99", "there is no column 99"), ("\"name\": \"id\"", "\"name\": 0", "name"),
    ])
    func `a file of a database that cannot be used is named, and nothing runs`(pattern: String, text: String, reason: String) throws {
        let folder = try TemporaryDirectory(), file = "Tests/DatabaseWorlds/Found/attribute-of-reference.json"
        let good = try String(contentsOf: Repository.file(file), encoding: .utf8),
            bad = try good.replacing(Regex(pattern), with: text, maxReplacements: 1)
        #expect(bad != good)
        let path = try folder.write(bad.utf8, to: "database.json")
        let refused = try Program.run(Program.built("run-worlds"), [path]) { process in
            process.environment = ProcessInfo.processInfo.environment.merging(["MODE": "databases"]) { $1 }
        }
        #expect(refused.status == 65 && refused.output.hasPrefix("\(path) is not a database: "), "\(refused.output)")
        #expect(refused.output.contains(reason), "\(refused.output)")
    }

    @Test func `each known fault has a database`() throws {
        let faults = try Self.files.compactMap { try FoundDatabase(contentsOf: Repository.file("Tests/DatabaseWorlds/Found/\($0)")).fault }
        #expect(Set(faults) == Set(DatabaseFault.allCases.map(\.rawValue)))
    }
}
