// The generator for the build plugin: `mobilegen MODEL --output DIRECTORY`. It is a part of what `mobile generate` does, and needs as few modules as
// possible, because every build of a package with the plugin compiles them twice. Problems go to standard error in the form of compiler messages, so
// that the build shows them at their place in the model.

import Foundation
import MobileGenerator
import MobileModel

func complain(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

let arguments = CommandLine.arguments
guard arguments.count == 4, arguments[2] == "--output" else {
    complain("usage: mobilegen MODEL.mbo.json --output DIRECTORY")
    exit(64)
}
do {
    var warnings: [ModelProblem] = []
    let model = try PackageModel(contentsOf: URL(filePath: arguments[1]), warnings: &warnings)
    for warning in warnings { complain(warning.diagnostic) }
    try PackageGenerator(model, source: URL(filePath: arguments[1]).lastPathComponent)
        .write(to: URL(filePath: arguments[3], directoryHint: .isDirectory)) { _, _ in }
} catch {
    for line in PackageGenerator.diagnostics(of: error) { complain(line) }
    exit(1)
}
