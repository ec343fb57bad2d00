import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync
import MobileTransport
import PostgreSQLClient
import PostgreSQLTestSupport
import SampleCRM
import TestSupport
import Testing

/// Three processes on one PostgreSQL with nginx as their proxy, which are killed, stopped, drained and restarted while devices work. `SERVER_SOAK_SECONDS` and
/// `SERVER_SOAK_DEVICES` make it long.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests && ServerFleet.nginx != nil, "PostgreSQL and nginx are needed; install Debian's packages"))
struct SeveralServersTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let devices = environment["SERVER_SOAK_DEVICES"].flatMap { Int($0) } ?? 8
    private static let seconds = environment["SERVER_SOAK_SECONDS"].flatMap { Double($0) }

    /// The means by which the servers are disturbed. Each leaves everything running.
    private enum Disturbance: CaseIterable {
        case kill, drain, pause, cutConnections, restartPostgreSQL
    }

    @Test("nothing is lost, doubled or reordered while processes are killed, stopped and drained, connections are cut and PostgreSQL restarts")
    func disturbed() throws {
        let directory = try TemporaryDirectory(), backEndPath = directory.file("enterprise.db")
        try SampleBackEnd.create(at: backEndPath, scale: 0.0001)
        let postgreSQL = try PostgreSQLServer(settings: ["idle_in_transaction_session_timeout": "2000"]), database = try postgreSQL.database()
        let fleet = try ServerFleet(directory, store: database.configuration.address)
        defer { fleet.stop() }
        for index in 0..<fleet.count { try fleet.start(index, makesUser: index == 0) }
        try fleet.startProxy()

        let field = try (0..<Self.devices).map { try FieldWorker($0, directory, port: fleet.port) }
        try field.inParallel { try $0.begin() }
        var random = SeededGenerator(seed: UInt64(Self.seconds == nil ? 7 : Date().timeIntervalSince1970))
        let end = ContinuousClock.now + .seconds(Self.seconds ?? 0), disturbances = SystemLock(0)
        var plan = Disturbance.allCases
        repeat {
            let first = plan.popLast(), seed = random.next()
            let hasWorked = DispatchSemaphore(value: 0), isDone = DispatchSemaphore(value: 0), failure = SystemLock<(any Error)?>(nil)
            Thread.detachNewThread {
                var random = SeededGenerator(seed: seed), next = first
                do {
                    // A round of a thousand devices takes minutes.
                    repeat {
                        let disturbance = next ?? Disturbance.allCases.randomElement(using: &random) ?? .kill
                        try Self.disturb(disturbance, Int.random(in: 0..<fleet.count, using: &random), fleet, postgreSQL)
                        disturbances.withLock { $0 += 1 }
                        next = nil
                    } while Self.seconds != nil && hasWorked.wait(timeout: .now() + 5) == .timedOut
                } catch { failure.withLock { $0 = error } }
                isDone.signal()
            }
            let work = Result { try field.inParallel { try $0.work() } }
            hasWorked.signal()
            isDone.wait()
            try work.get()
            if let error = failure.withLock({ $0 }) { throw error }
        } while !plan.isEmpty || ContinuousClock.now < end

        try field.inParallel { try $0.settle() }
        // The devices that were the first to settle do not have the rows of the others yet.
        try field.inParallel { try $0.settle() }
        let backEnd = try Database(ConnectionProfile(path: backEndPath, journal: .unchanged))
        defer { try? backEnd.close() }
        let rows = try backEnd.read { connection in
            try connection.rows(BackEndCustomer.query).map { BackEndCustomer(id: $0[0].integer ?? 0, name: $0[1].text ?? "", city: $0[2].text ?? "") }
        }
        for worker in field {
            let wrong = try worker.check(rows), refused = try worker.rejections().map(\.message)
            #expect(wrong.isEmpty && refused.isEmpty, "each row has its last change: \(wrong) \(refused)")
        }
        let visits = try backEnd.read { try $0.number("SELECT count(*) FROM customer WHERE name LIKE 'Device %'") }
        #expect(visits == field.reduce(0) { $0 + Int64($1.expected.count) })
        print("\(field.count) devices, \(disturbances.withLock { $0 }) disturbances, \(field.reduce(0) { $0 + $1.operations }) operations, \(visits) rows")
    }

    @Test("nginx sends the segments of a large download from the server's files, also parts of them, to the session that they were granted to")
    func segmentsFromProxy() throws {
        let directory = try TemporaryDirectory(), contents = try SampleBackEnd.create(at: directory.file("enterprise.db"), scale: 0.2)
        let database = try PostgreSQLTestDatabase(), fleet = try ServerFleet(directory, store: database.configuration.address, count: 2)
        defer { fleet.stop() }
        for index in 0..<fleet.count { try fleet.start(index, makesUser: index == 0) }
        try fleet.startProxy()
        let transport = SegmentRecorder(port: fleet.port), device = try Device(directory: directory.file("device"), transport: transport)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize("default")
        #expect(try Customer.findAll(in: device.crm).count == contents.northCustomers)

        var request = try #require(transport.last)
        let whole = try Self.answer(request, transport)
        request.headers.append((name: "Range", value: "bytes=10-29"))
        let part = try Self.answer(request, transport)
        #expect(whole.status == 200 && part.status == 206 && whole.bytes.count > 1000 && part.bytes == Array(whole.bytes[10..<30]))
        request.headers = []
        #expect(try Self.answer(request, transport).status == 401)
        let name = try #require(request.url.split(separator: "?").first?.split(separator: "/").last)
        #expect(
            try Self.answer(TransportRequest(url: "http://127.0.0.1:\(fleet.port)/segments/\(name)"), transport).status == 404,
            "the location is internal")
        fleet.cutConnections()
        let lines = try String(contentsOfFile: fleet.proxyLog, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("/segments/\(name) 200 \(whole.bytes.count)") && lines.contains("/segments/\(name) 206 20"))
    }

    private static func answer(_ request: TransportRequest, _ transport: any Transport) throws -> (status: Int, bytes: [UInt8]) {
        var request = request, bytes: [UInt8] = []
        request.expects = .any
        let response = try transport.send(request) { piece in piece.withUnsafeBytes { bytes += $0 } }
        return (response.status, bytes)
    }

    private static func disturb(_ disturbance: Disturbance, _ target: Int, _ fleet: ServerFleet, _ postgreSQL: PostgreSQLServer) throws {
        switch disturbance {
        case .kill:
            fleet.kill(target)
            try fleet.start(target)
        case .drain:
            let status = fleet.drain(target)
            #expect(status == 0, "a drained server ends regularly")
            try fleet.start(target)
        case .pause:
            fleet.pause(target)
            // PostgreSQL gives back the locks of a process that does not continue.
            let observer = try PostgreSQLConnection(postgreSQL.configuration(database: "postgres"))
            while try observer.first("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'") != [0] {}
            fleet.pause(target, false)
        case .cutConnections:
            fleet.cutConnections()
            try fleet.startProxy()
        case .restartPostgreSQL:
            try postgreSQL.restart()
        }
    }
}

/// A transport to one port that keeps the last request for a segment.
private final class SegmentRecorder: Transport {
    private let http: MovingTransport
    private let sent = SystemLock<(url: String, headers: [(name: String, value: String)])?>(nil)

    init(port: Int) { http = MovingTransport { port } }

    var last: TransportRequest? { sent.withLock { $0 }.map { TransportRequest(url: $0.url, headers: $0.headers) } }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        if request.url.contains("/segments/") { sent.withLock { $0 = (request.url, request.headers) } }
        return try http.send(request, receive: receive)
    }
}
