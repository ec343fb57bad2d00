import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import MobileTransport
import TestSupport
import Testing

/// A database from outside of the project, through metadata only: names with spaces, text keys, a composite key, pictures; no generated class.
@Suite(.enabled(if: Northwind.isThere, Comment(rawValue: Northwind.reason)))
struct NorthwindTests {
    /// A server over Northwind, and devices that know only its model.
    private struct Bench {
        let directory: TemporaryDirectory
        let model: PackageModel
        let backEnd: Database
        let network: SimulatedTransport

        init() throws {
            directory = try TemporaryDirectory()
            model = try PackageModel(contentsOf: Northwind.model)
            let path = directory.file("northwind.db")
            backEnd = try Database(ConnectionProfile(path: path, journal: .unchanged))
            let sql = try String(contentsOf: Northwind.script, encoding: .utf8)
            try backEnd.write { _ = try $0.execute(sql) }
            let deployment = PackageDeployment(model, backEnds: Dictionary(uniqueKeysWithValues: model.backEnds.map { ($0.name, path) }))
            let server = try MobileServer(
                ServerConfiguration(cachePath: directory.file("cache.db"), packages: [deployment], users: [TestBench.user: TestBench.password]))
            network = SimulatedTransport(server: { server.respond(to: $0) })
        }

        func device(_ name: String) throws -> PackageDatabase {
            let application = try Application(
                identifier: "Northwind", profile: ConnectionProfile(path: directory.file("\(name).application.db")), transport: network)
            application.connectionProperties = ConnectionProperties(
                serverName: "mobile.example", loginCredentials: LoginCredentials(user: TestBench.user, password: TestBench.password))
            let package = try PackageDatabase(model: model, profile: ConnectionProfile(path: directory.file("\(name).db")))
            package.application = application
            try application.register(timeout: .seconds(60))
            try package.subscribe()
            return package
        }

        func count(_ table: String) throws -> Int64? {
            try backEnd.read { try $0.first("SELECT count(*) FROM \"\(table)\"")?.first?.integer }
        }
    }

    @Test("MET-01: every object of a foreign database arrives, is changed through metadata, and the change reaches the back end and another device")
    func wholeJob() throws {
        let bench = try Bench()
        let first = try bench.device("first"), second = try bench.device("second")
        try first.synchronize()
        try second.synchronize()
        for object in bench.model.objects where !object.isLocal {
            let table = try #require(object.binding?.table)
            let rows = try first.store.read { try $0.first("SELECT count(*) FROM \"\(object.name)\"")?.first?.integer }
            #expect(try rows == bench.count(table), "\(object.name)")
        }
        let customer = try #require(try first.entity("Customer").findByPrimaryKey(.string("ALFKI")))
        try customer.setValue(.string("Potsdam"), "city")
        try customer.update()
        try customer.submitPending()
        let result = try first.synchronize()
        #expect(result.operationsAccepted == 1)
        #expect(try bench.backEnd.read { try $0.first("SELECT City FROM Customers WHERE CustomerID = 'ALFKI'")?.first } == .text("Potsdam"))
        try second.synchronize()
        let theirs = try #require(try second.entity("Customer").findByPrimaryKey(.string("ALFKI")))
        #expect(try theirs.value("city") == .string("Potsdam"))
    }
}
