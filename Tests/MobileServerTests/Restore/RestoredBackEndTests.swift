import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// A back end that is restored from an older backup: accepted operations that it has lost, and the clients that learn of it.
@Suite struct RestoredBackEndTests {
    static func customer(_ name: String) -> JSONObject { ["name": .string(name), "region": "NORTH", "credit": 1, "active": true] }

    /// Closes the server, works on the file of the back end, and opens the server again.
    private func restart(_ server: TestServer, _ body: () throws -> Void) throws {
        try server.server.close()
        try body()
        try server.restartClosed()
    }

    private func answer(_ result: TestDevice.Result) -> SynchronizeAnswer? {
        result.frames.lazy.compactMap { if case .answer(let answer) = $0 { answer } else { nil } }.first
    }

    @Test func `clients learn which accepted operations the restored back end lacks, and new rows get the keys of their devices`() throws {
        let server = try FieldSales.server(), backup = server.folder.file("enterprise.backup")
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "other")
        let kept = try device.synchronize([device.create("Customer", Self.customer("kept"))]).results
        let first = try #require(kept.first?.receipt)
        #expect(first.number == 1)
        try restart(server) { try FileManager.default.copyItem(atPath: server.backEndPath, toPath: backup) }
        let gone = try device.synchronize([device.create("Customer", Self.customer("gone")), device.create("Customer", Self.customer("gone too"))])
        let second = try #require(gone.results.last?.receipt)
        #expect(second.era != first.era && second.number == 3)
        device.adjustHeader = { $0.receipts = [first.era: first.number, second.era: second.number] }
        #expect(try answer(device.synchronize())?.lost == [:])
        try restart(server) {
            try FileManager.default.removeItem(atPath: server.backEndPath)
            try FileManager.default.copyItem(atPath: backup, toPath: server.backEndPath)
        }
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
        try restart(server) { try FileManager.default.copyItem(atPath: server.backEndPath, toPath: backup) }
        var create = device.create("Customer", Self.customer("gone"))
        try device.synchronize([create])
        try restart(server) {
            try FileManager.default.removeItem(atPath: server.backEndPath)
            try FileManager.default.copyItem(atPath: backup, toPath: server.backEndPath)
        }
        create.id = device.nextID()
        create.batch = create.id
        #expect(try device.synchronize([create]).results.map(\.outcome) == [.accepted])
        #expect(device.key("Customer", "name", "gone") == create.key && device.rows["Customer"]?.count == 3)
    }

    @Test func `a restored back end that another server has written since is read from its beginning: its rows have the keys of their devices`()
        throws
    {
        let server = try FieldSales.server(), other = try TemporaryDirectory()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try restart(server) { try FileManager.default.copyItem(atPath: server.backEndPath, toPath: other.file("enterprise.db")) }
        for name in ["gone", "gone too"] { try device.synchronize([device.create("Customer", Self.customer(name))]) }
        let second = try TestServer(model: FieldSales.model, folder: other), author = try TestDevice.inRegion("NORTH", of: second)
        let created = ["one", "two", "three"].map { author.create("Customer", Self.customer($0)) }
        try author.synchronize(created)
        try second.server.close()
        try restart(server) {
            try FileManager.default.removeItem(atPath: server.backEndPath)
            try FileManager.default.copyItem(atPath: second.backEndPath, toPath: server.backEndPath)
        }
        try device.synchronize()
        #expect(["one", "two", "three"].map { device.key("Customer", "name", $0) } == created.map(\.key))
    }

    @Test func `an administrator declares a back end restored; a file without a record of operations is refused`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let receipt = try #require(device.synchronize([device.create("Customer", Self.customer("before"))]).results.first?.receipt)
        try server.server.administration.declareRestored(.backEnd(path: server.backEndPath))
        let later = try #require(device.synchronize([device.create("Customer", Self.customer("after"))]).results.first?.receipt)
        #expect(later.era != receipt.era)
        device.adjustHeader = { $0.receipts = [receipt.era: receipt.number, later.era: later.number, "unknown": 1] }
        #expect(try answer(device.synchronize())?.lost == ["unknown": 0])
        let path = server.folder.file("other.db")
        let database = try Database(ConnectionProfile(path: path))
        try database.write { _ = try $0.execute("CREATE TABLE t (a)") }
        try database.close()
        let error = #expect(throws: ServerError.self) { try server.server.administration.declareRestored(.backEnd(path: path)) }
        #expect(error?.code == .missingBackEnd)
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
