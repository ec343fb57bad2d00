import Foundation
import TestSupport
import Testing

/// Processes that tests start, and the scripts that watch over a run.
@Suite struct ChildProcessTests {
    private func shell(_ script: String) throws -> (status: Int32, output: String) {
        try Program.run(URL(filePath: "/bin/sh"), ["-c", script])
    }

    @Test func `a child has three streams, and nothing that is open here`() throws {
        // Open, and not marked to be closed in children.
        let pipe = Pipe()
        for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] { _ = fcntl(end.fileDescriptor, F_SETFD, 0) }
        let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(pipe.fileHandleForWriting.fileDescriptor)")
        #expect(name.hasPrefix("pipe:"))
        let open = try shell("ls -l /proc/$$/fd").output
        #expect(open.contains("/dev/null") && open.contains("pipe:"))
        #expect(!open.contains(name), "\(open)")
        withExtendedLifetime(pipe) {}
    }

    @Test func `a child blocks no signal, although the thread that starts it does`() throws {
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        #expect(try shell("grep SigBlk /proc/self/status").output.split(separator: "\t").last == "0000000000000000\n")
    }

    @Test func `the end of a child is noticed while its own child lives`() throws {
        let child = ChildProcess(), output = Pipe()
        child.executableURL = URL(filePath: "/bin/sh")
        child.arguments = ["-c", "sleep 600 >&- 2>&- & echo $!; exit 7"]
        child.standardInput = FileHandle.nullDevice
        child.standardOutput = output
        try child.run()
        let grandchild = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        #expect(!child.isRunning && child.terminationReason == .exit && child.terminationStatus == 7)
        kill(try #require(Int32(grandchild.trimmingCharacters(in: .whitespacesAndNewlines))), SIGKILL)
    }

    @Test func `a signal ends a child that another thread waits for, and a program that is missing is an error`() async throws {
        let child = ChildProcess()
        #expect(child.processIdentifier == 0 && child.terminationStatus == -1 && !child.isRunning)
        child.executableURL = URL(filePath: "/bin/cat")
        child.standardInput = Pipe()
        try child.run()
        #expect(child.isRunning && child.processIdentifier > 0)
        async let hasEnded = OwnThreads.run {
            child.waitUntilExit()
            return true
        }
        child.terminate()
        #expect(await hasEnded)
        #expect(child.terminationReason == .uncaughtSignal && child.terminationStatus == SIGTERM)

        let missing = ChildProcess()
        missing.executableURL = URL(filePath: "/nowhere/program")
        #expect(throws: POSIXError.self) { try missing.run() }
        #expect(!missing.isRunning)
    }

    @Test func `a child whose end no caller awaits leaves no entry in the table of processes`() throws {
        var number: Int32 = 0
        do {
            let child = ChildProcess(), output = Pipe()
            child.executableURL = URL(filePath: "/bin/true")
            child.standardOutput = output
            try child.run()
            number = child.processIdentifier
            _ = output.fileHandleForReading.readDataToEndOfFile()
        }
        // The kernel takes it away at most a moment after its end, although the object is gone.
        let isGone = eventually { (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8))?.contains("(true) Z") != true }
        #expect(isGone)
    }

    // MARK: Scripts

    @Test func `a command that does not end is ended with all that it started, and its processes are listed`() throws {
        let limit = Repository.file(".ci/limit")
        let ran = try Program.run(limit, ["0", "bash", "-c", "set -m; sleep 601 & sleep 602; true"])
        #expect(ran.status == 124)
        #expect(ran.output.contains("no end after 0 minutes"))
        // The first line is before the command: it may not have started yet, but none of it is left.
        #expect(try shell("pgrep -fx 'sleep 60[12]'").status == 1)
        #expect(try Program.run(limit, ["1", "bash", "-c", "echo done; exit 7"]) == (7, "done\n"))
    }

    @Test func `tests that have begun and not ended are found in the events of a run that was killed`() throws {
        let folder = try TemporaryDirectory(), events = folder.file("events.jsonl")
        func event(_ kind: String, _ test: String) -> String {
            #"{"kind":"event","payload":{"kind":"\#(kind)","testID":"\#(test)"},"version":0}"#
        }
        func test(_ name: String) -> String {
            #"{"kind":"test","payload":{"kind":"function","id":"Tests.Suite/\#(name)","name":"\#(name)"},"version":0}"#
        }
        let lines = [
            test("first()"), test("second()"), test("third()"), event("testStarted", "Tests.Suite/first()"), event("testStarted", "Tests.Suite/second()"),
            event("testCaseStarted", "Tests.Suite/second()"), event("testEnded", "Tests.Suite/first()"), #"{"kind":"ev"#,
        ]
        try lines.joined(separator: "\n").write(toFile: events, atomically: true, encoding: .utf8)
        #expect(try Program.run(Repository.file(".ci/unended-tests"), [events]) == (0, "Tests.Suite: second()\n"))
    }
}
