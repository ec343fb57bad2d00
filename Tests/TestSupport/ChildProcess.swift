internal import CTestSupport
public import Foundation
internal import MobileExecution

/// A program that a test runs as a process of its own.
///
/// It has the members of Foundation's `Process` that tests use. That one notices the end of a program by a socket that every other process started at the
/// same moment inherits as well, and its children inherit the pipes of their siblings in the same way: among hundreds of processes that are started by
/// many threads, a reader then waits for the end of a server that lives as long as the tests. Here a child has its three streams and nothing else, no
/// signal is blocked in it, and its end is learned from the kernel.
///
/// A thread takes its status at once when it ends, whether or not a test asks for it: Swift Testing looks for the end of its exit tests among all children
/// of the tests, and while one has ended whose status was not taken, it finds that child again and again.
public final class ChildProcess: @unchecked Sendable {
    /// The cause of a process's end.
    public enum TerminationReason: Sendable { case exit, uncaughtSignal }

    private enum State {
        case new
        case running(pid_t)
        /// The number of the process, which may be that of another one by now, and its status in the form of `waitpid`.
        case ended(pid_t, Int32)
    }

    /// The state, and what waits for its end. It outlives the object: a child whose object is gone still ends.
    private final class End: @unchecked Sendable {
        private let condition = NSCondition()
        private var state = State.new

        func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
            condition.lock()
            defer { condition.unlock() }
            return try body(&state)
        }

        /// Takes the status of a process once it has ended.
        func take(_ process: pid_t) {
            // The process keeps its number until its status is taken, under the lock: signals of other threads find it or know of its end.
            var information = siginfo_t(), status: Int32 = 0
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            withState { state in
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                state = .ended(process, status)
                condition.broadcast()
            }
        }

        func wait() {
            condition.lock()
            while case .running = state { condition.wait() }
            condition.unlock()
        }
    }

    private let end = End()

    // The settings are those of the thread that starts the program, before the start.

    /// The program's file.
    public var executableURL: URL?
    /// The arguments after the program's name; default none.
    public var arguments: [String] = []
    /// The environment; nil (default) for that of the tests.
    public var environment: [String: String]?
    /// The folder it runs in; nil (default) for that of the tests.
    public var currentDirectoryURL: URL?
    /// A `Pipe` or a `FileHandle`; nil (default) for the stream of the tests.
    public var standardInput: Any?
    /// A `Pipe` or a `FileHandle`; nil (default) for the stream of the tests.
    public var standardOutput: Any?
    /// A `Pipe` or a `FileHandle`; nil (default) for the stream of the tests.
    public var standardError: Any?

    public init() {}

    // MARK: Running

    /// Starts the program. The child's ends of pipes are closed here.
    /// - Throws: `POSIXError` when there is no such program, no memory, or no thread.
    public func run() throws {
        guard let program = executableURL?.path else { throw CocoaError(.executableNotLoadable) }
        let streams = [standardInput, standardOutput, standardError]
        let descriptors = streams.enumerated().map { number, stream in
            switch stream {
            // It has no descriptor.
            case let file as FileHandle where file === FileHandle.nullDevice: Int32(-1)
            case let file as FileHandle: file.fileDescriptor
            case let pipe as Pipe: Self.childEnd(pipe, number).fileDescriptor
            default: Int32(number)
            }
        }
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { $0.key + "=" + $0.value }
        var process: pid_t = 0
        let code = withStrings([program] + arguments) { arguments in
            withStrings(variables) { cts_spawn(program, arguments, $0, currentDirectoryURL?.path, descriptors, &process) }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
        end.withState { $0 = .running(process) }
        guard SystemThread.start({ [end, process] in end.take(process) }) else {
            signal(SIGKILL)
            end.take(process)
            throw POSIXError(.EAGAIN)
        }
        for (number, stream) in streams.enumerated() {
            if let pipe = stream as? Pipe { try Self.childEnd(pipe, number).close() }
        }
    }

    private static func childEnd(_ pipe: Pipe, _ stream: Int) -> FileHandle { stream == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting }

    private func withStrings<Result>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }

    /// The number of the process; 0 before the start.
    public var processIdentifier: Int32 {
        end.withState { state in
            switch state {
            case .new: 0
            case .running(let process), .ended(let process, _): process
            }
        }
    }

    /// Whether it was started and has not ended.
    public var isRunning: Bool { end.withState { if case .running = $0 { true } else { false } } }

    /// Waits for the end.
    public func waitUntilExit() { end.wait() }

    /// The exit status, or the number of the signal that ended the process; -1 before its end.
    public var terminationStatus: Int32 {
        guard case .ended(_, let status) = end.withState({ $0 }) else { return -1 }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : status & 0x7F
    }

    /// Whether the process ended by itself or by a signal.
    public var terminationReason: TerminationReason {
        guard case .ended(_, let status) = end.withState({ $0 }) else { return .exit }
        return status & 0x7F == 0 ? .exit : .uncaughtSignal
    }

    /// Sends a signal, unless the process has ended.
    public func signal(_ signal: Int32) {
        end.withState { state in
            guard case .running(let process) = state else { return }
            _ = kill(process, signal)
        }
    }

    /// Asks the process to end (SIGTERM).
    public func terminate() { signal(SIGTERM) }
}
