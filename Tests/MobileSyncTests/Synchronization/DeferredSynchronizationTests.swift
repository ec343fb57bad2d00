import Foundation
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Synchronizations with a back end that is busy, uploads that arrive late, and databases that come from an earlier time.
@Suite struct DeferredSynchronizationTests {
    private let clock = VirtualClock(start: .seconds(1_900_000_000))

    private func bench(seed: UInt64 = 1) throws -> TestBench { try TestBench(seed: seed) { $0.connectionTimeout = .milliseconds(50) } }

    private func device(_ bench: TestBench, _ name: String = "device", transport: (any Transport)? = nil) throws -> Device {
        let clock = clock
        let device = try Device(
            directory: bench.directory.file(name), transport: transport ?? bench.network, environment: Environment(now: { clock.date })
        )
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize("default")
        return device
    }

    /// Runs `body` while another process writes to the back end.
    private func whileBusy<R>(_ bench: TestBench, _ body: () throws -> R) throws -> R {
        try bench.backEnd.write { connection in
            _ = try connection.execute("UPDATE customer SET city = city WHERE id = 1", [])
            return try body()
        }
    }

    private func submit(_ city: String, of id: Int64 = 1, _ device: Device) throws -> Customer {
        let customer = try #require(try Customer.findByPrimaryKey(id, in: device.crm))
        customer.city = city
        try customer.update()
        try customer.submitPending()
        return customer
    }

    @Test("ERR-01 CBK-07 CBK-08: a busy back end defers: the change stays submitted with its reason, and is done by a later synchronization")
    func deferred() throws {
        let bench = try bench(), device = try device(bench)
        let customer = try submit("Sligo", device), id = customer.replayPending
        _ = device.handler.take()
        let result = try whileBusy(bench) { try device.crm.synchronize("default") }
        #expect(result.operationsDeferred == 1 && result.operationsAccepted == 0 && result.operationsRejected == 0)
        #expect(
            device.handler.take() == [
                "starting [default]", "uploading [default]", "downloading [default]", "importSuccess", "commit",
                "replayDeferred Customer \(customer.surrogateKey)", "commit", "finishing [default]",
            ])
        try customer.refresh()
        #expect(customer.state == .submitted && customer.replayPending == id && customer.replayFailure == 0 && customer.city == "Sligo")
        #expect(try customer.logRecords().isEmpty)
        let first = try #require(try customer.deferredOperations().first)
        #expect(first.code == 409 && first.message == "the back end is busy; try again" && first.attempts == 1 && first.nextTry == clock.date)

        #expect(try whileBusy(bench) { try device.crm.synchronize("default") }.operationsDeferred == 1)
        let delay = try #require(try device.crm.deferredOperations().first).nextTry.timeIntervalSince(clock.date)
        #expect(delay >= 1 && delay <= 2)
        // It is not sent before its time, and neither is what was submitted after it.
        _ = try submit("Boyle", of: 2, device)
        #expect(try device.crm.synchronize("default").operationsSent == 0)
        clock.seconds += 2
        let done = try device.crm.synchronize("default")
        #expect(done.operationsSent == 2 && done.operationsAccepted == 2)
        #expect(try device.crm.deferredOperations().isEmpty && !device.crm.hasPendingOperations())
        #expect(try bench.rows("SELECT city FROM customer WHERE id < 3 ORDER BY id") == [[.text("Sligo")], [.text("Boyle")]])
    }

    @Test("PND-10: a cancel withdraws a deferred operation, unless an answer is missing")
    func cancelled() throws {
        let bench = try bench(), device = try device(bench)
        let first = try submit("Sligo", device)
        _ = try whileBusy(bench) { try device.crm.synchronize("default") }
        try first.cancelPending()
        #expect(try device.crm.outbox.isEmpty && device.crm.synchronize("default").operationsSent == 0)

        let second = try submit("Boyle", device)
        _ = try whileBusy(bench) { try device.crm.synchronize("default") }
        bench.network.conditions.fault = { _, _ in .cutResponse }
        #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        bench.network.conditions.fault = { _, _ in nil }
        try second.cancelPending()
        #expect(try device.crm.outbox.count == 1, "the server has done it, which the device cannot know")
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        #expect(try Customer.findByPrimaryKey(1, in: device.crm)?.city == "Boyle")
    }

    @Test(
        "SYN-10: with late duplicates, a busy back end and a bad network, every change is done once and in its order",
        arguments: 1...4 as ClosedRange<UInt64>)
    func random(seed: UInt64) throws {
        let bench = try bench(seed: seed), late = DuplicatingTransport(bench.network)
        let devices = try [device(bench, "first", transport: late), device(bench, "second", transport: late)]
        var random = SeededGenerator(seed: seed), own: [[Int64]] = [[], []], expected: [String: String] = [:]
        bench.network.conditions = .unreliable(probability: 0.2, maximumBytes: 3000)
        for round in 0..<60 {
            let index = Int.random(in: 0...1, using: &random), crm = devices[index].crm
            let known = try own[index].compactMap { try Customer.find($0, in: crm) }
            if known.count < 3 {
                let customer = Customer(in: crm)
                (customer.name, customer.street, customer.city, customer.region) = ("Late \(round)", "s", "c", "NORTH")
                customer.since = LocalDate(daysSince1970: 20_000)
                try customer.save()
                try customer.submitPending()
                own[index].append(customer.surrogateKey)
                expected[customer.name] = "c"
            } else if let customer = known.randomElement(using: &random) {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    expected[customer.name] = nil
                    try customer.delete()
                } else {
                    customer.city = "Round \(round)"
                    expected[customer.name] = customer.city
                    try customer.update()
                }
                try customer.submitPending()
            }
            clock.seconds += Int64.random(in: 0...3, using: &random)
            let isBusy = Int.random(in: 0..<4, using: &random) == 0
            if isBusy { _ = try whileBusy(bench) { try? crm.synchronize("default") } } else { _ = try? crm.synchronize("default") }
            while late.count > 0, Bool.random(using: &random) { late.deliverAgain(Int.random(in: 0..<late.count, using: &random)) }
        }
        bench.network.conditions = NetworkConditions()
        clock.seconds += 1000
        for device in devices {
            try device.crm.synchronize("default")
            #expect(try !device.crm.hasPendingOperations(), "seed \(seed)")
        }
        for index in 0..<late.count { late.deliverAgain(index) }
        let rows = try bench.rows("SELECT name, city FROM customer WHERE name LIKE 'Late %'").map { "\($0[0].text ?? "") \($0[1].text ?? "")" }
        #expect(rows.sorted() == expected.map { "\($0.key) \($0.value)" }.sorted(), "seed \(seed)")
        for device in devices {
            try device.crm.synchronize("default")
            #expect(
                try Customer.findAll(in: device.crm).filter { $0.name.hasPrefix("Late") }.map { "\($0.name) \($0.city)" }.sorted() == rows.sorted())
        }
    }

    @Test("a restored database whose operation was settled since reads its rows again, and nothing is done twice", arguments: [false, true])
    func restored(isUploadOnly: Bool) throws {
        let bench = try bench(), device = try device(bench)
        let customer = try submit("Sligo", device)
        let path = device.crm.databasePath, copy = bench.directory.file("backup.db")
        try device.crm.closeConnection()
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try device.crm.synchronize("default")
        _ = try submit("Boyle", of: 2, device)
        try device.crm.synchronize("default")
        try bench.change("UPDATE customer SET city = 'Ennis' WHERE id = 1")
        try device.crm.closeConnection()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try FileManager.default.copyItem(atPath: copy, toPath: path)

        try customer.refresh()
        #expect(customer.state == .submitted && customer.city == "Sligo")
        if isUploadOnly {
            try device.crm.beginSynchronize(isUploadOnly: true)
            device.crm.synchronizer.work.sync {}
            #expect(try !device.crm.hasPendingOperations() && device.crm.token(ofGroup: "default") == nil)
        }
        try device.crm.synchronize("default")
        try customer.refresh()
        #expect(customer.city == "Ennis" && !customer.isPending)
        #expect(try bench.rows("SELECT city FROM customer WHERE id < 3 ORDER BY id") == [[.text("Ennis")], [.text("Boyle")]])
    }

    @Test("an application of an earlier release, updated: its tokens mean a reset, and its outbox is sent with digests")
    func updated() throws {
        let bench = try bench(), device = try device(bench)
        let customer = try submit("Sligo", device), path = device.crm.databasePath
        let token = try #require(try device.crm.token(ofGroup: "default"))
        #expect(token.contains("\"format\":3"))
        let former = token.replacing("\"format\":3,", with: "")
        try device.crm.write("former token") { try $0.setToken(former, ofGroup: "default") }
        try device.crm.closeConnection()
        let database = try Database(ConnectionProfile(path: path))
        try database.write { connection in
            for column in ["digest", "deferrals", "deferred_code", "deferred_message", "next_try", "client"] {
                _ = try connection.execute("ALTER TABLE \"_outbox\" DROP COLUMN \"\(column)\"", [])
            }
            _ = try connection.execute("DROP TABLE \"_accepted\"", [])
            _ = try connection.execute("PRAGMA user_version = 4", [])
        }
        try database.close()
        let rows = try bench.value("SELECT count(*) FROM customer WHERE region = 'NORTH'")?.integer ?? 0
        let result = try device.crm.synchronize("default")
        #expect(result.operationsAccepted == 1 && result.rowsDeleted > 0 && result.rowsImported >= rows)
        try customer.refresh()
        #expect(customer.city == "Sligo" && !customer.isPending)
        let outcome = try #require(try bench.value("SELECT outcome FROM mobile_processed_operation")?.text)
        #expect(outcome.contains("\"digest\":\""))
    }

    @Test("a change of a copied device under the number of another one gets a number of its own, and is done in the same synchronization")
    func cloned() throws {
        let bench = try bench(), device = try device(bench)
        try device.crm.closeConnection()
        try bench.copyDatabase(of: device, to: "clone", isImage: true)
        let clone = try self.device(bench, "clone"), client = try clone.crm.clientID
        #expect(try client == device.crm.clientID)
        let one = try submit("Sligo", device), other = try submit("Boyle", of: 2, clone)
        #expect(one.replayPending == other.replayPending)
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        let result = try clone.crm.synchronize("default")
        #expect(result.operationsAccepted == 1 && result.operationsRejected == 0)
        try other.refresh()
        #expect(try other.state == .unchanged && other.city == "Boyle" && clone.crm.clientID != client)
        #expect(try clone.crm.logRecords().map(\.code) == [582])
        #expect(try bench.rows("SELECT city FROM customer WHERE id < 3 ORDER BY id") == [[.text("Sligo")], [.text("Boyle")]])
    }
}
