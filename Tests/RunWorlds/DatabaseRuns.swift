import DatabaseWorlds
import Foundation
import PostgreSQLTestSupport
import Worlds

/// `MODE=databases` and `MODE=databases-postgresql`: random databases. Settings are those of worlds; `CLASSES=1` compiles the classes of each model, `CLASSES=0`
/// of none; default is each 50th.
struct DatabaseRuns {
    let engine: DatabaseEngine
    private let avoided: Set<DatabaseFault> = avoidedFaults()
    private let shrinks = number("SHRINK", 300, 0...1_000_000), shown = number("SHOWN", 3, 0...1_000_000)

    init(_ engine: DatabaseEngine) { self.engine = engine }

    /// The engine of the mode; nil for a mode of worlds.
    static func chosenEngine() -> DatabaseEngine? {
        let mode = ProcessInfo.processInfo.environment["MODE"] ?? ""
        guard let engine = ["databases": DatabaseEngine.sqlite, "databases-postgresql": .postgreSQL][mode] else { return nil }
        guard engine == .sqlite || PostgreSQLInstallation.programs != nil else {
            print("MODE=\(mode): \(PostgreSQLInstallation.isMissing)")
            exit(69)
        }
        return engine
    }

    /// - Parameter files: databases to run again; without them new ones are drawn.
    /// - Returns: the exit status.
    func run(_ files: ArraySlice<String>) throws -> Int32 {
        guard files.isEmpty else { return again(files) }
        let first: UInt64 = number("SEED", 0, 0...1 << 62)
        let count: UInt64 = number("WORLDS", hasSeed() ? 1 : 500, 1...1 << 40)
        let threads = number("THREADS", ProcessInfo.processInfo.activeProcessorCount, 1...256), began = ContinuousClock.now
        let series = DatabaseSeries(
            first..<first + count, engine, avoiding: avoided, threads: threads, stopsEarly: number("STOP", 0, 0...1) == 1,
            classesOfEach: number("CLASSES", 50, 0...1_000_000)
        ) { found in print("seed \(found.seed): \(found.failure.kind.rawValue): \(found.failure.text)") }
        let time = ContinuousClock.now - began
        if count > 1 {
            print("\nWhat met, rarest first:\n\(series.table)")
            let missing = series.missing
            print("\nNever met (\(missing.count)): \(missing.prefix(60).joined(separator: "; "))\(missing.count > 60 ? " ..." : "")")
        }
        for found in series.found.prefix(shown) { try show(found) }
        if series.found.count > shown {
            print("\n\(series.found.count - shown) more failed and are not shown: SHOWN=\(series.found.count) shrinks them all")
        }
        print(
            "\n\(series.met.worlds) databases with \(series.changes) changes in \(time.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))) on \(threads) threads: \(series.found.count) failed"
        )
        return series.found.isEmpty ? 0 : 1
    }

    private func again(_ files: ArraySlice<String>) -> Int32 {
        var failures: Int32 = 0
        for file in files {
            let found: FoundDatabase
            do { found = try FoundDatabase(contentsOf: URL(filePath: file)) } catch {
                print("\(file) is not a database: \(reason(error, file))")
                return 65
            }
            if found.world.engine == .postgreSQL, let missing = missing(for: .postgreSQL) {
                print("\(file): \(missing)")
                return 69
            }
            let run = found.run()
            print("\(file)\n\(found.world)")
            for line in run.trace { print("  \(line)") }
            print(run.failure.map { "\($0.kind.rawValue): \($0.text)" } ?? "everything is as it must be")
            if let fault = found.fault { print("expected: \(found.kind.rawValue), the known fault \(fault)") }
            failures += run.failure == nil ? 0 : 1
        }
        return failures == 0 ? 0 : 1
    }

    /// Shows a failed database in its smallest form, and writes it to a file that `Tests/DatabaseWorlds/Found` can take.
    private func show(_ found: DatabaseSeries.Found) throws {
        var shrinker = DatabaseShrinker(avoiding: avoided, runs: shrinks)
        let small = shrinker.shrink(found.world, found.failure)
        let run = DatabaseRun(small, avoiding: avoided, compiles: found.failure.kind == .notCompiled)
        print("\nSeed \(found.seed)\n\(small)")
        for line in run.trace { print("  \(line)") }
        guard let failure = run.failure else { return print("  no failure any more") }
        print("\(failure.kind.rawValue): \(failure.text)")
        let folder = ".build/worlds", file = "\(folder)/\(engine.rawValue)-\(failure.kind.rawValue)-\(found.seed).json"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FoundDatabase(small, failure, avoiding: avoided).json().write(to: URL(filePath: file))
        print("written to \(file)")
    }
}
