import Foundation
import MobileStore

// Nothing has used SQLite yet; without it, the tool would run as well.
try? Database.disableMemoryCount()

exit(Command.run(Command.all, Array(CommandLine.arguments.dropFirst())))
