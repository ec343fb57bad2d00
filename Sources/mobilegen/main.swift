// The generator for the build plugin: `mobilegen MODEL --output DIRECTORY`. It does the same as `mobile generate`, which needs more of the
// package to be built, but reports no success. Problems go to standard error in the form of compiler messages, so that the build shows
// them at their place in the model.

import Foundation
import MobileGenerator

let command = GenerateCommand(listsFiles: false, output: { print($0) }, errors: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
