internal import Foundation
internal import MobileGenerator
internal import MobileModel
internal import TestSupport

/// The classes of a model.
enum GeneratedClasses {
    /// Compiles the classes against the modules that this program was built with, without code.
    /// - Returns: the messages of the compiler; nil if there is no error.
    static func errors(of model: PackageModel, in folder: TemporaryDirectory) throws -> String? {
        guard !model.objects.isEmpty else { return nil }
        let directory = folder.file("classes")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let files = PackageGenerator(model, source: "stock.mbo.json").files
        var paths: [String] = []
        for file in files {
            paths.append(directory + "/" + file.name)
            try file.text.write(toFile: directory + "/" + file.name, atomically: false, encoding: .utf8)
        }
        let arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-suppress-warnings", "-module-name", "Stock"] + BuiltModules.options + paths
        let (status, messages) = try Program.run(URL(filePath: "/usr/bin/env"), arguments) {
            $0.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": directory]) { $1 }
        }
        guard status != 0 else { return nil }
        let errors = messages.split(separator: "\n").filter { $0.contains("error:") }.prefix(3).map { $0.replacing(directory + "/", with: "") }
        return errors.isEmpty ? String(messages.prefix(1000)) : errors.joined(separator: "; ")
    }
}
