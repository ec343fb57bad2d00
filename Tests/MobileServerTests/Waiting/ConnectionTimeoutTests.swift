import Dispatch
import Foundation
import MobileExecution
import MobileProtocol
import MobileStore
import Synchronization
import TestSupport
import Testing

@testable import MobileServer

/// Requests for a connection that is in use: after a time the server refuses them, and reports when to try again.
@Suite struct ConnectionTimeoutTests {
    /// Delays the server's random numbers: a request that begins a session is then inside of a transaction of the cache.
    final class HeldRandom: Sendable {
        private let isHeld = Atomic(false)
        let arrived = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func hold() { isHeld.store(true, ordering: .sequentiallyConsistent) }
        func open() { opened.signal() }

        func bytes(_ count: Int) -> [UInt8] {
            if isHeld.exchange(false, ordering: .sequentiallyConsistent) {
                arrived.signal()
                opened.wait()
            }
            return SystemEnvironment.randomBytes(count)
        }
    }

    private func login(_ device: String) -> [UInt8] {
        Message.bytes([
            Message(
                MessageHeader(method: .login, id: "1", package: "Field:2.0", client: device, application: "crm", device: device),
                content: Credentials(user: "ada", password: "secret"))
        ])
    }

    /// Runs `request` while another login of the server is in the middle of its transaction.
    /// - Returns: the answer; nil without one within 20 seconds.
    private func whileTheWriterIsTaken<R: Sendable>(_ server: MobileServer, _ random: HeldRandom, _ request: @escaping @Sendable () -> R) -> R? {
        let holder = DispatchSemaphore(value: 0), answered = DispatchSemaphore(value: 0), answer = SystemLock<R?>(nil)
        let bytes = login("phone")
        random.hold()
        Thread.detachNewThread {
            _ = server.respond(to: ServerRequest(method: "POST", path: Endpoint.messages, body: Spool(bytes)))
            holder.signal()
        }
        random.arrived.wait()
        Thread.detachNewThread {
            let result = request()
            answer.withLock { $0 = result }
            answered.signal()
        }
        let isAnswered = answered.wait(timeout: .now() + 20) == .success
        random.open()
        holder.wait()
        if !isAnswered { answered.wait() }
        return isAnswered ? answer.withLock { $0 } : nil
    }

    @Test("a message that gets no connection in time is answered with 503, and the time after which to come again", .stateInFile)
    func message() throws {
        let random = HeldRandom()
        let server = try FieldSales.server {
            $0.random = { random.bytes($0) }
            $0.connectionTimeout = .milliseconds(50)
        }
        _ = try TestDevice(server)
        let (running, bytes) = (server.server, login("phone"))
        let answer = whileTheWriterIsTaken(running, random) {
            let response = running.respond(to: ServerRequest(method: "POST", path: Endpoint.messages, body: Spool(bytes)))
            let code = try? Message.messages(parsing: TestServer.bytes(of: response))[0].content(as: ProtocolFailure.self).code
            return [code.map { "\($0)" } ?? "-", response.headers.first { $0.name == "Retry-After" }?.value ?? "-"]
        }
        #expect(answer == ["503", "5"])
        let later = running.respond(to: ServerRequest(method: "POST", path: Endpoint.messages, body: Spool(bytes)))
        #expect(try Message.messages(parsing: TestServer.bytes(of: later))[0].header.method == .login.result)
    }

    @Test("a synchronization that gets no connection in time is refused as a whole: no operation is rejected for it", .stateInFile)
    func synchronization() throws {
        let random = HeldRandom()
        let server = try FieldSales.server {
            $0.random = { random.bytes($0) }
            $0.connectionTimeout = .milliseconds(50)
        }
        let device = try TestDevice(server)
        let (running, token) = (server.server, device.token)
        let header = SynchronizeHeader(client: "another", package: server.package)
        var writer = FrameWriter(.upload)
        try writer.write(.header(header))
        try writer.write(.streamEnd)
        let bytes = writer.take()
        let answer = whileTheWriterIsTaken(running, random) {
            let response = running.respond(
                to: ServerRequest(
                    method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(token)"], body: Spool(bytes)))
            return ["\(response.status)", response.headers.first { $0.name == "Retry-After" }?.value ?? "-"]
        }
        #expect(answer == ["503", "5"])
    }

    @Test("a back end's connections are waited for no longer than the server says")
    func backEnd() throws {
        let folder = try TemporaryDirectory(), path = folder.file("enterprise.db")
        let made = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try made.write { _ = try $0.execute("CREATE TABLE t (a)") }
        try made.close()
        let backEnd = try SQLiteEngine(name: "enterprise", path: path, timeout: .milliseconds(50))
        defer { #expect(throws: Never.self) { try backEnd.close() } }
        let codes = SystemLock<[StoreError.Code?]>([])
        func meanwhile(_ work: @escaping @Sendable () throws -> Void) {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let error = #expect(throws: StoreError.self) { try work() }
                codes.withLock { $0.append(error?.code) }
                done.signal()
            }
            done.wait()
        }
        try backEnd.database.read { _ in meanwhile { try backEnd.database.read { _ in } } }
        try backEnd.database.write { _ in meanwhile { try backEnd.database.write { _ in } } }
        try backEnd.contents.read { _ in
            let second = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                #expect(throws: Never.self) {
                    try backEnd.contents.read { _ in
                        second.signal()
                        end.wait()
                    }
                }
                ended.signal()
            }
            second.wait()
            meanwhile { try backEnd.contents.read { _ in } }
            end.signal()
            ended.wait()
        }
        #expect(codes.withLock { $0 } == [.timeout, .timeout, .timeout])
    }

    @Test(
        "an operation whose back end is taken by another request of the server is not rejected: the upload is refused, and comes again",
        .backEndInFile)
    func replay() throws {
        let server = try FieldSales.server { $0.connectionTimeout = .milliseconds(50) }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let running = server.server, token = device.token
        let upload = try device.upload([device.create("Customer", ["name": "Newest", "region": "NORTH"])], groups: [])
        let backEnd = try running.sqliteBackEnd("enterprise")
        let statuses = SystemLock<[Int]>([])
        try backEnd.database.write { _ in
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                let response = running.respond(
                    to: ServerRequest(
                        method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(token)"], body: Spool(upload)))
                statuses.withLock { $0.append(response.status) }
                done.signal()
            }
            #expect(done.wait(timeout: .now() + 20) == .success, "the request waits as long as the other one has the back end")
        }
        #expect(statuses.withLock { $0 } == [503])
        #expect(try device.synchronize(upload: upload).results.map(\.outcome) == [.accepted])
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\" WHERE name = 'Newest'") == 1)
    }
}
