import Foundation

exit(Command.run(Command.all, Array(CommandLine.arguments.dropFirst())))
