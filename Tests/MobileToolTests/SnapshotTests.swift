import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// `mobile snapshot`: a database that devices begin with.
@Suite struct SnapshotTests {
    /// A running server over a small sample back end, with the user demo.
    private final class Bench {
        let folder: TemporaryDirectory
        let server: ServerProcess
        let contents: SampleBackEnd.Contents
        let model: String

        init() throws {
            folder = try TemporaryDirectory()
            model = folder.file("crm.mbo.json")
            contents = try SampleBackEnd.create(at: folder.file("enterprise.db"), scale: 0.0001)
            try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
            server = try ServerProcess(
                arguments: [
                    "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(folder.file("enterprise.db"))", "--user", "demo",
                    "--password-fd", "0",
                ], log: folder.file("server.log"), executable: Tool.executable)
            try server.start()
        }

        deinit { server.kill() }

        /// Writes a snapshot of the customers of the north.
        func snapshot(_ more: [String] = []) throws -> String {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data((ServerProcess.password + "\n").utf8))
            let arguments = try SnapshotArguments(
                [
                    "--server", "http://127.0.0.1:\(server.port)", "--model", model, "--user", "demo", "--password-fd",
                    String(pipe.fileHandleForReading.fileDescriptor), "--out", folder.file("snapshot.db"), "--parameters",
                    #"Customer={"region": "NORTH"}"#,
                ] + more)
            return try SnapshotCommand.write(arguments)
        }

        /// Opens a copy of the snapshot, as an application does that ships it.
        func device(_ name: String) throws -> (Application, CRM) {
            let path = folder.file("\(name).db")
            try FileManager.default.copyItem(atPath: folder.file("snapshot.db"), toPath: path)
            let application = try Application(identifier: "crm", profile: ConnectionProfile(path: folder.file("\(name)-application.db")))
            application.connectionProperties = ConnectionProperties(
                serverName: "127.0.0.1", portNumber: server.port, loginCredentials: LoginCredentials(user: "demo", password: ServerProcess.password))
            let crm = try CRM.open(ConnectionProfile(path: path))
            crm.application = application
            return (application, crm)
        }

        func change(_ sql: String) throws {
            var profile = ConnectionProfile(path: folder.file("enterprise.db"))
            profile.journal = .unchanged
            let database = try Database(profile)
            try database.write { _ = try $0.execute(sql, []) }
            try database.close()
        }
    }

    @Test func `devices that open a snapshot are clients of their own, and only get what changed since`() throws {
        let bench = try Bench()
        #expect(try bench.snapshot().contains("of CRM:1.0"))
        #expect(!FileManager.default.fileExists(atPath: bench.folder.file("snapshot.db.work")))
        let (first, firstCRM) = try bench.device("first"), (second, secondCRM) = try bench.device("second")
        defer {
            try? first.close()
            try? second.close()
        }
        let rows = try Customer.findAll(in: firstCRM).count
        #expect(rows == bench.contents.northCustomers && rows > 0, "the rows are there before the first synchronization")
        #expect(try firstCRM.keyGenerator.keysLeft == 0 && !firstCRM.isSubscribed())
        let clients = try [firstCRM.clientID, secondCRM.clientID]
        #expect(Set(clients).count == 2 && clients.allSatisfy { $0.count == 36 })
        try firstCRM.closeConnection()
        #expect(try firstCRM.clientID == clients[0], "a client stays the same when it is opened again")
        try bench.change("UPDATE customer SET city = 'Elsewhere' WHERE id = (SELECT min(id) FROM customer WHERE region = 'NORTH')")
        for (application, crm) in [(first, firstCRM), (second, secondCRM)] {
            try application.register(timeout: .seconds(60))
            try crm.subscribe()
            let result = try crm.synchronize()
            #expect(result.rowsImported == 1 && result.rowsDeleted == 0 && result.largeValuesImported == 0)
            #expect(try Customer.findAll(in: crm).filter { $0.city == "Elsewhere" }.count == 1)
        }
        let customer = Customer(in: firstCRM), other = Customer(in: secondCRM)
        for (new, name) in [(customer, "First"), (other, "Second")] {
            new.name = name
            new.street = "s"
            new.city = "c"
            new.since = try #require(LocalDate(year: 2026, month: 1, day: 1))
            try new.save()
            try new.submitPending()
        }
        #expect(try firstCRM.synchronize().operationsAccepted == 1 && secondCRM.synchronize().operationsAccepted == 1)
        try firstCRM.synchronize()
        #expect(try Customer.findAll(in: firstCRM).count == rows + 2)
    }

    @Test func `a scratch device shows what a device gets, and the server forgets it`() throws {
        let bench = try Bench(), kept = bench.folder.file("kept.db")
        func sync(_ more: [String]) throws -> SyncReport {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data((ServerProcess.password + "\n").utf8))
            let (device, keep, isJSON) = try SyncCommand.parse(
                [
                    "--server", "http://127.0.0.1:\(bench.server.port)", "--model", bench.model, "--user", "demo", "--password-fd",
                    String(pipe.fileHandleForReading.fileDescriptor), "--json",
                ] + more)
            #expect(isJSON)
            return try SyncCommand.synchronize(device, keep: keep)
        }
        let report = try sync(["--parameters", #"Customer={"region": "NORTH"}"#, "--keep", kept])
        #expect(report.lines.contains("  Customer          \(bench.contents.northCustomers)"), "\(report.lines)")
        let objects = try #require(report.json.object?["objects"]?.array)
        #expect(objects.first == ["object": "Customer", "rows": .integer(Int64(bench.contents.northCustomers))])
        #expect(report.json.object?["package"] == "CRM:1.0" && report.json.object?["bytesReceived"]?.integer ?? 0 > 0)
        #expect(try ClientDatabaseReport(path: kept).entities.first?.rows == bench.contents.northCustomers)
        #expect(!FileManager.default.fileExists(atPath: kept + ".work"))
        #expect(throws: CommandFailure.self) { try sync(["--keep", kept]) }
        #expect(throws: CommandFailure.self) { try sync(["--parameters", "Nobody={}"]) }
        let cache = try Database(ConnectionProfile(path: bench.folder.file("cache.db")))
        #expect(try cache.read { try $0.rows("SELECT * FROM _device") }.isEmpty, "the server knows a device still")
        try cache.close()
        #expect(throws: UsageError.self) { try SyncCommand.parse(["--server", "localhost", "--model", bench.model, "--user", "demo"]) }
    }

    @Test func `a snapshot has nothing of the client that made it, and takes no file's place`() throws {
        let bench = try Bench()
        _ = try bench.snapshot(["--groups", "default"])
        let database = try Database(ConnectionProfile(path: bench.folder.file("snapshot.db")))
        let settings = try database.read { try $0.rows("SELECT name, value FROM _settings WHERE name <> 'model' ORDER BY name") }
        #expect(settings.map { $0[0].text } == ["client_id", "package", "version"] && settings[0][1].text == "")
        let counts = try database.read { connection in
            try ["_key_range", "_outbox", "_log_record"].map { try connection.rows("SELECT count(*) FROM \"\($0)\"") }
        }
        #expect(counts == [[[0]], [[0]], [[0]]])
        #expect(try database.read { try $0.rows("SELECT name FROM _group") } == [["default"]])
        try database.close()
        #expect(throws: CommandFailure.self) { _ = try bench.snapshot() }
        let wrong = try Tool.run(["snapshot", "--server", "x", "--model", bench.model, "--user", "demo", "--out", bench.folder.file("other.db")])
        #expect(wrong.status == 64 && wrong.output.contains("write http://HOST:PORT"), "\(wrong.output)")
        let missing = try Tool.run(["snapshot", "--server", "http://x"])
        #expect(missing.status == 64 && missing.output.contains("--model is missing"))
    }

    @Test func `the options of segments reach the server`() throws {
        let folder = try TemporaryDirectory(), model = folder.file("crm.mbo.json")
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        let arguments = ["--model", model, "--cache", "x.db", "--segment-folder", "/var/segments", "--segment-redirect", "/internal"]
        let configuration = try ServeArguments(arguments).configuration()
        #expect(configuration.segmentDirectory == "/var/segments" && configuration.segmentRedirect == "/internal")
    }

    @Test func `a database with changes of its own does not become a snapshot`() throws {
        let folder = try TemporaryDirectory(), crm = try CRM.open(ConnectionProfile(path: folder.file("crm.db"))), client = try crm.clientID
        let customer = Customer(in: crm)
        customer.name = "Mine"
        customer.street = "s"
        customer.city = "c"
        customer.since = try #require(LocalDate(year: 2026, month: 1, day: 1))
        try customer.save()
        #expect(throws: ObjectError.self) { try crm.becomeSnapshot() }
        #expect(try crm.clientID == client && Customer.findAll(in: crm).count == 1)
    }
}
