import Foundation
import TestSupport
import Testing

@testable import mobile

/// `mobile completion`, in a real shell.
@Suite struct CompletionTests {
    /// The words that bash offers for the last word of a command line.
    private func offered(_ line: String) throws -> [String] {
        let script = try Tool.run(["completion", "bash"])
        #expect(script.status == 0)
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
        let program =
            "\(script.output)\nCOMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1); _mobile; printf '%s\\n' \"${COMPREPLY[@]}\""
        return try Program.run(URL(fileURLWithPath: "/bin/bash"), ["-c", program]).output.split(separator: "\n").map(String.init)
    }

    @Test func `bash completes commands, sub-commands and options`() throws {
        #expect(try offered("mobile in") == ["inspect"])
        #expect(try Set(offered("mobile ")).isSuperset(of: ["demo", "serve", "admin", "model", "completion", "help"]))
        #expect(try offered("mobile inspect --p") == ["--pending"])
        #expect(try Set(offered("mobile capture ")).isSuperset(of: ["install", "remove", "status", "prune", "--model"]))
        #expect(try Set(offered("mobile admin --cache x ")).isSuperset(of: ["logs", "clean", "traces", "get-trace"]))
        #expect(try offered("mobile serve --worklight-") == ["--worklight-port"])
        #expect(try offered("mobile nothing --") == [])
    }

    @Test func `zsh takes its script`() throws {
        let zsh = URL(fileURLWithPath: "/usr/bin/zsh")
        guard FileManager.default.isExecutableFile(atPath: zsh.path) else { return }
        let script = try Tool.run(["completion", "zsh"]).output
        let checked = try Program.run(zsh, ["-n", "-c", script])
        #expect(checked.status == 0 && checked.output.isEmpty, "\(checked.output)")
    }

    @Test func `another shell is refused, and help of a command is its usage`() throws {
        #expect(try Tool.run(["completion", "fish"]).status == 64)
        #expect(try Tool.run(["help", "inspect"]).output.hasPrefix("usage: mobile inspect"))
        for command in Command.all { #expect(command.usage.hasPrefix("usage: mobile \(command.name)"), "\(command.name)") }
    }
}
