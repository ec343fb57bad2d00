import Foundation

/// One command of the tool.
struct Command: Sendable {
    let name: String
    /// The purpose of the command, in half a line.
    let summary: String
    /// The text of `--help`.
    let usage: String
    /// Takes the arguments after the command's name and returns the exit status: 0 success, 1 failure, 64 wrong arguments.
    let run: @Sendable ([String]) -> Int32

    init(_ name: String, _ summary: String, _ usage: String, _ run: @escaping @Sendable ([String]) -> Int32) {
        (self.name, self.summary, self.usage, self.run) = (name, summary, usage, run)
    }

    /// The exit status for wrong arguments, as in `sysexits.h`.
    static let usageStatus: Int32 = 64

    /// Runs the command that the first argument names.
    static func run(_ commands: [Command], _ arguments: [String]) -> Int32 {
        switch arguments.first {
        case nil, "help", "--help", "-h":
            let named = commands.first { $0.name == arguments.dropFirst().first }
            print(named?.usage ?? help(commands))
            return arguments.isEmpty ? usageStatus : 0
        case let name?:
            guard let command = commands.first(where: { $0.name == name }) else {
                Terminal.complain("mobile: there is no command \"\(name)\"\n\n\(help(commands))")
                return usageStatus
            }
            return command.run(Array(arguments.dropFirst()))
        }
    }

    private static func help(_ commands: [Command]) -> String {
        let width = commands.map(\.name.count).max() ?? 0
        let lines = commands.map { "  \($0.name.padding(toLength: width, withPad: " ", startingAt: 0))  \($0.summary)" }
        return "usage: mobile COMMAND ...\n\n" + lines.joined(separator: "\n") + "\n\nmobile COMMAND --help shows more."
    }
}

/// Wrong arguments, with a message for the user.
struct UsageError: Error { let message: String }

/// The failure of a command, with a message for its user.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension ArraySlice<String> {
    /// Takes the value of an option that is on by its name alone: `yes`, `no`, or none.
    /// - Throws: `UsageError` for any other value.
    mutating func popSwitch(_ option: String) throws(UsageError) -> Bool {
        guard let value = first, !value.hasPrefix("--") else { return true }
        guard ["yes", "no"].contains(value) else { throw UsageError(message: "\(option) \"\(value)\": use yes or no") }
        removeFirst()
        return value == "yes"
    }
}
