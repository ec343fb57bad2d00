import Foundation
import MobileExecution
import MobileProtocol
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// A back end that is restored from an older backup: accepted operations that it has lost, and the clients that learn of it.
@Suite struct RestoredBackEndTests {
    static func customer(_ name: String) -> JSONObject { ["name": .string(name), "region": "NORTH", "credit": 1, "active": true] }

    private func answer(_ result: TestDevice.Result) -> SynchronizeAnswer? {
        result.frames.lazy.compactMap { if case .answer(let answer) = $0 { answer } else { nil } }.first
    }

    @Test func `clients learn which accepted operations the restored back end lacks, and new rows get the keys of their devices`() throws {
        let server = try FieldSales.server(), backup = server.folder.file("enterprise.backup")
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        let kept = try device.synchronize([device.create("Customer", Self.customer("kept"))]).results
        let first = try #require(kept.first?.receipt)
        #expect(first.number == 1)
        try server.saveBackEnd(to: backup)
        let gone = try device.synchronize([device.create("Customer", Self.customer("gone")), device.create("Customer", Self.customer("gone too"))])
        let second = try #require(gone.results.last?.receipt)
        #expect(second.era != first.era && second.number == 3)
        device.adjustHeader = { $0.receipts = [first.era: first.number, second.era: second.number] }
        #expect(try answer(device.synchronize())?.lost == [:])
        try server.reopen(withBackEnd: backup)
        // The other device reaches the same numbers, with rows that get the primary keys of the lost ones.
        let created = [other.create("Customer", Self.customer("new")), other.create("Customer", Self.customer("newer"))]
        let results = try other.synchronize(created).results
        #expect(results.map(\.receipt?.number) == [2, 3])
        let answered = try #require(answer(device.synchronize()))
        #expect(answered.lost[second.era].map { $0 < 2 } == true && answered.lost[first.era] == nil)
        #expect(device.rows["Customer"] == other.rows["Customer"] && device.key("Customer", "name", "new") == created[0].key)
        #expect(device.key("Customer", "name", "gone") == 0 && device.key("Customer", "name", "kept") == kept[0].key)
        device.adjustHeader = { $0.lost = [ReportedOperation(id: gone.results[0].id, object: "Customer", key: gone.results[0].key)] }
        try device.synchronize()
        try device.synchronize()
        let report = try server.server.administration.reconciliation()
        #expect(report.map(\.fate) == [.lost] && report.map(\.operation) == [gone.results[0].id] && report.map(\.user) == ["ada"])
    }

    @Test func `a lost operation that is submitted again under a new id is done again`() throws {
        let server = try FieldSales.server(), backup = server.folder.file("enterprise.backup")
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.saveBackEnd(to: backup)
        var create = device.create("Customer", Self.customer("gone"))
        try device.synchronize([create])
        try server.reopen(withBackEnd: backup)
        create.id = device.nextID()
        create.batch = create.id
        #expect(try device.synchronize([create]).results.map(\.outcome) == [.accepted])
        #expect(device.key("Customer", "name", "gone") == create.key && device.rows["Customer"]?.count == 3)
    }

    @Test(.backEndInFile) func `a restored back end that another server has written since is read from its beginning`() throws {
        let server = try FieldSales.server(), other = try TemporaryDirectory()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.saveBackEnd(to: other.file("enterprise.db"))
        for name in ["gone", "gone too"] { try device.synchronize([device.create("Customer", Self.customer(name))]) }
        let second = try TestServer(model: FieldSales.model, folder: other), author = try TestDevice.inRegion("NORTH", of: second)
        let created = ["one", "two", "three"].map { author.create("Customer", Self.customer($0)) }
        try author.synchronize(created)
        try second.server.close()
        try server.reopen(withBackEnd: second.backEndPath)
        try device.synchronize()
        #expect(["one", "two", "three"].map { device.key("Customer", "name", $0) } == created.map(\.key))
    }

    @Test func `an administrator declares a back end restored; a file without a record of operations is refused`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let receipt = try #require(device.synchronize([device.create("Customer", Self.customer("before"))]).results.first?.receipt)
        try server.server.administration.declareRestored(.backEnd(server.backEndPlace))
        let later = try #require(device.synchronize([device.create("Customer", Self.customer("after"))]).results.first?.receipt)
        #expect(later.era != receipt.era)
        device.adjustHeader = { $0.receipts = [receipt.era: receipt.number, later.era: later.number, "unknown": 1] }
        #expect(try answer(device.synchronize())?.lost == ["unknown": 0])
        let path = server.folder.file("other.db")
        let database = try Database(ConnectionProfile(path: path))
        try database.write { _ = try $0.execute("CREATE TABLE t (a)") }
        try database.close()
        let error = #expect(throws: ServerError.self) { try server.server.administration.declareRestored(.backEnd(path)) }
        #expect(error?.code == .missingBackEnd)
    }

    @Test(.needsPostgreSQL) func `a database without the last commits in place of the back end begins an era with its first operation`() throws {
        let server = try FieldSales.server(on: .postgreSQL), backup = server.folder.file("standby")
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        let kept = device.create("Customer", Self.customer("kept"))
        let before = try #require(device.synchronize([kept]).results.first?.receipt)
        try server.copyBackEnd(to: backup)
        let gone = [device.create("Customer", Self.customer("gone")), device.create("Customer", Self.customer("gone too"))]
        let lost = try #require(device.synchronize(gone).results.last?.receipt)
        device.adjustHeader = { $0.receipts = [lost.era: lost.number] }
        try other.synchronize()
        try server.failOver(toBackEnd: backup)
        #expect(try answer(device.synchronize())?.lost[lost.era] == before.number)
        #expect(device.key("Customer", "name", "gone") == 0 && device.rows["Customer"]?.count == 3)
        // The other device reaches the same numbers. Its rows get the primary keys of the lost ones.
        let new = [other.create("Customer", Self.customer("new")), other.create("Customer", Self.customer("newer"))]
        let receipts = try other.synchronize(new).results.compactMap(\.receipt)
        #expect(receipts.map(\.number) == [2, 3] && receipts.allSatisfy { $0.era != lost.era })
        #expect(try answer(device.synchronize())?.lost == [lost.era: before.number] && lost.era == before.era)
        #expect(device.rows["Customer"] == other.rows["Customer"] && device.key("Customer", "name", "newer") == new[1].key)
        let eras = try server.backEnd { try $0.rows("SELECT count(*), count(DISTINCT history) FROM mobile_replay_era") }
        #expect(eras == [[2, 2]])
    }

    @Test(.needsPostgreSQL) func `an era begins after the numbers that other transactions are about to commit`() throws {
        let server = try FieldSales.server(on: .postgreSQL), device = try TestDevice.inRegion("NORTH", of: server)
        try device.synchronize([device.create("Customer", Self.customer("one"))])
        let connection = try #require(server.backEndDatabase).connect(), place = server.backEndPlace, administration = server.server.administration
        try connection.execute("BEGIN")
        let records = SQLOperationRecords(PostgreSQLBackEndConnection(connection: connection))
        try records.record("{}", of: 1, client: "slow")
        try records.finish("slow")
        let isDone = SystemLock(false)
        let thread = Thread {
            try? administration.declareRestored(.backEnd(place))
            isDone.withLock { $0 = true }
        }
        thread.start()
        let observer = try #require(server.backEndDatabase).connect()
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        #expect(try eventually { try isDone.withLock { $0 } || observer.first(waiting)?[0].integer == 1 })
        try connection.execute("COMMIT")
        #expect(eventually { isDone.withLock { $0 } })
        #expect(try server.backEndValue("SELECT max(first) FROM mobile_replay_era") == 3)
    }

    @Test func `a back end that only an earlier release has prepared has no eras; it gets them when a server opens it`() throws {
        let server = try FieldSales.server(), device = try TestDevice.inRegion("NORTH", of: server)
        let first = device.create("Customer", Self.customer("one"))
        try device.synchronize([first])
        try server.server.close()
        try server.backEnd {
            for table in ["mobile_replay_era", "mobile_replay_seen"] { try $0.execute("DROP TABLE \(table)") }
        }
        try server.restartClosed()
        // The record of that release has no era: its number is not a loss.
        #expect(try device.synchronize([first]).results.map(\.receipt) == [Receipt(era: "", number: 1)])
        let receipt = try #require(device.synchronize([device.create("Customer", Self.customer("two"))]).results.first?.receipt)
        #expect(receipt.number == 2 && !receipt.era.isEmpty)
    }

    @Test func `a copied database settles the operations of the client that it was copied from, even if that one has unsubscribed`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let done = device.create("Customer", Self.customer("done")), waiting = device.create("Customer", Self.customer("waiting"))
        try device.synchronize([done])
        _ = try device.send(.unsubscribe)
        #expect(try device.synchronize([done], groups: []).status == 404)
        device.adjustHeader = { $0.successor = "copy" }
        let result = try device.synchronize([done, waiting], groups: [])
        #expect(result.results.map(\.outcome) == [.accepted, .accepted])
        #expect(try server.backEndValue(#"SELECT count(*) FROM "the customers" WHERE name IN ('done', 'waiting')"#) == 2)
        #expect(try device.synchronize([], groups: ["default"]).status == 400)
        let report = try server.server.administration.reconciliation(ofPackage: server.package)
        #expect(report.map(\.fate) == [.recorded, .accepted] && Set(report.map(\.successor)) == ["copy"])
        #expect(try server.server.administration.reconciliation(ofPackage: "Other:1.0").isEmpty)
        let stranger = try TestDevice(server, name: "stranger", user: "bob", password: "other")
        stranger.adjustHeader = { ($0.client, $0.successor) = (device.client, "copy") }
        #expect(try stranger.synchronize([waiting], groups: []).status == 403)
    }
}
