import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import MobileTransport
import TestSupport

/// The back end of the documented samples, a server over it, and one device with the generated classes, in a directory of their own.
final class Remedy {
    private static let tables = """
        CREATE TABLE account (user_name TEXT PRIMARY KEY, password TEXT NOT NULL);
        CREATE TABLE helpdesk (
            entry_id INTEGER PRIMARY KEY AUTOINCREMENT, company TEXT NOT NULL, summary TEXT, submitter TEXT, assigned TEXT, steps TEXT, next TEXT,
            requester TEXT, related TEXT);
        CREATE TABLE request (id INTEGER PRIMARY KEY, entry_id INTEGER REFERENCES helpdesk (entry_id) DEFERRABLE INITIALLY DEFERRED, text TEXT NOT NULL);
        CREATE TABLE case_list (id INTEGER PRIMARY KEY AUTOINCREMENT, company TEXT NOT NULL, opened_by TEXT);
        CREATE TABLE customer (id INTEGER PRIMARY KEY AUTOINCREMENT, fname TEXT NOT NULL, lname TEXT NOT NULL, city TEXT);
        CREATE TABLE sales_order (
            id INTEGER PRIMARY KEY AUTOINCREMENT, cust_id INTEGER NOT NULL REFERENCES customer (id), order_date TEXT NOT NULL, region TEXT);
        CREATE TABLE marked (id INTEGER PRIMARY KEY, marks TEXT);
        INSERT INTO account VALUES ('Francie', 'password');
        INSERT INTO customer VALUES (101, 'Michaels', 'Devlin', 'Rutherford'), (102, 'Beth', 'Reiser', 'New York'), (103, 'Erin', 'Devlin', NULL);
        INSERT INTO marked VALUES (101, NULL);
        """

    let package: RemedyCU
    private let directory: TemporaryDirectory
    private let backEnd: Database
    private let network: SimulatedTransport

    /// - Parameter synchronizes: whether the device has its data before the test begins.
    init(synchronizes: Bool = true) throws {
        directory = try TemporaryDirectory()
        let path = directory.file("remedy.db")
        backEnd = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try backEnd.write { _ = try $0.execute(Self.tables) }
        let user = "smith", password = "s3cret"
        let configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"),
            packages: [PackageDeployment(RemedyCU.metadata.model, backEnds: ["remedy": path])], users: [user: password])
        let server = try MobileServer(configuration)
        network = SimulatedTransport(server: { server.respond(to: $0) })
        package = try RemedyCU.open(ConnectionProfile(path: directory.file("device.db")))
        let application = try Application(
            identifier: "Remedy", profile: ConnectionProfile(path: directory.file("application.db")), transport: network)
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: user, password: password))
        package.application = application
        try application.register(timeout: .seconds(60))
        try package.subscribe()
        if synchronizes { try package.synchronize() }
    }

    deinit { try? package.close() }

    /// Returns rows of the back end, their columns joined by blanks.
    func rows(_ sql: String) throws -> [String] {
        try backEnd.read { try $0.rows(sql) }.map { row in row.map { $0.text ?? $0.integer.map(String.init) ?? "-" }.joined(separator: " ") }
    }
}
