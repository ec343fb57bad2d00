import MobileExecution
import MobileTransport
import SampleCRM
import TestSupport

@testable import MobileSync

/// A device whose work waits for the test; the test can act between its locks.
struct SteppedDevice {
    let bench: TestBench
    let device: Device
    let network: InterruptedTransport
    let busy: BusyServer
    /// The application's work, and that of the package.
    let work = SteppedWork(), synchronization = SteppedWork()
    let intruder = Intruder()

    var application: Application { device.application }
    var crm: CRM { device.crm }

    init(_ bench: TestBench, _ name: String = "device") throws {
        self.bench = bench
        busy = BusyServer(bench.network)
        network = InterruptedTransport(busy)
        device = try Device(
            directory: bench.directory.file(name), transport: network, retryPolicy: RetryPolicy(initialDelay: .seconds(2)),
            surroundings: .init(work: work, crossing: intruder.crossing, random: RandomNumberSource { .max }, now: { 1_800_000_000 }),
            synchronizer: PackageSynchronizer(work: synchronization, crossing: intruder.crossing))
    }

    /// Makes a registered and connected device.
    static func registered(_ bench: TestBench, _ name: String = "device") throws -> SteppedDevice {
        let stepped = try SteppedDevice(bench, name)
        let outcome = try stepped.application.beginRegistration()
        stepped.work.runAll()
        _ = try outcome.wait(timeout: .zero)
        _ = stepped.device.events.take()
        return stepped
    }

    /// Makes a registered, connected and subscribed device.
    static func subscribed(_ bench: TestBench, _ name: String = "device") throws -> SteppedDevice {
        let stepped = try registered(bench, name)
        let outcome = stepped.crm.begin { package throws(SyncError) in try package.subscribe() }
        stepped.synchronization.runAll()
        _ = try outcome.wait(timeout: .zero)
        _ = stepped.device.handler.take()
        return stepped
    }

    /// Returns the statuses that the application's callback received since the last call.
    func statuses() -> [String] { device.events.takeStatuses() }
}

/// A transport that answers all requests with a status while it is switched on, like a busy server or a proxy in front of it.
final class BusyServer: Transport {
    private let transport: any Transport
    private let answer = SystemLock<(status: Int, headers: [(name: String, value: String)])?>(nil)

    init(_ transport: any Transport) { self.transport = transport }

    func answer(_ status: Int?, _ headers: [(name: String, value: String)] = []) {
        answer.withLock { $0 = status.map { ($0, headers) } }
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard let (status, headers) = answer.withLock({ $0 }) else { return try transport.send(request, receive: receive) }
        throw TransportError(.httpStatus, "\(request.urlWithoutQuery): status \(status)", status: status, headers: headers)
    }
}
