import MobileExecution
import MobileObjects
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Callbacks for the connection, for the end of an import, and for a reset.
@Suite struct LateCallbackTests {
    private final class Recorder: CallbackHandler {
        private let list = RecordedLines()
        func take() -> [String] { list.take() }
        private func add(_ name: String) { list.add(name) }
        func onImportSuccess() { add("import") }
        func onResetSuccess() { add("reset") }
        func onTransactionCommit() { add("commit") }
        func onConnectionStatusChange(_ status: MessagingConnectionStatus, _ type: MessagingConnectionType) {
            add("\(status.rawValue) \(type.rawValue)")
            if status == .waitingToRetry { waits.resolve(.success(())) }
        }
        /// Resolved when an attempt to connect has failed.
        let waits = Promise<Void, Never>()
    }

    @Test("CBK-06: onImportSuccess is called once, at the end of the last group, inside of its transaction")
    func importSuccess() throws {
        let bench = try TestBench(), recorder = Recorder()
        let device = try bench.subscribedDevice()
        device.crm.registerCallbackHandler(recorder)
        let result = try device.crm.synchronize()
        #expect(result.groups.count == 2)
        #expect(recorder.take() == ["commit", "import", "commit"])
    }

    @Test("CBK-20: a server that sends everything anew after a recover has reset the device's rows; the first download is no reset")
    func reset() throws {
        let bench = try TestBench(), recorder = Recorder()
        let device = try bench.synchronizedDevice(groups: "default")
        device.crm.registerCallbackHandler(recorder)
        try device.crm.synchronize("default")
        #expect(!recorder.take().contains("reset"))
        try device.crm.recover()
        _ = recorder.take()
        try device.crm.synchronize("default")
        #expect(recorder.take().starts(with: ["reset", "import", "commit"]))
        try device.crm.synchronize("default")
        #expect(!recorder.take().contains("reset"))
    }

    @Test("CBK-25 CBK-26: the database's handlers hear of the connection in the numbers of the 1.5.3 client")
    func connectionStatus() throws {
        let bench = try TestBench(), recorder = Recorder()
        let device = try bench.newDevice()
        device.crm.registerCallbackHandler(recorder)
        try device.application.register(timeout: .seconds(60))
        #expect(recorder.take() == ["1 1"])
        try device.application.stopConnection(timeout: .seconds(60))
        #expect(recorder.take() == ["2 1"])
        bench.network.conditions.fault = { _, _ in .refuse }
        try device.application.startConnection()
        recorder.waits.wait()
        #expect(recorder.take() == ["5 1"])
        let statuses: [MessagingConnectionStatus] = [
            .wrong, .connected, .disconnected, .flightMode, .outOfCoverage, .waitingToRetry, .roamingNotAllowed, .lowStorage,
        ]
        #expect(statuses.map(\.rawValue) == Array(0...7))
        #expect([MessagingConnectionType.wrong, .alwaysOn].map(\.rawValue) == [0, 1])
    }

    @Test("CBK-25: a package that is taken from its application hears nothing more, and one that is gone is not kept")
    func detached() throws {
        let bench = try TestBench(), recorder = Recorder()
        let device = try bench.newDevice()
        device.crm.registerCallbackHandler(recorder)
        device.crm.application = nil
        try device.application.register(timeout: .seconds(60))
        #expect(recorder.take().isEmpty)
    }
}
