import Foundation
import MobileExecution
import MobileObjects
import MobileProtocol
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Log records between devices and server: uploads, downloads, and deletions at either end.
@Suite struct LogRecordExchangeTests {
    private static let package = "CRM:1.0"

    /// Returns the messages of the server's records, without the deleted ones.
    private func messages(_ bench: TestBench) throws -> [String] {
        try bench.server.administration.logRecords(ofPackage: Self.package).filter { !$0.isDeleted }.map(\.entry.message).sorted()
    }

    /// Makes a customer with a change that the back end has refused.
    private func rejected(_ device: Device, _ bench: TestBench) throws -> Customer {
        try bench.change("CREATE TRIGGER IF NOT EXISTS closed BEFORE UPDATE ON customer BEGIN SELECT RAISE(ABORT, 'closed today'); END")
        let customer = try #require(try Customer.findAll(in: device.crm).first)
        customer.city = "Kinsale"
        try customer.update()
        try customer.submitPending()
        #expect(try device.crm.synchronize("default").operationsRejected == 1)
        try bench.change("DROP TRIGGER closed")
        try customer.refresh()
        return customer
    }

    @Test func `a record of a rejection is settled when a later operation of the row was accepted`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try rejected(device, bench)
        let other = try #require(try Customer.findAll(in: device.crm).last)
        (other.city, customer.city) = ("Youghal", "Cobh")
        try other.update()
        try other.submitPending()
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        let record = try #require(try customer.logRecords().first)
        #expect(record.message.contains("closed today") && !record.isSettled, "another row was accepted")
        try customer.update()
        try customer.submitPending()
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        #expect(try customer.logRecords().map(\.isSettled) == [true])
        #expect(try device.crm.logRecords().filter(\.isSettled).map(\.messageID) == [record.messageID])
        #expect(try device.crm.keysWithLogRecords(of: Customer.metadata) == [customer.keyToString()])
        // A record that this device made has nothing to settle, uploaded or not.
        var own = customer.newLogRecord(level: .info, message: "visited")
        try own.save()
        try own.submitPending()
        try device.crm.synchronize("system")
        #expect(try customer.logRecords().map(\.isSettled) == [false, true])
        try record.delete()
        try record.submitPending()
        try device.crm.synchronize("default")
        #expect(try bench.server.administration.logRecords(ofPackage: Self.package).filter { !$0.isFromClient && !$0.isDeleted }.isEmpty)
    }

    @Test("LRC-07 LRC-01: records that were submitted go up with the group system, once, and no others do")
    func upload() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        var own = device.crm.newLogRecord(level: .warn, message: "visited nobody")
        try own.save()
        try device.crm.synchronize("system")
        #expect(try messages(bench).isEmpty, "not submitted")
        try device.crm.submitLogRecords()
        try #require(try Customer.findAll(in: device.crm).first).newLogRecord(level: .info, message: "later").saved()
        let result = try device.crm.synchronize("system")
        #expect(result.groups == ["system"] && result.rowsImported == 0)
        let record = try #require(try bench.server.administration.logRecords(ofPackage: Self.package).first)
        #expect(try messages(bench) == ["visited nobody"])
        #expect(record.isFromClient && record.user == TestBench.user && record.entry.messageId == own.messageID && record.entry.level == .warn)
        #expect(record.entry.code == 9999 && record.entry.component == "CRM")
        #expect(try record.line == device.crm.logRecords().first { $0.messageID == own.messageID }?.line, "with all of its fields")
        try device.crm.synchronize()
        #expect(try messages(bench) == ["visited nobody"])
        #expect(try device.crm.logRecords().count == 2)
        #expect(try device.crm.synchronizationGroup(named: "system").objects.isEmpty && device.crm.isSynchronized("system"))

        own.message = "visited two"
        try own.save()
        try own.submitPending()
        try device.crm.synchronize("default")
        #expect(try messages(bench) == ["visited two"], "they come with every group")
        try own.delete()
        try device.crm.synchronize("system")
        #expect(try messages(bench) == ["visited two"], "the server keeps what was uploaded")
        var next = device.crm.newLogRecord(level: .info, message: "another")
        try next.save()
        try next.submitPending()
        try device.crm.synchronize("system")
        #expect(next.messageID > own.messageID, "an id is never given twice")
        #expect(try messages(bench) == ["another", "visited two"])
    }

    @Test("LRC-07: an upload whose answer is lost is repeated, and the record is on the server once; what is changed meanwhile waits")
    func interrupted() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        var own = device.crm.newLogRecord(level: .info, message: "visited")
        try own.save()
        try own.submitPending()
        bench.network.conditions.fault = { _, _ in .cutResponse }
        #expect(throws: SyncError.self) { try device.crm.synchronize("system") }
        bench.network.conditions.fault = { _, _ in nil }
        #expect(try messages(bench) == ["visited"])
        try device.crm.synchronize("system")
        #expect(try messages(bench) == ["visited"])
        #expect(try device.crm.submittedLogRecords(after: 0, limit: 10).isEmpty)
    }

    @Test("a record longer than a frame is cut on its way and blocks nothing")
    func longTexts() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let text = String(repeating: "e\u{301}\u{1}", count: 1_000_000)
        for _ in 1...3 {
            var record = device.crm.newLogRecord(level: .info, message: text)
            record.component = text
            record.requestID = text
            try record.save()
        }
        try device.crm.submitLogRecords()
        try device.crm.synchronize("system")
        let stored = try bench.server.administration.logRecords(ofPackage: Self.package)
        #expect(
            stored.count == 3
                && stored.allSatisfy { $0.entry.message.unicodeScalars.count == 32_768 && $0.entry.component.unicodeScalars.count == 1024 })
    }

    @Test("LRC-14 LRC-17: deleting a replay log and submitting that deletes it on the server, and the device is clean when the server knows")
    func deletionByTheClient() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try rejected(device, bench)
        let record = try #require(try customer.logRecords().first)
        #expect(record.message.contains("closed today") && !record.isFromClient)
        #expect(try messages(bench) == [record.message])
        try record.delete()
        #expect(try customer.logRecords().isEmpty)
        try device.crm.synchronize("system")
        #expect(try messages(bench) == [record.message], "not submitted")
        #expect(try device.crm.logRecords().isEmpty)
        try record.submitPending()
        try device.crm.synchronize("system")
        let marked = try bench.server.administration.logRecords(ofPackage: Self.package)
        #expect(marked.map(\.isDeleted) == [true])
        #expect(try device.crm.read { try $0.first("SELECT count(*) FROM \"_log_record\"")?[0] } == 0)
        #expect(try bench.server.administration.removeDeletedLogRecords(ofPackage: Self.package) == 0)
        try device.crm.synchronize("system")
        #expect(try bench.server.administration.removeDeletedLogRecords(ofPackage: Self.package) == 1)
        #expect(try device.crm.logRecords().isEmpty)
    }

    @Test("LRC-17: what the administrator cleans disappears on each device with its next synchronization; work in it stays")
    func deletionByTheServer() throws {
        let bench = try TestBench()
        let first = try bench.synchronizedDevice("first", groups: "default"), second = try bench.synchronizedDevice("second", groups: "default")
        _ = try rejected(first, bench)
        for device in [first, second] {
            for message in ["uploaded", "changed since"] { try device.crm.newLogRecord(level: .info, message: message).saved() }
            try device.crm.submitLogRecords()
            try device.crm.synchronize("system")
            var changed = try #require(try device.crm.logRecords().first { $0.message == "changed since" })
            changed.level = .error
            try changed.save()
            try device.crm.newLogRecord(level: .info, message: "not submitted").saved()
        }
        #expect(try first.crm.logRecords().count == 4)
        let administration = bench.server.administration
        #expect(try administration.cleanLogRecords(ofPackage: Self.package, from: .distantPast, to: .distantFuture) == 5)
        #expect(try first.crm.logRecords().count == 4)
        try first.crm.synchronize("system")
        #expect(try Set(first.crm.logRecords().map(\.message)) == ["changed since", "not submitted"])
        try first.crm.synchronize("system")
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 3, "those of the first device")
        #expect(try second.crm.logRecords().count == 3)
        try second.crm.synchronize()
        #expect(try Set(second.crm.logRecords().map(\.message)) == ["changed since", "not submitted"])
        try second.crm.synchronize()
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 2)
    }

    @Test("LRC-15: records that no application needs any longer disappear on the server, and on the device when it synchronizes next")
    func retention() throws {
        let time = Time(1_800_000_000_000)
        let bench = try TestBench { configuration in
            configuration.clock = { time.now }
            configuration.packages[0].logRetention = ["CRM": .seconds(60), "Audit": .seconds(3600)]
        }
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try rejected(device, bench)
        try device.crm.newLogRecord(level: .info, message: "visited").saved()
        try device.crm.submitLogRecords()
        try device.crm.synchronize("system")
        time.advance(milliseconds: 3_600_000)
        try device.crm.synchronize("system")
        #expect(try device.crm.logRecords().map(\.isFromClient).contains(true))
        time.advance(milliseconds: 1)
        try device.crm.synchronize("system")
        #expect(try device.crm.logRecords().map(\.isFromClient) == [false], "the record about the operation is the client's to clean")
        #expect(try customer.logRecords().count == 1)
    }

    @Test("a device that has lost its place gets the records of its operations again, and none that it has deleted")
    func recovery() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try rejected(device, bench)
        let deleted = try #require(try customer.logRecords().first)
        _ = try rejected(device, bench)
        try deleted.delete()
        try device.crm.recover()
        try device.crm.synchronize()
        #expect(try device.crm.logRecords().count == 1)
        #expect(try !device.crm.logRecords().contains { $0.messageID == deleted.messageID }, "deleted here, although the server was not told")
    }

    @Test("a record of the server's never takes the place of one that was made here")
    func ids() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        _ = try rejected(device, bench)
        var own = device.crm.newLogRecord(level: .info, message: "own")
        try own.save()
        for _ in 1...3 { _ = try rejected(device, bench) }
        #expect(try device.crm.logRecords().count == 5)
        #expect(try device.crm.logRecords().count(where: \.isFromClient) == 1)
    }
}

/// A clock that a test moves.
private final class Time: Sendable {
    private let milliseconds: SystemLock<Int64>

    init(_ milliseconds: Int64) { self.milliseconds = SystemLock(milliseconds) }

    var now: Int64 { milliseconds.withLock { $0 } }
    func advance(milliseconds count: Int64) { milliseconds.withLock { $0 += count } }
}

extension LogRecord {
    fileprivate func saved() throws {
        var record = self
        try record.save()
    }
}
