import Foundation
import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The server's tables of log records: their content, its distribution to clients, and their cleaning.
@Suite struct LogTableTests {
    static let package = "Field:2.0", table = "default_field_2_0_logr_1"
    let clock = VirtualClock(start: .seconds(1_800_000_000))

    private func server(adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        let clock = clock
        return try FieldSales.server { configuration in
            configuration.clock = { clock.milliseconds }
            adjust(&configuration)
        }
    }

    /// Makes a record in the form of a client's upload.
    private func record(_ id: Int64, _ message: String = "visited") -> LogRecordEntry {
        LogRecordEntry(
            messageId: 1 << 62 | id, level: .info, code: 9999, message: "\(message) \(id)", component: "Field", timestamp: "2027-01-15T08:00:00.000Z")
    }

    private func records(_ ids: ClosedRange<Int64>) -> [LogRecordEntry] { ids.map { record($0) } }

    /// Makes an operation that the back end refuses.
    private func refused(_ device: TestDevice) -> OperationFrame { device.create("Customer", RejectionTests.changed("credit", -1)) }

    /// Reads the cache while the server is open.
    private func cache<R>(_ server: TestServer, _ body: (Database) throws -> R) throws -> R {
        var profile = ConnectionProfile(path: server.folder.file("cache.db"))
        profile.busyTimeout = .zero
        let database = try Database(profile)
        defer { try? database.close() }
        return try body(database)
    }

    private func rows(_ server: TestServer, _ sql: String) throws -> [[Value]] { try server.state { try $0.rows(sql) } }

    private func marked(_ server: TestServer) throws -> Int {
        try server.server.administration.logRecords(ofPackage: Self.package).count(where: \.isDeleted)
    }

    // MARK: The table

    @Test(
        "LRC-19 LRC-01: the table is called after domain, package and version, logr and a number, and has the records of both ends with their columns",
        .backEndInFile
    )
    func table() throws {
        let server = try server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let operation = refused(device)
        let answer = try device.synchronize([operation], groups: ["system"], log: [record(1)])
        let message = try #require(answer.logRecords.first).message
        #expect(message == "the back end does not accept this value of \"credit\" of \"Customer\"")
        #expect(
            try server.server.administration.logTables()
                == [ServerAdministration.LogTableSize(package: Self.package, name: Self.table, rows: 2)])
        let stored = try rows(
            server,
            """
            SELECT message_id, log_level, code, eis_code, message, component, entity_key, operation, request_id, log_timestamp, log_user, client, origin,
                stored, LOGICAL_DEL FROM "\(Self.table)" ORDER BY origin
            """)
        let time = Timestamp.text(milliseconds: clock.milliseconds)
        let rejected: [Value] = [
            .integer(operation.id), 5, 412, "275", .text(message), "Customer", .text(String(operation.key)), "create",
            .text(String(operation.id)), .text(time), "ada", .text(device.client), 0, .integer(clock.milliseconds), 0,
        ]
        let visitID: Int64 = 1 << 62 | 1
        let visited: [Value] = [
            .integer(visitID), 3, 9999, "", "visited 1", "Field", "", "", "", "2027-01-15T08:00:00.000Z", "ada", .text(device.client), 1,
            .integer(clock.milliseconds), 0,
        ]
        #expect(stored == [rejected, visited])
    }

    @Test("LRC-19: another version of the package has a table of its own, and so has another domain; a domain that cannot name a table is refused")
    func versionsApart() throws {
        let newer = try PackageModel(json: FieldSales.json.replacing("\"version\": \"2.0\"", with: "\"version\": \"2.1\""))
        let server = try server { $0.packages.append(PackageDeployment(newer, backEnds: $0.packages[0].backEnds)) }
        let device = try TestDevice.inRegion("NORTH", of: server)
        try device.synchronize(groups: ["system"], log: [record(1), record(2)])
        let administration = server.server.administration
        #expect(
            try administration.logTables().map { "\($0.package) \($0.name) \($0.rows)" } == [
                "Field:2.0 default_field_2_0_logr_1 2", "Field:2.1 default_field_2_1_logr_2 0",
            ])
        #expect(try administration.logRecords(ofPackage: "Field:2.1").isEmpty)
        #expect(#expect(throws: ServerError.self) { try administration.logRecords(ofPackage: "Field:3.0") }?.code == .notFound)
        var configuration = server.configuration
        try server.server.close()
        configuration.domain = "North-1"
        let other = try MobileServer(configuration)
        #expect(try other.administration.logTables().map(\.name).contains("north_1_field_2_0_logr_1"))
        try other.close()
        for domain in ["", "a b", "é", String(repeating: "a", count: 65)] {
            configuration.domain = domain
            #expect(#expect(throws: ServerError.self) { try MobileServer(configuration) }?.code == .configuration, "\(domain)")
        }
        try server.restartClosed()
    }

    @Test("LRC-07: a record that comes again is there once; one that was changed replaces the earlier one; one without an id of its own is refused")
    func uploads() throws {
        let server = try server()
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        let upload = try device.upload(groups: ["system"], log: [record(1), record(2)])
        for _ in 1...2 { try device.synchronize(upload: upload, losesAnswer: true) }
        try device.synchronize(upload: upload)
        try other.synchronize(groups: ["system"], log: [record(1, "tablet's")])
        func messages() throws -> [String] { try server.server.administration.logRecords(ofPackage: Self.package).map(\.entry.message).sorted() }
        #expect(try messages() == ["tablet's 1", "visited 1", "visited 2"])
        try device.synchronize(groups: [], log: [record(2, "left")])
        #expect(try messages() == ["left 2", "tablet's 1", "visited 1"])
        let nobody = LogRecordEntry(level: .info, code: 9999, message: "x", component: "", timestamp: "")
        for bad in [nobody, LogRecordEntry(deleted: 0), LogRecordEntry(deleted: -1)] {
            let answer = try device.synchronize([device.create("Customer", RejectionTests.customer)], log: [record(3), bad])
            #expect(answer.status == 400 && answer.failure?.message.contains("messageId") == true)
        }
        #expect(try messages() == ["left 2", "tablet's 1", "visited 1"])
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 3)
    }

    // MARK: Deletions

    @Test("LRC-17: a record that its client deletes keeps its mark until the client is known to have followed, and is removed then by cleaning")
    func deletedByTheClient() throws {
        let server = try server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let operation = refused(device)
        let answer = try device.synchronize([operation], groups: ["system"])
        #expect(answer.logRecords.map(\.messageId) == [operation.id] && answer.logRecords.map(\.isDeleted) == [false])
        let administration = server.server.administration

        let stranger = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        try stranger.synchronize(groups: ["system"], log: [LogRecordEntry(deleted: operation.id)])
        #expect(try marked(server) == 0, "a client deletes no records of another one")

        let followed = try device.synchronize(groups: ["system"], log: [LogRecordEntry(deleted: operation.id)])
        #expect(followed.logRecords == [LogRecordEntry(deleted: operation.id)])
        #expect(try rows(server, "SELECT LOGICAL_DEL FROM \"\(Self.table)\"") == [[1]])
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 0, "nobody knows yet whether the answer arrived")
        #expect(try device.synchronize(groups: ["system"]).logRecords.isEmpty)
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 1)
        #expect(try rows(server, "SELECT 1 FROM \"\(Self.table)\"").isEmpty)
        #expect(try administration.logTables().map(\.rows) == [0])
    }

    @Test("LRC-17: Clean marks the records of a time; each stays until its own device has downloaded the deletion, or is not subscribed any more")
    func cleanedByTheAdministrator() throws {
        let server = try server()
        let devices = try ["phone", "tablet", "watch"].map { try TestDevice.inRegion("NORTH", of: server, name: $0) }
        for device in devices { try device.synchronize([refused(device)], groups: ["system"], log: [record(1)]) }
        clock.advance(by: .days(1))
        try devices[0].synchronize(groups: ["system"], log: [record(2)])
        let administration = server.server.administration
        func day(_ number: Double) -> Date { Date(timeIntervalSince1970: Double(1_800_000_000) + number * 86_400) }

        #expect(try administration.cleanLogRecords(ofPackage: Self.package, from: day(-2), to: day(-1)) == 0)
        #expect(try administration.cleanLogRecords(ofPackage: Self.package, from: day(-1), to: day(0.5)) == 6)
        #expect(try marked(server) == 6 && administration.logTables()[0].rows == 7)
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 0)

        let deletions = try devices[0].synchronize(groups: ["system"]).logRecords
        #expect(deletions.count == 2 && deletions.allSatisfy(\.isDeleted) && deletions.contains(LogRecordEntry(deleted: 1 << 62 | 1)))
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 0)
        try devices[0].synchronize(groups: ["system"])
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 2)
        #expect(try administration.logRecords(ofPackage: Self.package).filter { !$0.isDeleted }.map(\.entry.message) == ["visited 2"])

        #expect(try devices[1].send(.unsubscribe).header.method == .unsubscribe.result)
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 2)
        #expect(Set(try administration.logRecords(ofPackage: Self.package).filter(\.isDeleted).map(\.client)) == [devices[2].client])
        // A token of another life of the cache does not apply to this one.
        devices[2].tokens["system"] = Token(["e": "another", "l": 1000])
        try devices[2].synchronize(groups: ["system"])
        try devices[2].synchronize(groups: [])
        #expect(
            try administration.removeDeletedLogRecords(ofPackage: Self.package) == 2, "the deletions came with the answer, and the upload says so")
        #expect(
            #expect(throws: ServerError.self) { try administration.cleanLogRecords(ofPackage: Self.package, from: day(1), to: day(0)) }?.code
                == .configuration)
    }

    @Test func `what is deleted comes no more, although the client has lost its tokens, uploads the record again or repeats the operation`() throws {
        let server = try server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let upload = try device.upload([refused(device)], groups: ["system"], log: [record(1)])
        try device.synchronize(upload: upload)
        try server.server.administration.cleanLogRecords(ofPackage: Self.package, from: .distantPast, to: .distantFuture)
        device.tokens = [:]
        #expect(try device.synchronize(upload: upload).logRecords.allSatisfy(\.isDeleted))
        #expect(try marked(server) == 2)
        // The server's own records are sent again to a client without tokens.
        try device.synchronize([refused(device)], groups: ["system"])
        device.tokens = [:]
        #expect(try device.synchronize(groups: ["system"]).logRecords.count { !$0.isDeleted } == 1)
    }

    // MARK: Retention

    @Test("LRC-15: the longest time that any application needs counts; what is older disappears on the device with its next synchronization")
    func retention() throws {
        let server = try server { $0.packages[0].logRetention = ["crm": .seconds(86_400), "audit": .seconds(3 * 86_400), "none": .zero] }
        let device = try TestDevice.inRegion("NORTH", of: server), idle = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        for device in [device, idle] { try device.synchronize([refused(device)], groups: ["system"], log: [record(1)]) }
        clock.advance(by: .days(2))
        #expect(try device.synchronize(groups: ["system"], log: [record(2)]).logRecords.isEmpty)
        clock.advance(by: .days(1))
        #expect(try device.synchronize(groups: ["system"]).logRecords.isEmpty, "to the millisecond")
        clock.advance(by: .milliseconds(1))
        #expect(try device.synchronize(groups: ["system"]).logRecords == [LogRecordEntry(deleted: 1 << 62 | 1)])
        let left = try server.server.administration.logRecords(ofPackage: Self.package).filter { !$0.isDeleted }
        #expect(left.count { $0.client == device.client } == 2, "the younger one, and the server's own about the operation")
        #expect(left.count { $0.client == idle.client } == 2)
        #expect(try server.server.administration.applyLogRetention(ofPackage: Self.package) == 1)
        #expect(try idle.synchronize(groups: ["system"]).logRecords == [LogRecordEntry(deleted: 1 << 62 | 1)])
    }

    @Test("LRC-15: without a time records are kept; one that makes no sense is refused")
    func noRetention() throws {
        let server = try server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try device.synchronize(groups: ["system"], log: [record(1)])
        clock.advance(by: .days(100 * 365))
        #expect(try device.synchronize(groups: ["system"]).logRecords.isEmpty)
        #expect(try server.server.administration.applyLogRetention(ofPackage: Self.package) == 0)
        for time in [Duration.seconds(-1), .seconds(101 * 366 * 86_400)] {
            var configuration = server.configuration
            configuration.packages[0].logRetention = ["crm": time]
            #expect(#expect(throws: ServerError.self) { try MobileServer(configuration) }?.message.contains("\"crm\"") == true)
        }
    }

    // MARK: Size and portions

    @Test(
        "LRC-16: a table that passes the guideline is reported, once each time; a synchronization looks at no rows but those it sends", .stateInFile)
    func guideline() throws {
        let lines = RecordedLines()
        let server = try server {
            $0.logTableGuideline = 20
            $0.log = { lines.add($0) }
        }
        #expect(ServerConfiguration(cachePath: "").logTableGuideline == 10_000)
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        try device.synchronize(groups: ["system"], log: records(1...20))
        #expect(lines.takeWarnings().isEmpty)
        try device.synchronize(groups: ["system"], log: records(15...21))
        let warning = lines.takeWarnings()
        #expect(warning.count == 1 && warning[0].contains("table \(Self.table) has 21 rows, more than the guideline of 20"))
        try device.synchronize(groups: ["system"], log: records(22...30))
        #expect(lines.takeWarnings().isEmpty)
        try server.restart()
        #expect(lines.takeWarnings().count == 1, "a server that starts with it says so")
        #expect(try other.synchronize(groups: ["system"]).logRecords.isEmpty)

        let administration = server.server.administration
        try administration.cleanLogRecords(ofPackage: Self.package, from: .distantPast, to: .distantFuture)
        try device.synchronize(groups: ["system"])
        try device.synchronize(groups: ["system"])
        #expect(try administration.removeDeletedLogRecords(ofPackage: Self.package) == 30)
        try device.synchronize(groups: ["system"], log: records(31...51))
        #expect(lines.takeWarnings().count == 1, "it was short in between")

        let statement = LogTable(name: Self.table, package: 1).deliveryStatement
        let steps: [[Value]] = try cache(server) { try $0.read { try $0.rows("EXPLAIN QUERY PLAN " + statement, [.text(device.client), 0]) } }
        let plan: [String] = steps.map { row in
            if case .text(let step) = row[3] { step } else { "" }
        }
        #expect(plan.first?.contains("SEARCH") == true && plan.first?.contains("(client=? AND version>?)") == true, "\(plan)")
        #expect(!plan.contains { $0.contains("SCAN") })
    }

    @Test("LRC-18: cleaning goes in short transactions, and synchronizations with all of their writes go through between two of them")
    func portions() throws {
        let server = try server { $0.cleaningPortion = 10 }
        let device = try TestDevice.inRegion("NORTH", of: server), other = try TestDevice.inRegion("NORTH", of: server, name: "tablet")
        try device.synchronize(groups: ["system"], log: records(1...35))
        let administration = server.server.administration
        var steps: [Int] = [], customers: Int64 = 3
        let total = try administration.cleanLogRecords(ofPackage: Self.package, from: .distantPast, to: .distantFuture) { count in
            steps.append(count)
            // Another process can write at the same time.
            _ = try server.state { try $0.execute("UPDATE _user SET verifier = verifier") }
            #expect(try marked(server) == count)
            let result = try other.synchronize([other.create("Customer", RejectionTests.customer)], log: [])
            #expect(result.results.map(\.outcome) == [.accepted])
            customers += 1
            #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == .integer(customers))
        }
        #expect(total == 35 && steps == [10, 20, 30, 35])

        struct Enough: Error {}
        try device.synchronize(groups: ["system"])
        try device.synchronize(groups: ["system"])
        #expect(throws: Enough.self) {
            try administration.removeDeletedLogRecords(ofPackage: Self.package) { if $0 == 20 { throw Enough() } }
        }
        #expect(try administration.logTables()[0].rows == 15, "what is done stays done")
        for portion in [0, 100_001] {
            var configuration = server.configuration
            configuration.cleaningPortion = portion
            #expect(#expect(throws: ServerError.self) { try MobileServer(configuration) }?.code == .configuration)
            #expect(#expect(throws: ServerError.self) { try ServerAdministration(cacheOf: configuration) }?.code == .configuration)
        }
    }

    @Test("LRC-17: the error cleanup, and the other work, can go on in the background")
    func background() async throws {
        let server = try server { $0.packages[0].logRetention = ["crm": .seconds(1)] }
        let device = try TestDevice.inRegion("NORTH", of: server)
        try device.synchronize(groups: ["system"], log: records(1...3))
        clock.advance(by: .days(1))
        let administration = server.server.administration
        #expect(try await administration.applyLogRetention(ofPackage: Self.package) == 3)
        try device.synchronize(groups: ["system"], log: records(4...5))
        #expect(try await administration.cleanLogRecords(ofPackage: Self.package, from: .distantPast, to: .distantFuture) == 2)
        for _ in 1...2 { try device.synchronize(groups: ["system"]) }
        #expect(try await administration.removeDeletedLogRecords(ofPackage: Self.package) == 5)
        await #expect(throws: ServerError.self) { try await administration.removeDeletedLogRecords(ofPackage: "Field:9") }
    }
}
