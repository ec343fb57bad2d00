import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import Worlds

/// Random worlds: everything that devices, servers and back ends do together. `Tests/Worlds/README.md` says how to read a failure.
struct WorldsTests {
    /// `WORLDS_FIRST` and `WORLDS` in the environment give other seeds.
    static let seeds: [UInt64] = {
        let first: UInt64 = TestSetting.number("WORLDS_FIRST") ?? 0
        return Array(first..<first + (TestSetting.number("WORLDS") ?? 24))
    }()

    @Test(arguments: seeds)
    func `a world: devices show their rows, each operation is done once or refused, and nothing is lost`(seed: UInt64) async {
        var draw = Draw(seed: seed)
        let run = await WorldRun.apart(draw.world(steps: 60), avoiding: Set(KnownFault.allCases))
        #expect(run.failure == nil, "\(run.trace.suffix(12).joined(separator: "\n"))")
    }

    @Test(.enabled(if: PostgreSQLInstallation.runsTests), arguments: seeds.prefix(4))
    func `a world with back end and state in PostgreSQL`(seed: UInt64) async {
        var draw = Draw(seed: seed)
        let run = await WorldRun.apart(draw.world(steps: 60), avoiding: Set(KnownFault.allCases), in: .postgreSQL)
        #expect(run.failure == nil, "\(run.trace.suffix(12).joined(separator: "\n"))")
    }

    static let processesAreMissing = WorldRun.missingForProcesses

    @Test(.enabled(if: processesAreMissing == nil, "\(processesAreMissing ?? "")"), arguments: seeds.prefix(2))
    func `a world whose server is processes that are killed, stopped and replaced`(seed: UInt64) async {
        var draw = Draw(seed: seed)
        let run = await WorldRun.apart(draw.world(steps: 40, in: .processes), avoiding: Set(KnownFault.allCases), in: .processes)
        #expect(run.failure == nil, "\(run.trace.suffix(12).joined(separator: "\n"))")
    }

    @Test func `a seed gives the same world, and the same history each time`() async throws {
        for seed in [3, 17] as [UInt64] {
            var one = Draw(seed: seed), other = Draw(seed: seed)
            let world = one.world(steps: 40)
            #expect(world == other.world(steps: 40))
            let first = await WorldRun.apart(world), second = await WorldRun.apart(world)
            #expect(first.trace == second.trace && first.failure == second.failure && !first.trace.isEmpty)
            let again = try JSONDecoder().decode(World.self, from: JSONEncoder().encode(world))
            #expect(again == world)
        }
    }

    @Test func `all pairs of features are themes`() {
        let count = Feature.allCases.count
        #expect(Draw.pairs.count == count * (count - 1) / 2)
        var met = MetPairs()
        for seed in UInt64(0)..<UInt64(Draw.pairs.count) {
            var draw = Draw(seed: seed)
            let world = draw.world(steps: 1), theme = Draw.pairs[Int(seed)]
            met.add(world, WorldRun.unrun)
            #expect(world.features.isSuperset(of: [theme.0, theme.1]), "seed \(seed): \(theme)")
        }
        let missing = met.missing.filter { $0.contains(" + ") }
        #expect(missing.isEmpty, "\(missing)")
    }
}

/// Histories that failed once. Those of known faults still fail; those of repaired ones do not.
struct FoundHistoryTests {
    static let files: [String] = {
        let folder = Repository.file("Tests/Worlds/Found")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    @Test(arguments: files)
    func `a history that failed once`(file: String) async throws {
        let history = try FoundHistory(contentsOf: Repository.file("Tests/Worlds/Found/\(file)"))
        guard history.stores != .postgreSQL || PostgreSQLInstallation.runsTests else { return }
        guard history.stores != .processes || WorldRun.missingForProcesses == nil else { return }
        let run = await history.run()
        guard let fault = history.fault else {
            #expect(run.failure == nil, "\(run.trace.joined(separator: "\n"))")
            return
        }
        try #require(KnownFault(rawValue: fault) != nil, "\(fault) is repaired: take it out of \(file)")
        // Processes have another history each time.
        withKnownIssue("\(fault)", isIntermittent: history.stores == .processes) { #expect(run.failure == nil) }
        #expect(run.failure?.kind == history.kind || run.failure == nil && history.stores == .processes, "\(run.failure?.text ?? "")")
    }

    @Test func `a file or a setting that cannot be used is named, and nothing runs`() throws {
        let folder = try TemporaryDirectory(),
            good = try String(contentsOf: Repository.file("Tests/Worlds/Found/ghost-of-create.json"), encoding: .utf8)
        func run(_ arguments: [String], _ settings: [String: String] = [:]) throws -> (status: Int32, output: String) {
            try Program.run(Program.built("run-worlds"), arguments) { $0.environment = ProcessInfo.processInfo.environment.merging(settings) { $1 } }
        }
        for (text, expected) in [
            ("{", "JSON"), (good.replacing(/"user": \d/, with: "\"user\": 7"), "there is no user 7"),
            (good.replacing(/"type": "int"/, with: "\"type\": \"int\", \"isSearchable\": true"), "version 1 of its model"),
            (good.replacing("\"kind\": \"ghostRow\"", with: "\"fault\": \"ghosts\", \"kind\": \"ghostRow\""), "there is no known fault ghosts"),
            (good.replacing(/"device": \d/, with: "\"device\": -1"), "step 0 has a number below 0"),
        ] {
            let file = try folder.write(text.utf8, to: "history.json"), refused = try run([file])
            #expect(refused.status == 65 && refused.output.hasPrefix("\(file) is not a history of a world: "), "\(refused.output)")
            #expect(refused.output.contains(expected), "\(refused.output)")
        }
        #expect(try run([folder.file("nothing.json")]).status == 65)
        for (name, value) in [
            ("THREADS", "-1"), ("THREADS", "0"), ("STEPS", "-5"), ("WORLDS", "0"), ("SEED", "18446744073709551615"), ("SHOWN", "-1"),
            ("SHRINK", "many"),
            ("KNOWN", "all"), ("MODE", "threads"),
        ] {
            let refused = try run([], [name: value])
            #expect(refused.status == 64 && refused.output.hasPrefix("\(name)=\(value): use "), "\(refused.output)")
        }
    }

    @Test func `each known fault has a history`() throws {
        let faults = try Self.files.compactMap { try FoundHistory(contentsOf: Repository.file("Tests/Worlds/Found/\($0)")).fault }
        #expect(Set(faults) == Set(KnownFault.allCases.map(\.rawValue)))
    }
}
