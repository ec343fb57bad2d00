import Foundation

/// The commands, in the order of the help.
let commands: [Command] = [
    Command("generate", Generate.summary, Generate.run), Command("inspect", Inspect.summary, Inspect.run),
    Command("serve", ServeCommand.summary, ServeCommand.run),
]

exit(Command.run(commands, Array(CommandLine.arguments.dropFirst())))
