import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The errors that users meet first: what each prints, and that it shows cause and next step.
@Suite struct CommonErrorTests {
    private let bench: TestBench
    private var directory: TemporaryDirectory { bench.directory }

    init() throws { bench = try TestBench() }

    private func error(_ body: () throws -> Void) throws -> any BaseError {
        do { try body() } catch { return try #require(error as? any BaseError, "\(error)") }
        Issue.record("no error")
        throw CancellationError()
    }

    /// Checks the line that a program prints which ends with the error, and that the error's texts are those of the message service.
    private func expect(_ line: Regex<Substring>, _ error: any BaseError, _ location: SourceLocation = #_sourceLocation) {
        let printed = String(reflecting: error)
        print(printed)
        #expect(printed.wholeMatch(of: line) != nil, "\(printed)", sourceLocation: location)
        #expect(!printed.contains("\n"), sourceLocation: location)
        let description = (error as any Error).localizedDescription
        #expect(description.contains(error.message) && !description.contains("could not be completed"), "\(description)", sourceLocation: location)
        #expect(error.failureReason == error.message && error.recoverySuggestion?.isEmpty == false, sourceLocation: location)
    }

    private func application(port: Int, _ scheme: NetworkProtocol = .http, password: String = TestBench.password) throws -> Application {
        let application = try Application(identifier: "CRM", profile: ConnectionProfile(path: directory.file("\(scheme)-\(port)-\(password).db")))
        application.connectionProperties = ConnectionProperties(
            serverName: "127.0.0.1", portNumber: port, networkProtocol: scheme,
            loginCredentials: LoginCredentials(user: TestBench.user, password: password))
        return application
    }

    @Test func `what goes wrong between device and server`() throws {
        let http = try HTTPServer(serving: bench.server), port = Int(http.port)
        expect(
            /wrong user name or password \(SyncError 401\)\. Ask the user for the credentials\./,
            try error { try application(port: port, password: "wrong").register(timeout: .seconds(60)) })
        expect(
            /look for the server at https:.* does not speak TLS on this port: use http, or the port of its https.* \(SyncError 14813\)\. .*/,
            try error { try application(port: port, .https).register(timeout: .seconds(60)) })
        http.stop()
        expect(
            /look for the server at http:\/\/127\.0\.0\.1:\d+: .*[Cc]onnect.* \(SyncError 14813\)\. Check network, host, port and certificate; repeat\./,
            try error { try application(port: port).register(timeout: .seconds(60)) })
    }

    @Test func `what goes wrong with the database file`() throws {
        let folder = directory.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        expect(
            /open ".*\/missing\/crm\.db": its folder does not exist; create the folder, or correct the path \(ObjectError 1008\)\. .*/,
            try error { _ = try CRM.open(ConnectionProfile(path: directory.file("missing/crm.db"))).openConnection() })
        expect(
            /open ".*\/folder": it is a folder; give the path of a file \(ObjectError 1008\)\. Correct the name, or create it\./,
            try error { _ = try CRM.open(ConnectionProfile(path: folder)).openConnection() })

        let path = directory.file("crm.db")
        let crm = try CRM.open(ConnectionProfile(path: path))
        try crm.openConnection()
        try crm.closeConnection()
        // Another user has a transaction under way.
        let other = try Database(ConnectionProfile(path: path))
        var impatient = ConnectionProfile(path: path)
        impatient.connectionTimeout = .milliseconds(200)
        let waiting = try CRM.open(impatient)
        try other.write { _ in
            expect(
                /no write lock within 0\.2 s: another process or pool writes to ".*".* \(ObjectError 1005\)\. Repeat the call later, or raise the timeout\..*/,
                try error {
                    let customer = Customer(in: waiting)
                    (customer.name, customer.since) = ("Quay Books", .epoch)
                    try customer.save()
                })
        }
        try waiting.closeConnection()

        // A newer release, and another package.
        _ = try other.write { try $0.execute("PRAGMA user_version = 9999") }
        expect(
            /.* \(ObjectError 2018\)\. Choose another file where it is not this application.s;.*/,
            try error { _ = try CRM.open(ConnectionProfile(path: path)).openConnection() })
        try other.close()
    }

    @Test func `model and database do not fit`() throws {
        // A database of another program.
        let foreign = try Database(ConnectionProfile(path: directory.file("foreign.db")))
        _ = try foreign.write { try $0.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY)") }
        try foreign.close()
        expect(
            /".*foreign\.db": the file has a table "notes" that is not ours; choose another file \(ObjectError 2018\)\. Choose .*/,
            try error { _ = try CRM.open(ConnectionProfile(path: directory.file("foreign.db"))) })
        // A database of another package.
        let model =
            #"{"format": 1, "name": "Notes", "objects": [{"name": "Note", "local": true, "attributes": [{"name": "text", "type": "string"}]}]}"#
        let profile = ConnectionProfile(path: directory.file("notes.db"))
        try PackageDatabase(model: PackageModel(json: model), profile: profile).closeConnection()
        expect(
            /".*notes\.db": the database belongs to package Notes:1\.0, not to CRM:1\.0 \(ObjectError 2018\)\. Choose another file where it is not this application.s; .*/,
            try error { _ = try CRM.open(profile) })
    }

    @Test func `no permission`() throws {
        // The files of another user. Root may read them all, so a thread of root takes the rights of another user for its files.
        typealias SetFileUser = @convention(c) (uid_t) -> Int32
        let setFileUser = unsafeBitCast(dlsym(nil, "setfsuid"), to: SetFileUser.self)
        func set(_ mode: Int, _ path: String) throws { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path) }
        let path = directory.file("private.db")
        try CRM.open(ConnectionProfile(path: path)).closeConnection()
        func expectRefusal(_ path: String, _ line: Regex<Substring>) throws {
            if geteuid() == 0 { _ = setFileUser(65_534) }
            defer { if geteuid() == 0 { _ = setFileUser(0) } }
            expect(line, try error { _ = try CRM.open(ConnectionProfile(path: path)) })
        }
        try set(0o555, directory.path)
        defer { try? set(0o755, directory.path) }
        try set(0o000, path)
        try expectRefusal(
            path,
            /open ".*private\.db": the user of this process may not read and write it \(ObjectError 1016\)\. Check the disk and the permissions of .*/
        )
        try set(0o444, path)
        try expectRefusal(
            path,
            /open ".*private\.db": the user of this process may only read it \(ObjectError 1016\)\. Check the disk and the permissions of the file\./)
        try expectRefusal(
            directory.file("new.db"),
            /open ".*new\.db": the user of this process may not create files in its folder \(ObjectError 1016\)\. Check the disk and the permissions .*/
        )
    }

    @Test func `a full disk`() throws {
        let crm = try CRM.open(ConnectionProfile(path: directory.file("full.db")))
        try crm.openConnection()
        // The limit of pages is that of the connection that writes.
        _ = try crm.store.write { connection in
            let pages = try connection.first("PRAGMA page_count")?.first?.integer ?? 0
            _ = try connection.rows("PRAGMA max_page_count = \(pages)")
        }
        expect(
            /.*database or disk is full \(ObjectError 1015\)\. Free space and repeat the call\./,
            try error {
                for number in 0..<10_000 {
                    let customer = Customer(in: crm)
                    (customer.name, customer.since, customer.street) = ("Quay Books \(number)", .epoch, String(repeating: "s", count: 80))
                    try customer.save()
                }
            })
    }

    @Test func `a value that does not fit`() throws {
        let crm = try CRM.open(ConnectionProfile(path: directory.file("values.db")))
        let customer = Customer(in: crm)
        (customer.name, customer.since) = (String(repeating: "n", count: 81), .epoch)
        expect(
            /Customer\.name: 81 characters \("n{20}\.\.\."\), at most 80 are allowed \(ObjectError 2006\)\. Correct the value: .*/,
            try error { try customer.save() })
        customer.name = "Quay Books"
        customer.creditLimit = Decimal(string: "1234.567") ?? 0
        expect(
            /Customer\.creditLimit: 1234\.567 does not fit decimal\(12, 2\): at most 10 digits before the point and 2 after it \(ObjectError 2006\)\. .*/,
            try error { try customer.save() })
        #expect(customer.isNew)
        customer.creditLimit = 1234.5
        try customer.save()
        customer.email = String(repeating: "e", count: 81)
        #expect(throws: ObjectError.self) { try customer.update() }
        customer.email = String(repeating: "é", count: 80)
        try customer.update()
        expect(/.* null, expected string \(ObjectError 2006\)\. .*/, try error { try customer.setValue(.null, "name") })
    }
}
