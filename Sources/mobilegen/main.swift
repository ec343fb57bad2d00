// The generator as the build plugin runs it: `mobilegen MODEL --output DIRECTORY`. People use `mobile generate`, which says more.

import Foundation
import MobileGenerator
import MobileModel

/// Generates the classes of the model; returns the exit status. Problems go to standard error in the form of compiler messages, so
/// that the build shows them where the model is edited.
func generate(_ arguments: [String]) -> Int32 {
    guard arguments.count == 3, arguments[1] == "--output" else {
        report("usage: mobilegen MODEL.mbo.json --output DIRECTORY")
        return 64
    }
    let source = URL(filePath: arguments[0])
    let directory = URL(filePath: arguments[2], directoryHint: .isDirectory)
    do {
        var warnings: [ModelProblem] = []
        let model = try PackageModel(contentsOf: source, warnings: &warnings)
        for warning in warnings { report(warning.diagnostic) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for file in PackageGenerator(model, source: source.lastPathComponent).files { try file.write(to: directory) }
        return 0
    } catch let error as ModelError {
        for problem in error.problems { report(problem.diagnostic) }
        return 1
    } catch {
        report("\(arguments[0]): error: \(error.localizedDescription)")
        return 1
    }
}

func report(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

exit(generate(Array(CommandLine.arguments.dropFirst())))
