import MobileExecution
import SampleCRM
import TestSupport

@testable import MobileSync

/// A device whose work waits for the test, and between whose locks the test can come.
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
            surroundings: .init(work: work, crossing: intruder.crossing, random: RandomSource { .max }, now: { 1_800_000_000 }),
            synchronizer: PackageSynchronizer(work: synchronization, crossing: intruder.crossing))
    }

    /// Registered and connected.
    static func registered(_ bench: TestBench, _ name: String = "device") throws -> SteppedDevice {
        let stepped = try SteppedDevice(bench, name)
        let outcome = try stepped.application.beginRegistration()
        stepped.work.runAll()
        _ = try outcome.wait(timeout: .zero)
        _ = stepped.device.events.take()
        return stepped
    }

    /// Subscribed as well.
    static func subscribed(_ bench: TestBench, _ name: String = "device") throws -> SteppedDevice {
        let stepped = try registered(bench, name)
        let outcome = stepped.crm.begin { package throws(SyncError) in try package.subscribe() }
        stepped.synchronization.runAll()
        _ = try outcome.wait(timeout: .zero)
        _ = stepped.device.handler.take()
        return stepped
    }

    /// What the application's callback heard of statuses since the last call.
    func statuses() -> [String] { device.events.takeStatuses() }
}
