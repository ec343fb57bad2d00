import Foundation
import MobileStore

// As programs with several threads do, and for references too. First of all, because the list of benchmarks uses SQLite.
try Database.disableMemoryCount()

/// All benchmarks, in the order of the table.
let benchmarks =
    ImportBenchmarks.all + PagingBenchmarks.all + ObjectBenchmarks.all + ListBenchmarks.all + SearchBenchmarks.all + ExportBenchmarks.all + MessageBenchmarks.all
    + LargeValueBenchmarks.all + PoolBenchmarks.all + SynchronizationBenchmarks.all + RhoConnectBenchmarks.all + WorklightBenchmarks.all
    + MatrixBenchmarks.all

func run(_ options: Options) throws -> Int32 {
    if let folder = options.serverFolder {
        try ServerOfBenchmarks.run(folder: folder, options.serverSettings)
        return 0
    }
    if let id = options.memoryOf {
        guard let benchmark = benchmarks.first(where: { $0.id == id }) else { throw WrongResult("\(id): there is no such benchmark") }
        try MemoryOfChild.run(benchmark, isQuick: options.isQuick)
        return 0
    }
    let chosen = benchmarks.filter { $0.id.hasPrefix(options.filter) }
    guard !chosen.isEmpty else { throw WrongResult("no benchmark begins with \"\(options.filter)\"; --list names them") }
    if options.lists {
        for benchmark in chosen { print("\(benchmark.id): \(benchmark.shows); against \(benchmark.reference.name)") }
        return 0
    }

    var report = Report(machine: Machine())
    print("\(report.machine.cpu), \(report.machine.cores) cores, SQLite \(report.machine.sqlite), Swift \(report.machine.swift)")
    print("ratio: time of the subject by time of its reference, medians of \(options.pairs) alternating runs; ! missed its limit; threads of both")
    print("what writes is measured until its database is closed\n")
    print(Report.header())
    let workspace = try Workspace(isQuick: options.isQuick)
    defer { workspace.remove() }
    for benchmark in chosen {
        let pairs = min(benchmark.pairs ?? options.pairs, options.pairs)
        let measurement = try benchmark.measured(
            pairs: pairs, workspace: workspace, childMemory: { try MemoryOfChild.growth(of: $0, isQuick: options.isQuick) })
        report.measurements.append(measurement)
        print(Report.row(measurement))
        fflush(nil)
    }
    print("\nreferences: " + Set(chosen.map { $0.reference.name }).sorted().joined(separator: "; "))
    if let folder = options.plotFolder {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for plot in Plot.all(of: report.measurements) { try plot.svg.write(toFile: folder + "/" + plot.name, atomically: true, encoding: .utf8) }
    }
    if let path = options.jsonPath { try report.json().write(to: URL(fileURLWithPath: path), options: .atomic) }
    return options.checksLimits && report.measurements.contains { !$0.isMet } ? 1 : 0
}

do {
    exit(try run(Options(Array(CommandLine.arguments.dropFirst()))))
} catch {
    FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
    exit(2)
}
