import Foundation
import TestSupport
import Testing

/// The modules that a package builds which depends on this one.
@Suite struct DependentTests {
    /// The part of `swift package dump-package` that the tests read.
    private struct Manifest: Decodable {
        struct Target: Decodable {
            let name: String
            let type: String
            let pluginUsages: [Usage]?
        }
        struct Usage: Decodable {}
        let targets: [Target]
    }

    @Test func `only tests use the plugin, because every dependent would build its tool for any other target`() throws {
        let folder = try TemporaryDirectory()
        let (status, output) = try Program.run(
            URL(filePath: "/usr/bin/env"),
            ["swift", "package", "--package-path", Repository.file("").path, "--scratch-path", folder.file("scratch"), "dump-package"])
        try #require(status == 0, "\(output.suffix(2000))")
        let json = try #require(output.firstIndex(of: "{").map { output[$0...] })
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(json.utf8))
        let users = manifest.targets.filter { !($0.pluginUsages ?? []).isEmpty }
        #expect(manifest.targets.count > 60 && !users.isEmpty)
        for target in users { #expect(target.type == "test", "\(target.name) uses a plugin") }
    }

    /// A package outside of the checkout compiles everything once more: `make outside-package` runs the test.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["OUTSIDE_PACKAGE"] != nil, "make outside-package builds a package of an application"))
    func `a package that depends on MobileStore alone builds the core and what is below the store, and nothing else`() throws {
        let folder = try TemporaryDirectory(), sources = folder.url.appending(path: "Sources/Outside")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "Outside", platforms: [.macOS(.v26)],
                dependencies: [.package(name: "MobileObjects", path: "\(Repository.file("").path)")],
                targets: [.executableTarget(name: "Outside", dependencies: [.product(name: "MobileStore", package: "MobileObjects")])])
            """
        try manifest.write(toFile: folder.file("Package.swift"), atomically: true, encoding: .utf8)
        let main = """
            import MobileStore

            @main struct Outside {
                static func main() throws {
                    let store = try Database(ConnectionProfile(path: CommandLine.arguments[1]))
                    print(try store.read { try $0.first("SELECT 6 * 7")?[0] } == .integer(42))
                }
            }
            """
        try main.write(to: sources.appending(path: "Outside.swift"), atomically: true, encoding: .utf8)
        let built = try Program.run(URL(filePath: "/usr/bin/env"), ["swift", "build", "--package-path", folder.path]) {
            $0.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWIFT_TESTING") }
        }
        try #require(built.status == 0, "\(built.output.suffix(4000))")
        let ran = try Program.run(folder.url.appending(path: ".build/debug/Outside"), [folder.file("store.db")])
        #expect(ran.status == 0 && ran.output == "true\n", "\(ran.output)")

        let build = folder.url.appending(path: ".build/debug")
        func objects(in module: String) throws -> Int {
            let files = FileManager.default.enumerator(at: build.appending(path: module), includingPropertiesForKeys: nil)
            return files?.count { ($0 as? URL)?.pathExtension == "o" } ?? 0
        }
        let modules = try FileManager.default.contentsOfDirectory(atPath: build.path).filter { $0.hasSuffix(".build") }
        let compiled = try modules.filter { try objects(in: $0) > 0 }.map { $0.dropLast(".build".count) }.sorted()
        #expect(compiled == ["MobileCore", "MobileExecution", "MobileStore", "Outside"])
    }
}
