import Foundation
import TestSupport
import Testing

/// `.ci/in-memory`, which runs the tests with their temporary files in memory.
@Suite struct InMemoryTests {
    private static let script = Repository.file(".ci/in-memory")

    /// Runs a command of the shell under the script, as from a terminal where `TMPDIR` is not set.
    private func run(_ command: String) throws -> (status: Int32, output: String) {
        try Program.run(Self.script, ["bash", "-c", command]) { process in
            process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "TMPDIR" }
        }
    }

    private func folder(_ output: String) -> String { output.trimmingCharacters(in: .whitespacesAndNewlines) }

    @Test func `a command has a folder of its own, which ends with it, and its status is that of the script`() throws {
        let ran = try run("echo \"${TMPDIR:-}\"; exit 7")
        #expect(ran.status == 7)
        guard !folder(ran.output).isEmpty else { return }  // a machine without room
        #expect(folder(ran.output).hasPrefix("/dev/shm/mobile-tests."))
        #expect(!FileManager.default.fileExists(atPath: folder(ran.output)))
    }

    @Test("a signal ends the command before its files", arguments: ["TERM", "INT", "HUP"])
    func signal(name: String) throws {
        // The command waits for the end of its own input, which does not come.
        let ran = try run("echo \"$$ ${TMPDIR:-}\"; kill -\(name) $PPID; exec tail -f /dev/null")
        let words = folder(ran.output).split(separator: " "), command = try #require(words.first.flatMap { Int32($0) })
        #expect(ran.status == 143)
        #expect(kill(command, 0) == -1 && errno == ESRCH, "process \(command) goes on")
        if words.count > 1 { #expect(!FileManager.default.fileExists(atPath: String(words[1]))) }
    }

    @Test(
        "a signal, and each further one, ends what the command has started in a process group of its own, before its files",
        arguments: ["kill -TERM $PPID", "kill -INT $PPID; kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID"])
    func descendants(signals: String) throws {
        let ran = try run("setsid tail -f /dev/null & echo \"$! ${TMPDIR:-}\"; \(signals); wait")
        let words = folder(ran.output).split(separator: " "), started = try #require(words.first.flatMap { Int32($0) })
        #expect(ran.status == 143)
        #expect(kill(started, 0) == -1 && errno == ESRCH, "process \(started) goes on")
        if words.count > 1 { #expect(!FileManager.default.fileExists(atPath: String(words[1]))) }
    }

    @Test func `the files of a run that was killed are removed by the next one, and those of a run that lives are not`() throws {
        let killed = try run("echo \"${TMPDIR:-}\"; kill -9 $PPID")
        let left = folder(killed.output).prefix { !$0.isNewline }
        guard !left.isEmpty else { return }  // a machine without room
        let both = try run(
            "cd \"$TMPDIR\"; '\(Self.script.path)' true; env -u TMPDIR '\(Self.script.path)' true; pwd; ls lock; ls -d \(left) 2>&1 || true")
        #expect(both.output.contains("lock\n") && both.status == 0)
        #expect(!FileManager.default.fileExists(atPath: String(left)))
    }
}
