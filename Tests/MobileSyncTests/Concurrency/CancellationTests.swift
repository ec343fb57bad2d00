import Foundation
import MobileExecution
import MobileObjects
import MobileServer
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Every asynchronous call of the module ends soon after its task is cancelled, while the server takes connections and never answers.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    private static let calls: [(name: String, call: @Sendable (Device) async throws -> Void)] = [
        ("register", { try await $0.application.register(timeout: nil) }),
        ("startConnection", { try await $0.application.startConnection(timeout: nil) }),
        ("stopConnection", { try await $0.application.stopConnection(timeout: nil) }),
        ("unregister", { try await $0.application.unregister(timeout: nil) }),
        ("onlineLogin", { try await $0.crm.onlineLogin() }),
        ("loginToSync", { _ = try await $0.crm.loginToSync(user: TestBench.user, password: TestBench.password) }),
        ("offlineLogin", { _ = try await $0.crm.offlineLogin(user: TestBench.user, password: TestBench.password) }),
        ("subscribe", { try await $0.crm.subscribe() }), ("unsubscribe", { try await $0.crm.unsubscribe() }),
        ("suspendSubscription", { try await $0.crm.suspendSubscription() }), ("resumeSubscription", { try await $0.crm.resumeSubscription() }),
        ("recover", { try await $0.crm.recover() }), ("synchronize", { try await $0.crm.synchronize() }),
        ("disableSync", { await $0.crm.disableSync() }),
        ("uploadTrace", { _ = try await $0.application.traceService.uploadTrace(Array("<trace/>".utf8)) }),
    ]

    /// The calls that use the local database alone.
    private static let localCalls: [(name: String, call: @Sendable (Device) async throws -> Void)] = [
        ("isSubscribed", { _ = try await $0.crm.isSubscribed() }),
        ("isSynchronized", { _ = try await $0.crm.isSynchronized("default") }),
        ("synchronizationGroup", { _ = try await $0.crm.synchronizationGroup(named: "default") }),
        ("save", { try await $0.crm.synchronizationGroup(named: "default").save() }),
        ("close", { try await $0.application.close() }),
    ]

    @Test func `the tables of these tests have all asynchronous calls`() throws {
        let folder = Repository.file("Sources/MobileSync")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var names: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /public [a-z() ]*func (\w+)\([^{]*?\) async/) { names.insert(String(match.1)) }
        }
        #expect(names == Set((Self.calls + Self.localCalls).map(\.name)))
    }

    @Test func `a call that uses the local database alone waits for no call that waits for the server`() async throws {
        let silent = try SilentServer()
        let device = try subscribedDevice(silent)
        let waiting = Task { try await device.crm.recover() }
        await silent.connection()
        for (name, call) in Self.localCalls where name != "close" { try await call(device) }
        let isSubscribed = try await device.crm.isSubscribed()
        waiting.cancel()
        let error = await #expect(throws: SyncError.self) { try await waiting.value }
        #expect(isSubscribed && error?.code == .cancelled)
        try await device.release(silent)
        try await device.application.close()
    }

    @Test("a call that waits for the server ends with its task", arguments: calls.map(\.name))
    func onItsWay(name: String) async throws {
        let silent = try SilentServer()
        let device = try subscribedDevice(silent)
        let call = try #require(Self.calls.first { $0.name == name }).call
        // These send nothing: they wait for another call.
        let isLocal = ["stopConnection", "offlineLogin", "disableSync"].contains(name)
        if name == "startConnection" || name == "stopConnection" {
            silent.isOff.withLock { $0 = true }
            try await device.application.stopConnection()
            silent.isOff.withLock { $0 = false }
        }
        let before = Task {
            guard isLocal else { return }
            if name == "stopConnection" {
                try await device.application.startConnection(timeout: nil)
            } else {
                try await device.crm.recover()
            }
        }
        if isLocal { await silent.connection() }
        try await expectEnd(call, of: device) { if !isLocal { await silent.connection() } }
        before.cancel()
        _ = await before.result
        try await device.release(silent)
    }

    @Test("a call that waits for its turn is dropped with its task", arguments: calls.map(\.name).filter { $0 != "uploadTrace" })
    func inTheQueue(name: String) async throws {
        let silent = try SilentServer()
        let device = try subscribedDevice(silent)
        let call = try #require(Self.calls.first { $0.name == name }).call
        // One call of the application and one of the package are on their way.
        try await device.application.stopConnection(timeout: .seconds(60))
        let first = Task { try await device.application.startConnection(timeout: nil) }
        await silent.connection()
        let second = Task { try await device.crm.recover() }
        await silent.connection()
        try await expectEnd(call, of: device) {}
        for task in [first, second] { task.cancel() }
        _ = await first.result
        _ = await second.result
        try await device.release(silent)
    }

    @Test func `one caller of a shared synchronization leaves, and the other one gets its result`() async throws {
        let bench = try TestBench()
        let gate = Gate(), begun = Arrivals()
        let server = bench.server
        let isSlow = SystemLock(false)
        let device = try bench.subscribedDevice(
            transport: SimulatedTransport(server: { request in
                if isSlow.withLock({ $0 }) {
                    begun.add()
                    gate.wait()
                }
                return server.respond(to: request)
            }))
        isSlow.withLock { $0 = true }
        let first = Task { try await device.crm.synchronize("default") }
        await begun.next()
        // Both wait, and the next synchronization will serve them.
        let stays = Task { try await device.crm.synchronize("default") }
        let leaves = Task { try await device.crm.synchronize("default") }
        let synchronizer = device.crm.synchronizer
        try await BlockingWork.run { while synchronizer.state.withLock({ $0.queue.waiting.count }) < 2 {} }
        leaves.cancel()
        let error = await #expect(throws: SyncError.self) { try await leaves.value }
        #expect(error?.code == .cancelled)
        gate.open()
        _ = try await first.value
        #expect(try await stays.value.groups == ["default"])
    }

    /// Begins a call, cancels its task and expects its end.
    private func expectEnd(
        _ call: @escaping @Sendable (Device) async throws -> Void, of device: Device, whenBegun begun: () async -> Void
    ) async throws {
        let task = Task { try await call(device) }
        await begun()
        task.cancel()
        switch await task.result {
        case .success: break  // stopped or disabled, which needs no server
        case .failure(let error as SyncError): #expect(error.code == .cancelled, "\(error)")
        case .failure(let error as E2ETraceUploadError): #expect(error.code == .cancelled, "\(error)")
        case .failure(let error): Issue.record(error)
        }
    }

    /// Makes a connected and subscribed device whose next requests go to the silent server.
    private func subscribedDevice(_ silent: SilentServer) throws -> Device {
        let bench = try TestBench()
        silent.isOff.withLock { $0 = true }
        let network: any Transport = bench.network
        let device = try bench.subscribedDevice(transport: SwitchedTransport { silent.isOff.withLock { $0 } ? network : silent })
        try device.crm.onlineLogin(user: TestBench.user, password: TestBench.password)
        silent.isOff.withLock { $0 = false }
        return device
    }
}

extension Device {
    /// Ends the attempts of the application, so that no thread waits for the silent server's time.
    fileprivate func release(_ silent: SilentServer) async throws {
        silent.refuse()
        try await application.stopConnection()
    }
}

/// A server that takes connections and never answers, and the way to it.
private final class SilentServer: Transport {
    private let listener: SilentListener
    private let transport = HTTPTransport()
    private let arrivals = Arrivals()
    private let isClosed = SystemLock(false)
    /// All requests that are on their way.
    private let running = TransportCancellation()
    /// Whether requests go to another server.
    let isOff = SystemLock(false)

    init() throws { listener = try SilentListener() }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        var request = request
        let path = request.url.range(of: "/mobile/v1").map { request.url[$0.lowerBound...] } ?? ""
        request.url = "http://127.0.0.1:\(listener.port)\(path)"
        // So that only a cancellation ends it.
        request.stallTimeout = nil
        if request.cancellation == nil { request.cancellation = running }
        arrivals.add()
        return try transport.send(request, receive: receive)
    }

    /// Waits until one more request was sent.
    func connection() async { await arrivals.next() }

    /// Ends the requests that no caller can cancel.
    func refuse() { running.cancel() }
}

/// A TCP port that takes connections into its queue only.
private final class SilentListener: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            guard let start = bytes.bindMemory(to: sockaddr.self).baseAddress else { return -1 }
            guard bind(descriptor, start, length) == 0, listen(descriptor, 16) == 0 else { return -1 }
            return getsockname(descriptor, start, &length)
        }
        guard status == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(descriptor) }
}

/// Counts arrivals, and lets one task wait for each.
private final class Arrivals: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func add() { continuation.yield() }

    func next() async { for await _ in stream { return } }
}
