internal import Foundation
internal import MobileExecution
internal import TestSupport

/// A shell that kills the processes of a world when the rig's own process ends, however it ends: each child has a process group of its own, so that no signal
/// of a terminal reaches it.
final class ProcessGuardian: Sendable {
    private let input: SystemLock<FileHandle>

    /// Lines `+ N` and `- N` add and remove a process.
    private static let script = """
        # The end of the input is the sign.
        trap '' HUP INT TERM
        all=" "
        while read -r sign number; do
            case $sign in
            +) all="$all$number " ;;
            -) case $all in *" $number "*) all="${all%% $number *} ${all#* $number }" ;; esac ;;
            esac
        done
        # With their groups: nginx has workers, which do not end with it.
        for number in $all; do kill -KILL "-$number" 2>&-; done
        """

    init() throws {
        let process = ChildProcess(), pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.script]
        process.standardInput = pipe
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        input = SystemLock(pipe.fileHandleForWriting)
    }

    deinit { input.withLock { try? $0.close() } }

    /// Starts a process that does not outlive the rig.
    func start(_ process: ChildProcess) throws {
        try process.run()
        try tell("+ \(process.processIdentifier)")
    }

    /// Sends a signal that ends a process, and waits for its end.
    func end(_ process: ChildProcess, _ signal: Int32) {
        process.signal(signal)
        process.waitUntilExit()
        try? tell("- \(process.processIdentifier)")
    }

    private func tell(_ line: String) throws { try input.withLock { try $0.write(contentsOf: Data((line + "\n").utf8)) } }
}
