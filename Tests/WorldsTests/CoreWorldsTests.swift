import Foundation
import TestSupport
import Testing

/// Random worlds of the core, a C program that `Tests/CoreWorlds/run` builds with the address sanitizer: a world that crashes is a result, too.
@Suite struct CoreWorldsTests {
    static let folder = Repository.file("Tests/CoreWorlds")
    /// Built once, by the first test.
    static let program: Result<URL, any Error> = Result {
        let built = try Program.run(folder.appending(path: "run"), []) { $0.environment = environment(["BUILD": "only"]) }
        try #require(built.status == 0, "\(built.output)")
        return Repository.file(".build/core-worlds/core-worlds")
    }

    /// The settings of a series of worlds are not those of these tests.
    static func environment(_ settings: [String: String]) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in ["SEED", "WORLDS", "STEPS", "KNOWN", "KEEP", "STOP", "SHOWN", "SHRINK", "CORE", "OUT", "RELEASE", "FAILED", "BUILD"] {
            environment[name] = nil
        }
        return environment.merging(settings) { $1 }
    }

    static func run(_ arguments: [String] = [], _ settings: [String: String] = [:]) throws -> (status: Int32, output: String) {
        try Program.run(program.get(), arguments) { $0.environment = environment(settings) }
    }

    @Test func `worlds of the core: it does what SQLite does with prepared statements`() throws {
        let run = try Self.run(
            [], ["SEED": "0", "WORLDS": TestSetting.number("CORE_WORLDS").map { (count: Int) in "\(count)" } ?? "40", "SHRINK": "60"])
        #expect(run.status == 0 && run.output.contains(" 0 failed"), "\(run.output)")
    }

    @Test func `a seed gives the same world each time, and KEEP its lines`() throws {
        let one = try Self.run([], ["SEED": "7", "KEEP": "all"]), other = try Self.run([], ["SEED": "7", "KEEP": "all"])
        #expect(one == other && one.status == 0 && one.output.contains("CREATE TABLE"), "\(one.output)")
        let two = try Self.run([], ["SEED": "7", "KEEP": "1-2"])
        #expect(two.output.split(separator: "\n").dropLast().allSatisfy { $0.hasPrefix("   1 ") || $0.hasPrefix("   2 ") }, "\(two.output)")
    }

    @Test(arguments: [("KNOWN", "all"), ("SEED", "x"), ("WORLDS", "0"), ("STEPS", "-1")])
    func `a setting that cannot be used is named`(name: String, value: String) throws {
        let refused = try Self.run([], [name: value])
        #expect(refused.status == 64 && refused.output.hasPrefix("\(name)=\(value): use "), "\(refused.output)")
    }
}

/// Histories of the core that failed once. Those of known faults still fail, in the same way; those of repaired ones do not.
@Suite struct FoundCoreHistoryTests {
    static let files: [String] = {
        let folder = CoreWorldsTests.folder.appending(path: "Found")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".world") }.sorted()
    }()

    private func fault(of file: String) throws -> String? {
        let text = try String(contentsOf: CoreWorldsTests.folder.appending(path: "Found/\(file)"), encoding: .utf8)
        return text.split(separator: "\n").first { $0.hasPrefix("# fault ") }.map { String($0.dropFirst(8)) }
    }

    @Test(arguments: files)
    func `a history of the core that failed once`(file: String) throws {
        let path = CoreWorldsTests.folder.appending(path: "Found/\(file)").path
        let run = try CoreWorldsTests.run([path], ["SHRINK": "0"])
        guard let fault = try fault(of: file) else {
            #expect(run.output == "\(path): passed\n")
            return
        }
        withKnownIssue("\(fault)") { #expect(run.output == "\(path): passed\n") }
        #expect(run.output.hasPrefix("\(path): known: "), "\(run.output)")
    }

    @Test func `each known fault of the core has a history`() throws {
        let faults = try Set(Self.files.compactMap { try fault(of: $0) })
        // A name that does not exist makes the program list those that do.
        let lines = try CoreWorldsTests.run([], ["KNOWN": "all"]).output.split(separator: "\n")
        let known = lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(faults == Set(known) && lines.first?.hasPrefix("KNOWN=all: use 1") == true)
    }
}
