import Foundation
import MobileExecution
import MobileObjects
import MobileProtocol
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileServer
@testable import MobileSync

/// The callbacks of a synchronization, their order, and their threads.
@Suite struct CallbackTests {
    @Test("CBK-15 CBK-16 SYN-11: a synchronization reports starting, uploading, downloading and finishing, with its groups")
    func statuses() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        _ = device.handler.take()
        try device.crm.synchronize("default")
        #expect(
            device.handler.take() == [
                "starting [default]", "uploading [default]", "downloading [default]", "importSuccess", "commit", "finishing [default]",
            ])
    }

    @Test("CBK-07 PSP-03 X-08: replay callbacks come after the import, inside of the transaction, before its commit")
    func replayOrder() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let good = try #require(try Customer.findByPrimaryKey(1, in: device.crm)),
            bad = try #require(try Customer.findByPrimaryKey(2, in: device.crm))
        good.city = "Sligo"
        try good.update()
        try good.submitPending()
        bad.creditLimit = -1
        try bad.update()
        try bad.submitPending()
        _ = device.handler.take()
        try device.crm.synchronize("default")
        #expect(
            device.handler.take() == [
                "starting [default]", "uploading [default]", "downloading [default]", "importSuccess", "commit",
                "replaySuccess Customer \(good.surrogateKey)", "replayFailure Customer \(bad.surrogateKey)", "commit", "finishing [default]",
            ])
    }

    @Test("CBK-03 CBK-04 CBK-08: a replay callback runs off the main thread, in the transaction: it sees the log record that nobody else sees yet")
    func insideOfTheTransaction() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(2, in: device.crm))
        customer.creditLimit = -1
        try customer.update()
        try customer.submitPending()
        let seen = SystemLock<(inside: Int, outside: Int64)>((-1, -1))
        let crm = device.crm
        device.handler.act { name in
            guard name.hasPrefix("replayFailure") else { return }
            let inside = (try? crm.logRecords().count) ?? -1
            let other = try? Database(ConnectionProfile(path: crm.databasePath))
            let outside = try? other?.read { try $0.first("SELECT count(*) FROM \"_log_record\"")?.first?.integer }
            seen.withLock { $0 = (inside, (outside ?? nil) ?? -1) }
        }
        try device.crm.synchronize("default")
        #expect(seen.withLock { $0.inside } == 1 && seen.withLock { $0.outside } == 0)
        #expect(!device.handler.wasOnMainThread)
    }

    @Test("CBK-18 SYN-19 EXC-03: a failed synchronization reports the error with its exception")
    func failure() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        _ = device.handler.take()
        let codes = SystemLock<[SyncError.Code]>([])
        device.handler.answer { context in
            if let error = context.error as? SyncError { codes.withLock { $0.append(error.code) } }
            return .continue
        }
        bench.network.conditions.fault = { _, _ in .cutDownload(after: 100) }
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.code == .serverNotReached && error?.kind == .synchronize && error?.isRecoverable == true)
        #expect(device.handler.take() == ["starting [default]", "uploading [default]", "downloading [default]", "error [default]"])
        #expect(codes.withLock { $0 } == [.serverNotReached])
    }

    @Test("CBK-23 CBK-19: a download that the database refuses rolls its transaction back, the exception first")
    func rollback() throws {
        let bench = try TestBench()
        let isBroken = SystemLock(false), network = bench.network
        // A number where the model has a text.
        let frames = try FrameWriterBytes.download(object: "Customer", rows: "[[1,\"x\"],[2,3]]", columns: ["_sk", "name"])
        let broken = FrameWriterBytes.transport(answering: frames)
        let device = try bench.subscribedDevice(transport: SwitchedTransport { isBroken.withLock { $0 } ? broken : network })
        _ = device.handler.take()
        isBroken.withLock { $0 = true }
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.kind == .persistence)
        #expect(
            device.handler.take() == [
                "starting [default]", "uploading [default]", "downloading [default]", "exception", "rollback", "error [default]",
            ])
        #expect(try Customer.findAll(in: device.crm).isEmpty)
        #expect(try !device.crm.isSynchronized("default"))
    }

    @Test("CBK-02: a handler of an object and one of the database both hear of it, the object's first")
    func bothHandlers() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let order = SystemLock<[String]>([])
        final class Named: CallbackHandler {
            let name: String
            let hear: @Sendable (String) -> Void
            init(_ name: String, _ hear: @escaping @Sendable (String) -> Void) { (self.name, self.hear) = (name, hear) }
            func onReplaySuccess(_ object: Entity) { hear(name) }
        }
        let hear: @Sendable (String) -> Void = { name in order.withLock { $0.append(name) } }
        device.crm.registerCallbackHandler(Named("database", hear))
        device.crm.registerCallbackHandler(Named("object", hear), for: Customer.metadata)
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Trim"
        try customer.update()
        try customer.submitPending()
        try device.crm.synchronize("default")
        #expect(order.withLock { $0 } == ["object", "database"])
    }

    @Test(
        "SYN-20 CBK-15: cancel at starting sends nothing; cancel at downloading imports nothing",
        arguments: [SynchronizationStatus.starting, .uploading, .downloading])
    func cancel(at status: SynchronizationStatus) throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let requests = bench.network.requestCount
        device.handler.answer { $0.status == status ? .cancel : .continue }
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.code == .cancelled)
        #expect(try Customer.findAll(in: device.crm).isEmpty)
        if status != .downloading { #expect(bench.network.requestCount == requests) }
        device.handler.answer(nil)
        try device.crm.synchronize("default")
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
    }

    @Test("LSN-01 LSN-02 LSN-03 SYN-05: a status listener hears every state in its order, with object, bytes and rows, on the synchronization thread")
    func listener() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Ennis"
        try customer.update()
        try customer.submitPending()
        let listener = RecordingListener()
        try device.crm.synchronize("default", listener: listener)
        let states = listener.infos.map(\.state.rawValue)
        #expect(states == states.sorted(), "never backwards: \(states)")
        let expected: [SynchronizationStatusInfo.State] = [
            .starting, .connecting, .sendingHeader, .sendingTable, .finishingUpload, .receivingUploadAcknowledgement, .receivingTable,
            .committingDownload, .disconnecting, .done,
        ]
        #expect(expected.allSatisfy { state in listener.infos.contains { $0.state == state } })
        #expect(listener.infos.first { $0.state == .sendingTable }?.object == "Customer")
        let last = try #require(listener.infos.last)
        #expect(last.bytesSent > 0 && last.bytesReceived > 0 && last.operationsSent == 1 && last.rowsReceived == 1)
        #expect(last.rowsExpected == 1 && last.bytesExpected == last.bytesReceived)
    }

    @Test("LSN-03: the rows and bytes that are to come are known before the first row is written, also those that are fetched on their own")
    func expectations() throws {
        let bench = try TestBench {
            $0.segmentRules.leastRows = 5
            $0.segmentRules.textBytes = 600
            $0.segmentRules.namedValueBytes = 500
        }
        let device = try bench.subscribedDevice(), listener = RecordingListener()
        let result = try device.crm.synchronize(listener: listener)
        let importing = try #require(listener.infos.first { $0.state == .committingDownload })
        #expect(importing.rowsReceived == 0 && importing.rowsExpected == result.rowsImported)
        #expect(importing.bytesExpected == result.bytesReceived && importing.bytesReceived == result.bytesReceived)
        let receiving = listener.infos.filter { $0.state.rawValue < importing.state.rawValue }
        #expect(receiving.allSatisfy { $0.bytesReceived <= $0.bytesExpected && $0.rowsReceived == 0 })
        #expect(receiving.contains { $0.bytesReceived < $0.bytesExpected })
        let last = try #require(listener.infos.last)
        #expect(last.rowsReceived == result.rowsImported && last.rowsExpected == result.rowsImported)
    }

    @Test("LSN-03: numbers that no download has end the synchronization, and are counted up to the largest one")
    func impossibleNumbers() throws {
        let bench = try TestBench(), network = bench.network, isBroken = SystemLock(false)
        let frames = try FrameWriterBytes.segments(2, rows: .max, length: .max)
        let broken = FrameWriterBytes.transport(answering: frames)
        let device = try bench.subscribedDevice(transport: SwitchedTransport { isBroken.withLock { $0 } ? broken : network })
        let listener = RecordingListener()
        isBroken.withLock { $0 = true }
        #expect(throws: SyncError.self) { try device.crm.synchronize("default", listener: listener) }
        let last = try #require(listener.infos.last)
        #expect(last.rowsExpected == .max && last.bytesExpected == .max && last.rowsReceived == 0)
    }

    @Test(
        "LSN-04 X-20 SYN-20: a status listener cancels by setting the value before it returns",
        arguments: [SynchronizationStatusInfo.State.sendingHeader, .receivingTable, .committingDownload])
    func listenerCancels(at state: SynchronizationStatusInfo.State) throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default", listener: RecordingListener(cancelAt: state)) }
        #expect(error?.code == .cancelled)
        #expect(try Customer.findAll(in: device.crm).isEmpty)
        try device.crm.synchronize("default")
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
    }

    @Test(
        "SYN-02 SYN-06 SYN-07 SYN-09: queued requests are combined, and each hears starting before and finishing after, with its own groups and context"
    )
    func queue() async throws {
        let bench = try TestBench()
        let gate = Gate()
        let device = try bench.subscribedDevice()
        _ = device.handler.take()
        let requests = bench.network.requestCount
        // Holds the synchronization thread, so that both requests wait in the queue.
        device.crm.synchronizer.work.run { gate.wait() }
        try device.crm.beginSynchronize([try await device.crm.synchronizationGroup(named: "default")], context: "first")
        try device.crm.beginSynchronize([try await device.crm.synchronizationGroup(named: "catalog")], context: "second")
        gate.open()
        device.crm.synchronizer.work.sync {}
        let heard = device.handler.take().filter { $0 != "commit" && $0 != "importSuccess" }
        #expect(
            heard == [
                "starting first [default]", "starting second [catalog]", "uploading first [default]", "uploading second [catalog]",
                "downloading first [default]", "downloading second [catalog]", "finishing first [default]", "finishing second [catalog]",
            ])
        #expect(bench.network.requestCount == requests + 1)
        #expect(try await device.crm.isSynchronized("default"))
        #expect(try await device.crm.isSynchronized("catalog"))
    }

    @Test("SYN-08: an upload-only synchronization sends what was submitted and takes the answers, but brings no rows")
    func uploadOnly() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Tuam"
        try customer.update()
        try customer.submitPending()
        try bench.change("UPDATE customer SET city = 'Birr' WHERE id = 2")
        try device.crm.beginSynchronize(isUploadOnly: true)
        device.crm.synchronizer.work.sync {}
        #expect(try bench.value("SELECT city FROM customer WHERE id = 1") == .text("Tuam"))
        try customer.refresh()
        #expect(!customer.isPending && customer.city == "Tuam")
        #expect(try Customer.findByPrimaryKey(2, in: device.crm)?.city != "Birr")
        try device.crm.synchronize("default")
        #expect(try Customer.findByPrimaryKey(2, in: device.crm)?.city == "Birr")
    }

    @Test func `a callback that waits for another synchronization gets an error instead of waiting for ever`() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        let codes = SystemLock<[SyncError.Code]>([])
        let crm = device.crm
        device.handler.act { name in
            guard name.hasPrefix("finishing") else { return }
            do throws(SyncError) { try crm.synchronize() } catch { codes.withLock { $0.append(error.code) } }
        }
        try device.crm.synchronize("default")
        #expect(codes.withLock { $0 } == [.invalidState])
    }

    @Test func `events say as values what the handlers hear`() async throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try await Customer.findByPrimaryKey(1, in: device.crm))
        let key = customer.surrogateKey
        customer.city = "Athy"
        try await customer.update()
        try await customer.submitPending()
        let events = device.crm.events
        async let collected: [String] = {
            var heard: [String] = []
            for await event in events {
                switch event {
                case .synchronization(let groups, let status, _, _): heard.append("\(status) \(groups)")
                case .importSuccess: heard.append("importSuccess")
                case .replaySuccess(let object, let key): heard.append("replaySuccess \(object) \(key)")
                default: heard.append("\(event)")
                }
                if heard.last?.hasPrefix("finishing") == true { return heard }
            }
            return heard
        }()
        try await device.crm.synchronize("default")
        let heard = await collected
        #expect(
            heard == [
                "starting [\"default\"]", "uploading [\"default\"]", "downloading [\"default\"]", "importSuccess",
                "replaySuccess Customer \(key)", "finishing [\"default\"]",
            ])
    }
}

/// Keeps the statuses that it receives, and cancels at one of them.
private final class RecordingListener: SynchronizationStatusListener {
    private let list = SystemLock<[SynchronizationStatusInfo]>([])
    private let cancelAt: SynchronizationStatusInfo.State?

    init(cancelAt: SynchronizationStatusInfo.State? = nil) { self.cancelAt = cancelAt }

    var infos: [SynchronizationStatusInfo] { list.withLock { $0 } }

    func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo) {
        list.withLock { [info] in $0.append(info) }
        if info.state == cancelAt { info.isCancelled = true }
    }
}

/// Downloads that no honest server makes.
private enum FrameWriterBytes {
    /// Makes a server that answers each request with these bytes.
    static func transport(answering frames: [UInt8]) -> SimulatedTransport {
        SimulatedTransport { request in
            while try request.nextChunk() != nil {}
            var rest: [UInt8]? = frames
            return SimulatedResponse(status: 200) {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Makes a download of one group that names segments of these sizes.
    static func segments(_ count: Int, rows: Int64, length: Int64) throws -> [UInt8] {
        var writer = FrameWriter(.download)
        try writer.write(.answer(SynchronizeAnswer(package: "CRM:1.0", groups: ["default"])))
        for number in 0..<count {
            let content = NamedContent(name: String(repeating: "\(number)", count: 64), grant: "1")
            try writer.write(.segment(SegmentPart(object: "Customer", columns: ["_sk", "name"], content: content, length: length, rows: rows)))
        }
        try writer.write(.groupEnd(GroupEnd(group: "default", token: Token([:]))))
        try writer.write(.streamEnd)
        return writer.take()
    }

    /// Makes a download of one group with one table part of these rows.
    static func download(group: String = "default", object: String, rows: String, columns: [String]) throws -> [UInt8] {
        var writer = FrameWriter(.download)
        try writer.write(.answer(SynchronizeAnswer(package: "CRM:1.0", groups: [group])))
        try writer.write(.table(TablePart(object: object, columns: columns, compression: .none)))
        try writer.write(.data(Array(rows.utf8)))
        try writer.write(.partEnd(.rows(1)))
        try writer.write(.groupEnd(GroupEnd(group: group, token: Token([:]))))
        try writer.write(.streamEnd)
        return writer.take()
    }
}
