import BenchmarkReferences
import Foundation
import MobileExecution
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import MobileTransport
import PostgreSQLTestSupport

/// The cost of many devices for a server, and the gain of a second process.
enum LoadBenchmarks {
    static let all = [firsts, twoProcesses]

    // MARK: Many first synchronizations

    /// The requests of one device's first synchronization, and the answers' sizes.
    private final class RecordedSynchronization {
        let requests: [RecordingTransport.Recorded]
        /// The answers in files.
        let answers: [String]
        let bytes: Int

        static func of(_ workspace: Workspace) throws -> RecordedSynchronization {
            try RecordedSynchronization(workspace, PreparedPartition.of(workspace, rows: rows(workspace)).server())
        }

        private init(_ workspace: Workspace, _ server: ServerOfBenchmarks) throws {
            let recorder = RecordingTransport(), device = try BenchDevice(workspace, port: server.port, transport: recorder)
            defer { device.remove(from: workspace) }
            recorder.forget()
            try device.package.synchronize("default")
            requests = recorder.requests
            try device.package.closeConnection()
            let folder = workspace.newFile("answers")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let http = HTTPTransport()
            var answers: [String] = [], bytes = 0
            for (index, request) in requests.enumerated() {
                var answer: [UInt8] = []
                _ = try http.send(TransportRequest(request)) { span in span.withUnsafeBytes { answer += $0 } }
                answers.append("\(folder)/\(index)")
                try Data(answer).write(to: URL(fileURLWithPath: answers[index]))
                bytes += answer.count
            }
            (self.answers, self.bytes) = (answers, bytes)
        }
    }

    private static func rows(_ workspace: Workspace) -> Int { workspace.isQuick ? 10_000 : 100_000 }
    private static func devices(_ workspace: Workspace) -> Int { workspace.isQuick ? 20 : 200 }

    /// Sends requests for each of the devices, one after the other, and counts the bytes of the answers.
    private static func receive(_ workspace: Workspace, _ requests: () -> [TransportRequest]) throws -> Int {
        let http = HTTPTransport()
        var bytes = 0
        for _ in 0..<devices(workspace) {
            for request in requests() { _ = try http.send(request) { bytes += $0.byteCount } }
        }
        return bytes
    }

    private static let firsts = Benchmark(
        id: "sync.first.200", shows: "processor time of the server for 200 first synchronizations of one partition of 100,000 rows", limit: 2.0,
        countsRows: false, note: "processor time, not duration; the requests of a device, sent again by libcurl",
        prepare: { workspace in _ = try PreparedPartition.of(workspace, rows: rows(workspace)) },
        reference: Side("nginx: the same bytes as files, in as many requests") { workspace, watch in
            let recorded = try RecordedSynchronization.of(workspace), nginx = try FileServer(workspace)
            defer { nginx.stop() }
            let before = nginx.processorTime
            let bytes = try receive(workspace) { recorded.answers.map { TransportRequest(method: "GET", url: nginx.address + $0) } }
            watch.add(nginx.processorTime - before)
            guard bytes == recorded.bytes * devices(workspace) else { throw WrongResult("nginx: \(bytes) bytes") }
            return Outcome(rows: Int64(devices(workspace)), checksum: 0, bytes: bytes)
        },
        subject: Side("the server") { workspace, watch in
            let recorded = try RecordedSynchronization.of(workspace)
            let server = try PreparedPartition.of(workspace, rows: rows(workspace)).server()
            let before = server.processorTime
            let bytes = try receive(workspace) { recorded.requests.map(TransportRequest.init) }
            watch.add(server.processorTime - before)
            // Grants differ from answer to answer in their digits, not in their number.
            guard bytes == recorded.bytes * devices(workspace) else { throw WrongResult("the server: \(bytes) bytes, not \(recorded.bytes) each") }
            return Outcome(rows: Int64(devices(workspace)), checksum: 0, bytes: bytes)
        })

    // MARK: Two processes

    private static let clients = 8

    private static let twoProcesses = Benchmark(
        id: "sync.two-processes", shows: "synchronizations per second with nothing to do: two processes on one PostgreSQL", limit: 0.9, isRate: true,
        countsRows: false, pairs: 5,
        note: "\(clients) devices at once, by libcurl; devices, processes and PostgreSQL share the machine",
        reference: Side("one process", threads: 2) { workspace, watch in try empties(workspace, processes: 1, &watch) },
        subject: Side("two processes", threads: 2) { workspace, watch in try empties(workspace, processes: 2, &watch) })

    @Sendable private static func empties(_ workspace: Workspace, processes: Int, _ watch: inout Stopwatch) throws -> Outcome {
        let database = try workspace.postgreSQL.get().database(), count = workspace.isQuick ? 50 : 300
        let folder = try workspace.serverFolder(rows: 1000)
        let servers = try (0..<processes).map { _ in try ServerOfBenchmarks(folder: folder, database: database) }
        defer { for server in servers { server.stop() } }
        var requests: [RecordingTransport.Recorded] = []
        for index in 0..<clients {
            let recorder = RecordingTransport()
            let device = try BenchDevice(workspace, port: servers[index % processes].port, transport: recorder)
            for _ in 0..<2 { try device.package.synchronize() }
            requests.append(recorder.request)
            try device.package.closeConnection()
            device.remove(from: workspace)
        }
        let answers = SystemLock<Int64>(0), recorded = requests
        watch.measure {
            DispatchQueue.concurrentPerform(iterations: clients) { index in
                guard let count = try? recorded[index].withCURL({ br_http_send($0, Int32(count)) }) else { return }
                answers.withLock { $0 += Int64(count) }
            }
        }
        let done = answers.withLock { $0 }
        guard done == Int64(clients * count) else { throw WrongResult("\(processes) processes: \(done) answers") }
        return Outcome(rows: done, checksum: 0)
    }
}

extension TransportRequest {
    fileprivate init(_ recorded: RecordingTransport.Recorded) {
        self.init(method: recorded.method, url: recorded.url, headers: recorded.headers, body: recorded.body.isEmpty ? .none : .bytes(recorded.body))
    }
}

/// nginx as a server of files, in one process.
private final class FileServer {
    let address: String
    private let process = Process()

    init(_ workspace: Workspace) throws {
        let port = try ServerFolder.freePort(), folder = workspace.newFile("nginx")
        address = "http://127.0.0.1:\(port)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: "\n")
        let configuration = """
            \(geteuid() == 0 ? "user root;" : "")
            daemon off;
            master_process off;
            pid \(folder)/nginx.pid;
            error_log \(folder)/nginx.log warn;
            events {}
            http { access_log off; sendfile on; tcp_nopush on; root /; \(temporary) server { listen 127.0.0.1:\(port); } }
            """
        try configuration.write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        guard let nginx = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"].first(where: FileManager.default.isExecutableFile) else {
            throw WrongResult("nginx is not installed: sync.first.200 is measured against it")
        }
        process.executableURL = URL(fileURLWithPath: nginx)
        process.arguments = ["-c", folder + "/nginx.conf", "-p", folder]
        try process.run()
        // It listens a moment later.
        let end = ContinuousClock.now + .seconds(10), http = HTTPTransport()
        while true {
            var request = TransportRequest(method: "GET", url: address + "/")
            request.expects = .any
            do { if try http.send(request, receive: { _ in }).status > 0 { return } } catch  where ContinuousClock.now < end { continue }
        }
    }

    var processorTime: Duration { ProcessorTime.of(process.processIdentifier) }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
