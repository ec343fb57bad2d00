import Foundation
import MobileServer

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
            complain("\(error.message)\n\n\(ServeArguments.usage)")
            return Command.usageStatus
        } catch {
            complain("mobile serve: \(error)")
            return 1
        }
    }

    private static func serve(_ arguments: ServeArguments) throws -> Int32 {
        var listening = try arguments.listening()
        var configuration = try arguments.configuration()
        listening.log = { complain($0) }
        // Blocked before any other thread exists, so that only the wait below gets the signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)

        configuration.log = { complain($0) }
        let server = try MobileServer(configuration)
        let http = try HTTPServer(listening, serving: server)
        let host = arguments.address.contains(":") ? "[\(arguments.address)]" : arguments.address
        print("serving \(server.packageNames.joined(separator: ", ")) at \(listening.certificate == nil ? "http" : "https")://\(host):\(http.port)")
        fflush(nil)

        var received: Int32 = 0
        sigwait(&signals, &received)
        http.stop()
        try server.close()
        return 0
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
