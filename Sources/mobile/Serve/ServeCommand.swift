import Foundation
import MobileServer
import MobileServerWorklight

/// `mobile serve`: only the server.
enum ServeCommand {
    static let summary = "serves packages over HTTP or HTTPS"

    /// - Parameter arguments: the arguments after `serve`.
    /// - Returns: the exit status: 0 stopped by a signal, 1 failure at the start, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(ServeArguments.usage)
            return 0
        }
        do {
            return try serve(ServeArguments(arguments))
        } catch let error as UsageError {
            Terminal.refuse(error, of: "serve")
            return Command.usageStatus
        } catch {
            complain("mobile serve: \(Terminal.words(for: error))")
            return 1
        }
    }

    private static func serve(_ arguments: ServeArguments) throws -> Int32 {
        var listening = try arguments.listening()
        var configuration = try arguments.configuration()
        let log = Self.log(arguments.logFormat, configuration.clock)
        listening.log = { log(.error, $0) }
        // Blocked before any other thread exists, so that only the wait below gets the signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        configuration.log = { complain($0) }
        DescriptorLimit.raise()
        let server = try MobileServer(configuration)
        if try server.administration.users().isEmpty { log(.warning, "there are no users yet, so no device can register: add --user NAME") }
        let http = try HTTPServer(listening, serving: server)
        let host = arguments.address.contains(":") ? "[\(arguments.address)]" : arguments.address
        print("serving \(server.packageNames.joined(separator: ", ")) at \(listening.certificate == nil ? "http" : "https")://\(host):\(http.port)")
        let scheme = listening.certificate == nil ? "http" : "https"
        let face = try WorklightFace(arguments, listening, configuration)
        if let face { print("serving Worklight clients at \(scheme)://\(host):\(face.http.port)") }
        let rhoConnect = try RhoConnectFace(arguments, listening, server)
        if let rhoConnect { print("serving RhoConnect clients at \(scheme)://\(host):\(rhoConnect.http.port): \(rhoConnect.sources)") }
        fflush(nil)

        let awaited = signals
        let signal = Self.wait(for: awaited)
        // A second signal ends the process at once, even if the server hangs.
        Thread.detachNewThread { _exit(128 + Self.wait(for: awaited)) }
        log(.info, "draining: finishing requests for \(arguments.drainTimeout) at most")
        face?.http.stop(timeout: arguments.drainTimeout)
        rhoConnect?.http.stop(timeout: arguments.drainTimeout)
        let isFinished = http.drain(notice: signal == SIGTERM ? arguments.drainNotice : .zero, timeout: arguments.drainTimeout)
        if !isFinished { log(.warning, "requests in progress were cut off: they did not end within \(arguments.drainTimeout)") }
        try face?.server.close()
        try server.close()
        log(.info, "stopped")
        return 0
    }

    private static func wait(for signals: sigset_t) -> Int32 {
        var signals = signals, received: Int32 = 0
        sigwait(&signals, &received)
        return received
    }

    private static func log(_ format: LogFormat, _ clock: @escaping @Sendable () -> Int64) -> @Sendable (LogEntry.Level, String) -> Void {
        { level, text in complain(LogEntry(level, text).line(format, time: clock())) }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
