import Foundation
import MobileCrypto
import MobileModel
import MobileObjects
import MobileServer
import MobileTransport
import PostgreSQLClient
import PostgreSQLTestSupport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Devices in front of a server whose back end is in PostgreSQL.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing))) struct PostgreSQLBackEndTests {
    private let directory: TemporaryDirectory
    private let backEnd: PostgreSQLTestDatabase
    private let server: MobileServer
    private let network: SimulatedTransport

    init() throws {
        directory = try TemporaryDirectory()
        backEnd = try PostgreSQLTestDatabase()
        try backEnd.connect().run(script: CRMTables.postgreSQL)
        let address = "postgresql://postgres@/\(backEnd.name)?host=\(backEnd.server.folder)&port=\(backEnd.server.port)"
        var configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"), packages: [PackageDeployment(CRM.metadata.model, backEnds: ["enterprise": address])],
            users: [TestBench.user: TestBench.password])
        configuration.passwordParameters = .init(n: 16)
        configuration.connectionTimeout = .milliseconds(500)
        let server = try MobileServer(configuration)
        self.server = server
        network = SimulatedTransport(server: { server.respond(to: $0) }, seed: 1)
    }

    private func device(_ name: String) throws -> Device {
        let device = try Device(directory: directory.file(name), transport: network)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize()
        return device
    }

    private func first(_ sql: String) throws -> PostgreSQLValue? { try backEnd.connect().first(sql)?.first }

    @Test("rows go out; what a device creates, changes and deletes comes to the back end and to the other device; a constraint refuses")
    func both() throws {
        let one = try device("one"), two = try device("two")
        #expect(try one.customers().count == 2 && one.customers() == two.customers())
        let harbour = try #require(try Customer.findByName(name: "Harbour Foods", in: one.crm))
        #expect(harbour.creditLimit == 1250.5 && harbour.active && harbour.discount == 0.25 && harbour.since == LocalDate(daysSince1970: 18_321))
        #expect(try text(of: harbour.notes) == "Grüße")

        harbour.creditLimit = 99.75
        try harbour.update()
        try harbour.submitPending()
        let new = Customer(in: one.crm)
        (new.name, new.since, new.region) = ("Newcomer", LocalDate(daysSince1970: 20_000), "NORTH")
        try new.save()
        try new.submitPending()
        let old = try #require(try Customer.findByName(name: "Mill & Sons", in: one.crm))
        try old.delete()
        try old.submitPending()
        let refused = Customer(in: one.crm)
        (refused.name, refused.since, refused.region, refused.creditLimit) = ("Debtor", LocalDate(daysSince1970: 20_000), "NORTH", -1)
        try refused.save()
        try refused.submitPending()
        let result = try one.crm.synchronize()
        #expect(result.operationsAccepted == 3 && result.operationsRejected == 1)
        try refused.refresh()
        #expect(try refused.logRecords().map(\.message) == ["the back end does not accept this value of \"creditLimit\" of \"Customer\""])
        #expect(try refused.logRecords().map(\.eisCode) == ["23514"])
        let names = "SELECT string_agg(name || ' ' || credit_limit, ', ' ORDER BY id) FROM customer WHERE region = 'NORTH'"
        #expect(try first(names) == "Harbour Foods 99.75, Newcomer 0.00")
        try two.crm.synchronize()
        #expect(try Customer.findAll(in: two.crm).map(\.name).sorted() == ["Harbour Foods", "Newcomer"])
        #expect(try Customer.findByName(name: "Newcomer", in: two.crm)?.surrogateKey == new.surrogateKey)
    }

    @Test("while another session holds the row, the change waits on the device, and is done afterwards")
    func busy() throws {
        let device = try device("one")
        let harbour = try #require(try Customer.findByName(name: "Harbour Foods", in: device.crm))
        harbour.city = "Kinsale"
        try harbour.update()
        try harbour.submitPending()
        let result = try backEnd.connect().transaction { other in
            try other.execute("UPDATE customer SET city = city")
            return try device.crm.synchronize("default")
        }
        #expect(result.operationsDeferred == 1 && result.operationsAccepted == 0)
        #expect(try device.crm.deferredOperations().map(\.code) == [409])
        #expect(try first("SELECT city FROM customer WHERE id = 1") == "Cork")
        #expect(try device.crm.synchronize("default").operationsAccepted == 1)
        #expect(try first("SELECT city FROM customer WHERE id = 1") == "Kinsale")
    }

    @Test("a picture goes to the back end and to the other device")
    func picture() throws {
        let one = try device("one"), two = try device("two")
        let product = try #require(try Product.findByPrimaryKey(2, in: one.crm))
        let picture = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17 ^ $0 >> 8) }
        try write(picture, to: product.picture)
        try product.update()
        try product.submitPending()
        #expect(try one.crm.synchronize().operationsAccepted == 1)
        #expect(try first("SELECT picture FROM product WHERE id = 2") == .blob(picture))
        try two.crm.synchronize()
        let theirs = try #require(try Product.findByPrimaryKey(2, in: two.crm))
        #expect(try bytes(of: theirs.picture) == picture)
    }
}
