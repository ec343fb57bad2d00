import Foundation

/// The commands, in the order of the help.
let commands: [Command] = [
    Command("demo", Demo.summary, Demo.run), Command("serve", ServeCommand.summary, ServeCommand.run),
    Command("admin", AdminCommand.summary, AdminCommand.run),
    Command("snapshot", SnapshotCommand.summary, SnapshotCommand.run),
    Command("generate", Generate.summary, Generate.run), Command("model", ModelCommand.summary, ModelCommand.run),
    Command("inspect", Inspect.summary, Inspect.run),
]

exit(Command.run(commands, Array(CommandLine.arguments.dropFirst())))
