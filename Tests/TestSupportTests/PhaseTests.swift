import Foundation
import TestSupport
import Testing

/// `.ci/phase`, which notes the seconds of a command.
@Suite struct PhaseTests {
    private func run(_ arguments: [String], notes: String?) throws -> (status: Int32, output: String) {
        try Program.run(Repository.file(".ci/phase"), arguments) { process in
            process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "PHASES" }
            process.environment?["PHASES"] = notes
        }
    }

    @Test func `phases are noted in their order, also one that fails, and the status is that of the command`() throws {
        let folder = try TemporaryDirectory(), notes = folder.file("phases.txt")
        #expect(try run(["a build", "echo", "made"], notes: notes) == (0, "made\n"))
        #expect(try run(["tests", "bash", "-c", "exit 7"], notes: notes).status == 7)
        #expect(try run(["--took", "1234", "a run"], notes: notes) == (0, ""))
        let lines = try String(contentsOfFile: notes, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 3 && lines[0].hasSuffix(" s  a build") && lines[1].hasSuffix(" s  tests") && lines[2] == "  1234 s  a run")
    }

    @Test("a signal ends the command, too", arguments: ["TERM", "INT", "HUP"])
    func signal(name: String) throws {
        // The command waits for the end of its own input, which does not come.
        let ran = try run(["a build", "bash", "-c", "echo $$; kill -\(name) $PPID; exec tail -f /dev/null"], notes: nil)
        let command = try #require(Int32(ran.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(ran.status == 143)
        #expect(kill(command, 0) == -1 && errno == ESRCH, "process \(command) goes on")
    }

    @Test func `without a file for the notes the command runs alone`() throws {
        #expect(try run(["a build", "echo", "made"], notes: nil) == (0, "made\n"))
    }
}
