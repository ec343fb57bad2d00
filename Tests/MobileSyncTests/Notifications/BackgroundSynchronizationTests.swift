import Foundation
import MobileExecution
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import Synchronization
import TestSupport
import Testing

@testable import MobileSync

/// Devices that synchronize when the server announces changes.
@Suite struct BackgroundSynchronizationTests {
    private static let quick = RetryPolicy(initialDelay: .milliseconds(1), maximumDelay: .milliseconds(50))

    /// Makes a synchronized device that wants announcements of one group.
    private func device(
        _ folder: TemporaryDirectory, _ transport: any Transport, pollingInterval: Duration = .seconds(300), group: String = "default"
    ) throws -> Device {
        let device = try Device(directory: folder.file("listening"), transport: transport, retryPolicy: Self.quick)
        device.crm.synchronizationProfile.pollingInterval = pollingInterval
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize()
        var settings = try device.crm.synchronizationGroup(named: group)
        settings.enableSIS = true
        settings.interval = .milliseconds(1)
        try settings.save()
        _ = device.handler.take()
        return device
    }

    private func has(_ device: Device, _ name: String) -> Bool { (try? device.customers().contains { $0.contains(name) }) ?? false }

    private static let rename = "UPDATE customer SET name = ?1 WHERE id = (SELECT min(id) FROM customer WHERE region = 'NORTH')"

    @Test(
        "SIS-03 SIS-04 CBK-17: a row that another process changes in the back end arrives at a listening device, also after a restart of the server")
    func endToEnd() throws {
        let folder = try TemporaryDirectory(), path = folder.file("enterprise.db")
        try SampleBackEnd.create(at: path, scale: 0.0001)
        // The server is a process of its own.
        let server = try ServerProcess(folder, backEnd: path)
        defer { server.kill() }
        try server.start()
        let device = try device(folder, MovingTransport { server.port })
        device.crm.startBackgroundSynchronization()
        defer { device.crm.stopBackgroundSynchronization() }
        var profile = ConnectionProfile(path: path, journal: .unchanged)
        profile.createsFile = false
        let backEnd = try Database(profile)
        _ = try backEnd.write { try $0.execute(Self.rename, [.text("Announced")]) }
        #expect(eventually { has(device, "Announced") })
        let statuses = device.handler.take().filter { $0.contains("[default]") }
        #expect(statuses.prefix(2) == ["startingOnNotification [default]", "starting [default]"], "\(statuses)")
        server.kill()
        _ = try backEnd.write { try $0.execute(Self.rename, [.text("Missed")]) }
        try server.start()
        #expect(eventually { has(device, "Missed") })
        try backEnd.close()
    }

    @Test("SIS-05: a handler refuses an announced synchronization; the next announcement asks again")
    func refusal() throws {
        let bench = try TestBench(), http = try HTTPServer(serving: bench.server)
        defer { http.stop() }
        let device = try device(bench.directory, MovingTransport { Int(http.port) })
        let refusals = Atomic(0), accepts = Atomic(false)
        device.handler.answer { context in
            guard context.status == .startingOnNotification, !accepts.load(ordering: .relaxed) else { return .continue }
            refusals.add(1, ordering: .relaxed)
            return .cancel
        }
        device.crm.startBackgroundSynchronization()
        defer { device.crm.stopBackgroundSynchronization() }
        try bench.change(Self.rename, [.text("Refused")])
        #expect(eventually { refusals.load(ordering: .relaxed) == 1 } && !has(device, "Refused"))
        accepts.store(true, ordering: .relaxed)
        try bench.change(Self.rename, [.text("Accepted")])
        #expect(eventually { has(device, "Accepted") })
    }

    @Test("SIS-01 SIS-02 SIS-06: the settings of a group are kept in the database, can be copied, and interval 0 switches announcements off")
    func settings() throws {
        let bench = try TestBench(), device = try bench.newDevice()
        #expect(device.crm.synchronizationGroups.allSatisfy { !$0.enableSIS && $0.interval == .zero })
        var group = try device.crm.synchronizationGroup(named: "catalog")
        group.enableSIS = true
        group.interval = .seconds(2)
        #expect(try device.crm.notifiedGroups().isEmpty, "not before it is saved")
        try group.save()
        try device.crm.closeConnection()
        #expect(try device.crm.notifiedGroups() == ["catalog"] && device.crm.synchronizationGroup(named: "catalog") == group)
        let copy = device.crm.synchronizationGroups
        #expect(copy.map(\.enableSIS) == [false, true] && copy.map(\.interval) == [.zero, .seconds(2)])
        group.interval = .zero
        try group.save()
        #expect(try device.crm.notifiedGroups().isEmpty && device.crm.synchronizationGroup(named: "catalog").enableSIS)
        for group in copy { try group.save() }
        #expect(try device.crm.notifiedGroups() == ["catalog"])
        group.interval = .seconds(-1)
        #expect(throws: SyncError.self) { try group.save() }
        #expect(throws: SyncError.self) { try device.crm.synchronizationGroup(named: "system").save() }
    }

    /// A transport on which no stream of events arrives.
    private final class WithoutStreams: Transport {
        let transport: any Transport
        let answer: @Sendable (TransportRequest) throws -> TransportResponse
        let attempts = Atomic(0)

        init(_ transport: any Transport, _ answer: @escaping @Sendable (TransportRequest) throws -> TransportResponse) {
            (self.transport, self.answer) = (transport, answer)
        }

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            guard request.url.hasSuffix("/mobile/v1/events") else { return try transport.send(request, receive: receive) }
            attempts.add(1, ordering: .relaxed)
            return try answer(request)
        }
    }

    private static func refused(_ status: Int) -> @Sendable (TransportRequest) throws -> TransportResponse {
        { _ in throw TransportError(.httpStatus, "status \(status)", status: status) }
    }

    @Test("where no stream arrives the device polls: behind a proxy that ends or refuses it, and with a server that has none", arguments: 0..<4)
    func polling(obstacle: Int) throws {
        let obstacles: [@Sendable (TransportRequest) throws -> TransportResponse] = [
            { _ in TransportResponse(status: 200) }, Self.refused(404), Self.refused(503),
            { _ in throw TransportError(.interrupted, "the proxy has cut the stream") },
        ]
        let bench = try TestBench(), transport = WithoutStreams(bench.network, obstacles[obstacle])
        let device = try device(bench.directory, transport, pollingInterval: .milliseconds(20))
        device.crm.startBackgroundSynchronization()
        for name in ["First", "Second"] {
            try bench.change(Self.rename, [.text(name)])
            // A connection that is cut without an answer is tried again and again, since the server may be away.
            guard obstacle < 3 else { continue }
            #expect(eventually { has(device, name) })
        }
        let needed = obstacle == 0 ? ListeningPlan.shortConnections : 1
        #expect(eventually { transport.attempts.load(ordering: .relaxed) >= needed })
        device.crm.stopBackgroundSynchronization()
        let attempts = transport.attempts.load(ordering: .relaxed)
        try bench.change(Self.rename, [.text("Third")])
        #expect(!has(device, "Third") && transport.attempts.load(ordering: .relaxed) == attempts)
    }

    @Test("a device listens while its application is connected, and ends with the connection; the server sends it away in peace")
    func connection() throws {
        let bench = try TestBench()
        var configuration = HTTPServer.Configuration()
        configuration.heartbeat = .milliseconds(50)
        let http = try HTTPServer(configuration, serving: bench.server)
        let device = try device(bench.directory, MovingTransport { Int(http.port) })
        device.crm.startBackgroundSynchronization()
        device.crm.startBackgroundSynchronization()
        #expect(eventually { http.listeners == 1 })
        try device.application.stopConnection(timeout: .seconds(30))
        #expect(eventually { http.listeners == 0 })
        try device.application.startConnection(timeout: .seconds(30))
        #expect(eventually { http.listeners == 1 })
        device.crm.stopBackgroundSynchronization()
        device.crm.stopBackgroundSynchronization()
        #expect(eventually { http.listeners == 0 })
        device.crm.startBackgroundSynchronization()
        #expect(eventually { http.listeners == 1 })
        #expect(http.drain(notice: .zero, timeout: .seconds(60)))
        device.crm.stopBackgroundSynchronization()
    }
}
