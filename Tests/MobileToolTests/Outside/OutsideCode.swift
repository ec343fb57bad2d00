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
    func check(_ code: String, as name: String, warnings: Bool = false) throws -> String { try check([name: code], warnings: warnings) }

    /// The same of several files, by their names: the compiler reads the modules and the generated files once for all. It looks at them as a whole,
    /// so that errors in one file do not hide those in the next.
    func check(_ codes: [String: String], warnings: Bool = false) throws -> String {
        defer { for name in codes.keys { try? FileManager.default.removeItem(atPath: folder.file(name)) } }
        for (name, code) in codes { try code.write(toFile: folder.file(name), atomically: true, encoding: .utf8) }
        let (status, messages) = try Program.run(
            URL(filePath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-whole-module-optimization", "-swift-version", "6", "-module-name", "Outside"] + BuiltModules.options
                + (warnings ? ["-warnings-as-errors"] : []) + (codes["main.swift"] == nil ? ["-parse-as-library"] : []) + generated
                + codes.keys.sorted().map { folder.file($0) }
        ) { $0.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 } }
        return status == 0 ? "" : messages
    }
}
