import Foundation
import MobileExecution
import MobileModel
import MobileObjects
import PostgreSQLTestSupport
import SampleCRM
import TestSupport

/// Processes of `mobile serve` that share one state in PostgreSQL, with nginx as their proxy and the settings of the article *Running the server*.
final class ServerFleet: Sendable {
    static let nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The port of nginx.
    let port: Int
    let count: Int
    private let directory: TemporaryDirectory
    private let store: String
    private let backEnd: String
    private let ports: [UInt16]
    private let article: String
    private struct Running {
        var servers: [Int: ChildProcess] = [:]
        var proxy: ChildProcess?
    }
    private let running = SystemLock(Running())

    /// - Parameters:
    ///   - store: the address of the state's database.
    ///   - backEnd: the address of the back end's database; nil (default) for the file `enterprise.db` in the folder.
    init(_ directory: TemporaryDirectory, store: String, backEnd: String? = nil, count: Int = 3) throws {
        (self.directory, self.store, self.count) = (directory, store, count)
        self.backEnd = backEnd ?? directory.file("enterprise.db")
        ports = try (0..<count).map { _ in try ServerFolder.freePort() }
        port = Int(try ServerFolder.freePort())
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        article = try String(contentsOf: root.appending(path: "Sources/MobileServer/MobileServer.docc/RunningTheServer.md"), encoding: .utf8)
        try CRM.metadata.model.write(to: URL(fileURLWithPath: directory.file("crm.mbo.json")))
    }

    deinit { stop() }

    /// The folder of the files that nginx sends.
    private var segments: String { directory.file("segments") }
    /// One line per request: the path, after a redirection the new one, the status, and the number of bytes.
    var proxyLog: String { directory.file("access.log") }

    // MARK: Servers

    /// Starts a server with the command of the article's service, and waits until it listens.
    /// - Parameter makesUser: whether it also makes the user of the tests.
    func start(_ index: Int, makesUser: Bool = false) throws {
        let process = ChildProcess(), output = Pipe(), input = Pipe()
        process.executableURL = Program.built("mobile")
        process.arguments = try arguments(index) + ["--drain-notice", "0"] + (makesUser ? ["--user", TestBench.user, "--password-fd", "0"] : [])
        process.standardInput = input
        process.standardOutput = output
        process.standardError = try ServerProcess.appending(to: directory.file("server-\(index).log"))
        if makesUser { try input.fileHandleForWriting.write(contentsOf: Data((TestBench.password + "\n").utf8)) }
        try process.run()
        try input.fileHandleForWriting.close()
        guard !output.fileHandleForReading.availableData.isEmpty else {
            throw Self.failure(directory.file("server-\(index).log"))
        }
        running.withLock { $0.servers[index] = process }
    }

    /// The arguments of the sample service, with the names of this test in place of those of the sample.
    private func arguments(_ index: Int) throws -> [String] {
        guard let line = try block("ini").split(separator: "\n").first(where: { $0.hasPrefix("ExecStart=/usr/local/bin/mobile ") }) else {
            throw CocoaError(.formatting)
        }
        let changes = [
            "/etc/mobile/crm.mbo.json": directory.file("crm.mbo.json"),
            "enterprise=/srv/crm/enterprise.db": "enterprise=" + backEnd,
            "postgresql://mobile@db.example/mobile": store, "8081": "\(ports[index])",
            "/var/cache/mobile/segments": segments,
        ]
        return line.split(separator: " ").dropFirst().map { changes[String($0)] ?? String($0) }
    }

    /// Kills a server at any point of its work (SIGKILL), and waits until it is gone.
    func kill(_ index: Int) { end(index, SIGKILL) }

    /// Ends a server as its supervisor does (SIGTERM).
    /// - Returns: its exit status.
    @discardableResult func drain(_ index: Int) -> Int32? { end(index, SIGTERM) }

    @discardableResult private func end(_ index: Int, _ signal: Int32) -> Int32? {
        guard let process = running.withLock({ $0.servers.removeValue(forKey: index) }) else { return nil }
        process.signal(signal)
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Stops a server without ending it (SIGSTOP), or lets it continue (SIGCONT).
    func pause(_ index: Int, _ isPaused: Bool = true) {
        guard let process = running.withLock({ $0.servers[index] }) else { return }
        process.signal(isPaused ? SIGSTOP : SIGCONT)
    }

    // MARK: Proxy

    /// Starts nginx with the sample configuration, without TLS and on the ports of this test, and waits until it listens.
    func startProxy() throws {
        guard let nginx = Self.nginx else { throw CocoaError(.fileNoSuchFile) }
        var sample = try block("nginx")
        for (index, port) in ports.enumerated() { sample = sample.replacing("127.0.0.1:808\(index + 1) ", with: "127.0.0.1:\(port) ") }
        sample = sample.replacing("listen 443 ssl;", with: "listen 127.0.0.1:\(port);").replacing("/var/cache/mobile/segments", with: segments)
        sample = sample.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(directory.file("nginx-" + $0));" }
        let configuration = """
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(directory.file("nginx.pid"));
            error_log \(directory.file("nginx.log")) warn;
            events { worker_connections 8192; }
            http {
            log_format content '$uri $status $body_bytes_sent';
            access_log \(proxyLog) content;
            \(temporary.joined(separator: "\n"))
            \(sample)
            }
            """
        try configuration.write(toFile: directory.file("nginx.conf"), atomically: true, encoding: .utf8)
        let process = ChildProcess()
        process.executableURL = URL(filePath: nginx)
        process.arguments = ["-c", directory.file("nginx.conf"), "-p", directory.path, "-g", "daemon off;"]
        process.standardError = try ServerProcess.appending(to: directory.file("nginx.log"))
        try process.run()
        running.withLock { $0.proxy = process }
        while !ServerFolder.isListening(UInt16(port)) {
            guard process.isRunning else { throw Self.failure(directory.file("nginx.log")) }
        }
    }

    /// Ends nginx without waiting for its requests, so that the connections of all devices break.
    func cutConnections() {
        guard let proxy = running.withLock({ $0.proxy.take() }) else { return }
        proxy.signal(SIGTERM)
        proxy.waitUntilExit()
    }

    /// The error of a program that has ended at its start, with the end of its log.
    private static func failure(_ log: String) -> any Error {
        let messages = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: String(messages.suffix(2000))])
    }

    /// Kills everything that runs.
    func stop() {
        for index in 0..<count { kill(index) }
        cutConnections()
    }

    /// A block of code of the article.
    private func block(_ language: String) throws -> String {
        let parts = article.components(separatedBy: "```")
        guard let block = parts.first(where: { $0.hasPrefix(language + "\n") }) else { throw CocoaError(.formatting) }
        return String(block.dropFirst(language.count + 1))
    }
}
