import Foundation
import MobileGenerator
import MobileModel
import TestSupport

/// Code of an application: the classes of the sample package, generated into a folder of their own, and files next to them.
struct OutsideCode {
    private let folder: TemporaryDirectory
    private let generated: [String]

    init() throws {
        folder = try TemporaryDirectory()
        let model = try PackageModel(contentsOf: Repository.file("Sources/SampleCRM/crm.mbo.json"))
        let files = PackageGenerator(model, source: "crm.mbo.json").files
        for file in files { try file.text.write(toFile: folder.file(file.name), atomically: true, encoding: .utf8) }
        generated = files.map { [folder] in folder.file($0.name) }
    }

    /// Returns what the compiler says about a file of the application; empty where it compiles. The modules are those that this test was built with.
    /// - Parameters:
    ///   - name: the name of the file; `main.swift` has top-level code.
    ///   - warnings: whether warnings are errors; not by default.
    func check(_ code: String, as name: String, warnings: Bool = false) throws -> String {
        let file = folder.file(name)
        try code.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let (status, messages) = try Program.run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-swift-version", "6", "-module-name", "Outside"] + BuiltModules.options
                + (warnings ? ["-warnings-as-errors"] : []) + (name == "main.swift" ? [] : ["-parse-as-library"]) + generated + [file]
        ) { $0.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 } }
        return status == 0 ? "" : messages
    }
}
