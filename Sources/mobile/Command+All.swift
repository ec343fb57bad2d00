import MobileModelCommands

extension Command {
    /// The commands, in the order of the help.
    static let all: [Command] = [
        Command("demo", Demo.summary, Demo.usage, Demo.run), Command("serve", ServeCommand.summary, ServeArguments.usage, ServeCommand.run),
        Command("admin", AdminCommand.summary, AdminCommand.usage, AdminCommand.run),
        Command("sync", SyncCommand.summary, SyncCommand.usage, SyncCommand.run),
        Command("snapshot", SnapshotCommand.summary, SnapshotArguments.usage, SnapshotCommand.run),
        Command("generate", Generate.summary, GenerateCommand.usage, Generate.run),
        Command("model", ModelCommand.summary, ModelCommand.usage, ModelCommand.run),
        Command("capture", CaptureCommand.summary, CaptureCommand.usage, CaptureCommand.run),
        Command("inspect", Inspect.summary, Inspect.usage, Inspect.run),
        Command("completion", Completion.summary, Completion.usage) { Completion.run($0, all) },
    ]
}
