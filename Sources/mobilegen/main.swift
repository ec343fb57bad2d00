// The generator as the build plugin runs it: `mobilegen MODEL --output DIRECTORY`. The same as `mobile generate`, which needs more of the
// package to be built, but it says nothing where all is well. Problems go to standard error in the form of compiler messages, so that
// the build shows them where the model is edited.

import Foundation
import MobileGenerator

let command = GenerateCommand(listsFiles: false, output: { print($0) }, errors: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
