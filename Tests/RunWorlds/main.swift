import CTestSupport
import Foundation
import PostgreSQLTestSupport
import Worlds

// `make worlds`: draws worlds, runs them, and shrinks what fails. Settings are in the environment: see the article in `Tests/Worlds/README.md`.

func number<Number: LosslessStringConvertible & Comparable>(_ name: String, _ usual: Number, _ range: ClosedRange<Number>) -> Number {
    guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return usual }
    guard let number = Number(text), range.contains(number) else {
        print("\(name)=\(text): use a number from \(range.lowerBound) to \(range.upperBound)")
        exit(64)
    }
    return number
}

/// Known faults are avoided; `KNOWN=1` includes them all, `KNOWN=reusedKeys` only this one.
func avoidedFaults<Fault: RawRepresentable<String> & CaseIterable & Hashable>() -> Set<Fault> {
    let text = ProcessInfo.processInfo.environment["KNOWN"] ?? ""
    guard text != "1" else { return [] }
    var faults = Set(Fault.allCases)
    for name in text.split(separator: ",") {
        guard let fault = Fault(rawValue: String(name)) else {
            print("KNOWN=\(text): use 1, or names of \(Fault.allCases.map(\.rawValue).joined(separator: ", "))")
            exit(64)
        }
        faults.remove(fault)
    }
    return faults
}

/// `MODE=stores`: back end and state in PostgreSQL. `MODE=processes`: the server as processes, too.
func chosenStores() -> Stores {
    let text = ProcessInfo.processInfo.environment["MODE"] ?? ""
    guard let stores = ["": Stores.sqlite, "process": .sqlite, "stores": .postgreSQL, "processes": .processes][text] else {
        print(
            """
            MODE=\(text): use process (everything in one process, with SQLite), stores (back end and state in PostgreSQL), processes, databases (any \
            database, in SQLite), or databases-postgresql
            """)
        exit(64)
    }
    if let missing = missing(for: stores) {
        print("MODE=\(text): \(missing)")
        exit(69)
    }
    return stores
}

/// The reason why a mode cannot run here: something is not installed, or not built.
func missing(for stores: Stores) -> String? {
    switch stores {
    case .sqlite: nil
    case .postgreSQL: PostgreSQLInstallation.programs == nil ? PostgreSQLInstallation.isMissing : nil
    case .processes: WorldRun.missingForProcesses
    }
}

/// The reason why a file cannot be read.
func reason(_ error: any Error, _ file: String) -> String {
    var isFolder = ObjCBool(false)
    guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else { return "it is not there" }
    return isFolder.boolValue ? "it is a folder" : "\(error)"
}

// Worlds at a time would wait for each other at the lock of SQLite's counts.
if cts_sqlite_without_counts() != 0 { print("SQLite counts memory: worlds are slower") }

if let engine = DatabaseRuns.chosenEngine() { exit(try DatabaseRuns(engine).run(CommandLine.arguments.dropFirst())) }

let avoided: Set<KnownFault> = avoidedFaults(), stores = chosenStores()
let steps = number("STEPS", 60, 0...10_000), shrinks = number("SHRINK", 600, 0...1_000_000), shown = number("SHOWN", 3, 0...1_000_000)

/// Shows a failed world as a short history, and writes it to a file that `Tests/Worlds/Found` can take.
func show(_ found: WorldSeries.Found) async throws {
    var shrinker = Shrinker(avoiding: avoided, in: stores, runs: shrinks)
    let began = ContinuousClock.now, small = shrinker.shrink(found.world, found.failure),
        run = await WorldRun.repeated(small, avoiding: avoided, in: stores)
    print(
        "\nSeed \(found.seed), \(small.steps.count) steps (shrunk in \((ContinuousClock.now - began).formatted(.units(allowed: [.seconds], width: .wide))))"
    )
    print(small)
    for line in run.trace { print("  \(line)") }
    guard let failure = run.failure else { return print("  no failure any more: the history is not deterministic") }
    print("\(failure.kind.rawValue): \(failure.text)")
    let folder = ".build/worlds"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let file = "\(folder)/\(failure.kind.rawValue)-\(found.seed).json"
    try FoundHistory(small, failure, avoiding: avoided, in: stores).json().write(to: URL(filePath: file))
    print("written to \(file)")
}

let arguments = CommandLine.arguments.dropFirst()
if !arguments.isEmpty {
    // Histories of files again.
    var failures = 0
    for file in arguments {
        let history: FoundHistory
        do { history = try FoundHistory(contentsOf: URL(filePath: file)) } catch {
            print("\(file) is not a history of a world: \(reason(error, file))")
            exit(65)
        }
        if let missing = missing(for: history.stores ?? .sqlite) {
            print("\(file): \(missing)")
            exit(69)
        }
        let run = await history.run()
        print("\(file)\n\(history.world)")
        for line in run.trace { print("  \(line)") }
        print(run.failure.map { "\($0.kind.rawValue): \($0.text)" } ?? "everything is as it must be")
        if let fault = history.fault { print("expected: \(history.kind.rawValue), the known fault \(fault)") }
        failures += run.failure == nil ? 0 : 1
    }
    exit(failures == 0 ? 0 : 1)
}

/// Whether the run is that of one seed. An empty setting does not count.
func hasSeed() -> Bool { ProcessInfo.processInfo.environment["SEED"].map { !$0.isEmpty } ?? false }

let first: UInt64 = number("SEED", 0, 0...1 << 62)
let count: UInt64 = number("WORLDS", hasSeed() ? 1 : 1000, 1...1 << 40)
let threads = number("THREADS", ProcessInfo.processInfo.activeProcessorCount, 1...256)
let began = ContinuousClock.now
let series = WorldSeries(
    first..<first + count, steps: steps, avoiding: avoided, in: stores, threads: threads, stopsEarly: number("STOP", 0, 0...1) == 1
) {
    found in
    print("seed \(found.seed), after step \(found.failure.step): \(found.failure.kind.rawValue): \(found.failure.text)")
}
let time = ContinuousClock.now - began
if count > 1 {
    print("\nWhat met, rarest first:\n\(series.met.table)")
    let missing = series.met.missing
    print("\nNever met (\(missing.count)): \(missing.prefix(100).joined(separator: "; "))\(missing.count > 100 ? " ..." : "")")
}
for found in series.found.prefix(shown) { try await show(found) }
if series.found.count > shown { print("\n\(series.found.count - shown) more failed and are not shown: SHOWN=\(series.found.count) shrinks them all") }
let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
print(String(format: "\n%d worlds of %d steps in %.1f s on %d threads: %d failed", series.met.count, steps, seconds, threads, series.found.count))
exit(series.found.isEmpty ? 0 : 1)
